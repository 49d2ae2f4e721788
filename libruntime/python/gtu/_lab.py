# SPDX-License-Identifier: MIT
"""The laboratory, which is part of the tool, not of the library: runs `gtu lab run` as a child process."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from ._abi import in_tree, is_source_tree
from ._call import Error, InputError, Status, integer

_CODES = {2: Status.USAGE, 3: Status.INPUT, 4: Status.VERIFY, 130: Status.INTERRUPTED}
_EXIT_TIMEOUT = 10.0  # seconds for the tool to exit


def tool() -> str:
    """$GTU_TOOL; else build/gtu of the source tree; else gtu in PATH; Error if there is none."""
    named = os.environ.get("GTU_TOOL")
    if named:
        return named
    built = in_tree("build/gtu")
    if is_source_tree() and built.is_file():
        return str(built)
    found = shutil.which("gtu")
    if not found:
        raise Error(Status.FAIL, "there is no tool gtu in PATH: install gtu-tools, or set $GTU_TOOL to its path")
    return found


@dataclasses.dataclass(frozen=True)
class LabRow:
    """
    One number of an experiment. `of`: "figure 8" or "table 4" of the paper. `paper` is None if the paper has no
    number, `ours` if there is none; `difference` is ours / paper - 1. `verdict`: "met", "missed", or None if
    there is no criterion.
    """

    of: str
    what: str
    graph: str
    paper: Optional[float]
    ours: Optional[float]
    difference: Optional[float]
    rule: str
    verdict: Optional[str]


@dataclasses.dataclass(frozen=True)
class Lab:
    """An experiment of the laboratory, parsed from `gtu lab run --json`; `json` is the whole document."""

    experiment: str
    machine: str
    graphs: List[Dict[str, Any]]
    rows: List[LabRow]
    json: Dict[str, Any]

    @property
    def tables(self) -> Dict[str, List[LabRow]]:
        """Rows by figure and table of the paper: "figure 8", "table 4"."""
        tables: Dict[str, List[LabRow]] = {}
        for row in self.rows:
            tables.setdefault(row.of, []).append(row)
        return tables

    def table(self, *, figure: Optional[int] = None, table: Optional[int] = None) -> List[LabRow]:
        """The rows of a figure or a table; KeyError if it is missing."""
        return self.tables[f"figure {figure}" if table is None else f"table {table}"]


def _row(r: Dict[str, Any]) -> LabRow:
    of = f"figure {r['figure']}" if "figure" in r else f"table {r['table']}"
    return LabRow(of, r["what"], r["graph"], r["paper"], r["ours"], r["difference"], r["rule"], r["verdict"])


def _end(child: subprocess.Popen[bytes]) -> None:
    """Interrupt the child as Ctrl-C would; kill it after a timeout."""
    while True:
        try:
            if child.poll() is None:
                child.send_signal(signal.SIGINT)
            try:
                child.wait(_EXIT_TIMEOUT)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
            return
        except KeyboardInterrupt:
            continue


def _sentence(text: bytes, code: int) -> str:
    lines = [line.strip() for line in text.decode(errors="replace").splitlines() if line.strip()]
    return lines[-1] if lines else f"gtu lab exited with status {code}; see its output above"


def lab(experiment: str, *, figure: Optional[int] = None, table: Optional[int] = None,
        graphs: Sequence[Union[str, os.PathLike[str]]] = (), scale: Optional[int] = None, machine: Optional[str] = None,
        device: Optional[str] = None, **set: Any) -> Lab:
    """
    Run a paper's experiment: "emogi", "iru", "scu", "sparseweaver" or "graphpeg" (`gtu lab list`). The default is
    the whole experiment, which takes minutes.

    @figure or @table: only that one of the paper. @graphs: input files instead of generated stand-ins for the
    paper's graphs; @scale: stand-ins with about 2^scale vertices. @machine: a name or a file. @device, "cuda:0":
    emogi on a real GPU. Other keywords set parameters of the machine:
    lab("emogi", figure=8, **{"link.round_trip": "1600 ns"}).

    Ctrl-C ends the child process. InputError or Error with the tool's last message.
    """
    command = [tool(), "lab", "run", experiment, "--json", "-"]
    if figure is not None and table is not None:
        raise TypeError("pass either a figure or a table, not both")
    for name, number in (("figure", figure), ("table", table), ("scale", scale)):
        if number is not None:
            command += [f"--{name}", str(integer(name, number, 1, 63))]
    for graph in graphs:
        command += ["--graph", os.fspath(graph)]
    for name, word in (("machine", machine), ("device", device)):
        if word is not None:
            command += [f"--{name}", word]
    for key, value in set.items():
        command += ["--set", f"{key}={value}"]
    out, err, code = _run(command)
    if code:
        status = _CODES.get(code, Status.FAIL)
        raise (InputError if code in (2, 3) else Error)(status, _sentence(err, code))
    try:
        result = json.loads(out)
        return Lab(result["experiment"], result["machine"], result["graphs"], [_row(r) for r in result["rows"]], result)
    except (ValueError, KeyError, TypeError) as e:
        raise Error(Status.FAIL, f"{command[0]} returned no table: {e!r}") from None


def _run(command: List[str]) -> Tuple[bytes, bytes, int]:
    # on a terminal the tool shows its own progress bar; otherwise its messages go into the exception
    terminal = sys.stderr is not None and sys.stderr.isatty()
    try:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=None if terminal else subprocess.PIPE)
    except OSError as e:
        raise Error(Status.FAIL, f"cannot run {command[0]}: {e.strerror}") from None
    try:
        out, err = child.communicate()
    except BaseException:
        _end(child)
        raise
    finally:
        for pipe in (child.stdout, child.stderr):
            if pipe:
                pipe.close()
    return out, err or b"", child.returncode
