# SPDX-License-Identifier: MIT
"""Errors, checked arguments, and calls of the library that take long: watched, and ended by Ctrl-C."""

from __future__ import annotations

import ctypes
import enum
import math
import operator
import sys
import threading
import time
from typing import Any, Callable, Optional, Union

from ._abi import CONSTANTS, TICK, ErrorStruct, ProgressStruct, lib

#: What is being done, how far it is, and the total (0: unknown), in units of its own. True asks for an end.
ProgressCallback = Callable[[str, int, int], Optional[bool]]
#: None: a bar where standard error is a terminal; False: nothing; or a function.
Progress = Union[None, bool, ProgressCallback]


class Status(enum.IntEnum):
    """enum gtu_status: how a call of the library ended."""

    OK = CONSTANTS["OK"]
    FAIL = CONSTANTS["ERR_FAIL"]
    USAGE = CONSTANTS["ERR_USAGE"]
    INPUT = CONSTANTS["ERR_INPUT"]
    VERIFY = CONSTANTS["ERR_VERIFY"]
    NOMEM = CONSTANTS["ERR_NOMEM"]
    TIMEOUT = CONSTANTS["ERR_TIMEOUT"]
    GONE = CONSTANTS["ERR_GONE"]
    INTERRUPTED = CONSTANTS["ERR_INTERRUPTED"]
    UNSUPPORTED = CONSTANTS["ERR_UNSUPPORTED"]
    SPACE = CONSTANTS["ERR_SPACE"]
    PERMISSION = CONSTANTS["ERR_PERMISSION"]


class Error(Exception):
    """What the library says: str(error) is its sentence, `code` its Status."""

    def __init__(self, code: int, sentence: str):
        super().__init__(sentence)
        self.code: Union[Status, int] = Status(code) if code in Status.__members__.values() else code
        self.sentence = sentence


class InputError(Error, ValueError):
    """An Error of code USAGE or INPUT: what was given is wrong, and trying again does not help."""


def raise_error(rc: int, err: ErrorStruct) -> None:
    """Nothing where @rc is 0."""
    if not rc:
        return
    text = err.text.decode(errors="replace") or (lib.gtu_status_name(rc) or b"").decode()
    raise (InputError if rc in (Status.USAGE, Status.INPUT) else Error)(rc, text)


# ---- Arguments: ctypes would cut what does not fit ----


def integer(name: str, value: Any, low: int, high: int) -> int:
    """An integer of low..high, or TypeError, ValueError."""
    if isinstance(value, bool):
        raise TypeError(f"{name} is {value}, and not a number")
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}, and not an integer") from None
    if not low <= number <= high:
        raise ValueError(f"{name} is {number}; it must be {low} to {high}")
    return number


def real(name: str, value: Any, low: float, high: float) -> float:
    """A number of low..high, never NaN, or TypeError, ValueError."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {value!r}, and not a number") from None
    if math.isnan(number) or not low <= number <= high:
        raise ValueError(f"{name} is {number:g}; it must be {low:g} to {high:g}")
    return number


def choice(name: str, value: Any, names: Any) -> str:
    """One of @names, or ValueError with all of them."""
    if value not in names:
        raise ValueError(f"{name} {value!r} is none of: {', '.join(names)}")
    return str(value)


# ---- Progress ----


class Bar:
    """A line on a terminal, for what takes longer than a moment; gone when it is over."""

    WIDTH = 30
    MOMENT = 0.5

    def __init__(self, stream: Any):
        self.stream = stream
        self.begun = time.monotonic()
        self.shown = False

    def __call__(self, what: str, done: int, total: int) -> None:
        if time.monotonic() - self.begun < self.MOMENT:
            return
        if total:
            part = min(done / total, 1.0)
            filled = int(part * self.WIDTH)
            text = f"{what}  [{'#' * filled}{'.' * (self.WIDTH - filled)}] {part * 100:3.0f}%"
        else:
            text = f"{what}  {done:,}"
        self.stream.write(f"\r{text}\033[K")
        self.stream.flush()
        self.shown = True

    def clear(self) -> None:
        if self.shown:
            self.stream.write("\r\033[K")
            self.stream.flush()
        self.shown = False


def _watcher(progress: Progress) -> Optional[ProgressCallback]:
    if callable(progress):
        return progress
    if progress is False:
        return None
    if progress not in (None, True):
        raise TypeError(f"progress is {progress!r}, and not None, True, False or a function")
    stream = sys.stderr
    if progress or (stream is not None and stream.isatty()):
        return Bar(stream)
    return None


class _Work:
    """One call, on a thread of its own."""

    def __init__(self, work: Callable[[Any, Any], int]):
        self.work = work
        self.lock = threading.Lock()
        self.begun = self.stop = False
        self.done = threading.Event()
        self.err = ErrorStruct()
        self.rc = 0
        self.failure: Optional[BaseException] = None
        self.at = ("", 0, 0)
        # kept: C must not call what Python has given back
        self.tick = TICK(self._tick)
        self.progress = ProgressStruct(self.tick, None)

    def _tick(self, _user: Any, what: Optional[bytes], done: int, total: int) -> int:
        self.at = ((what or b"").decode(errors="replace"), done, total)
        return int(self.stop)

    def run(self) -> None:
        with self.lock:
            if self.stop:
                return
            self.begun = True
        try:
            self.rc = self.work(ctypes.byref(self.progress), ctypes.byref(self.err))
        except BaseException as e:  # of ctypes: a wrong argument
            self.failure = e
        finally:
            self.done.set()

    def end(self) -> None:
        """Ask for an end and wait for it: nobody may write into arrays that a caller takes for his."""
        while True:
            try:
                with self.lock:
                    self.stop = True
                    if not self.begun:
                        return
                self.done.wait()
                return
            except KeyboardInterrupt:
                continue


def call(work: Callable[[Any, Any], int], progress: Progress = None) -> None:
    """
    Have @work(progress, error) call the library on a thread of its own, and wait here: only so does Python see
    Ctrl-C while C code runs. Whatever ends the wait (Ctrl-C, an exception of the caller's progress function) ends
    the work, which is waited for, and goes on to the caller. Progress functions are called on the caller's thread,
    some ten times a second.
    """
    watcher = _watcher(progress)
    w = _Work(work)
    thread = threading.Thread(target=w.run, name="gtu", daemon=True)
    stopped = False
    try:
        thread.start()
        while not w.done.wait(0.1 if watcher else None):
            if watcher and w.at[0] and watcher(*w.at) and not w.stop:
                stopped = w.stop = True
    except BaseException:
        w.end()
        raise
    finally:
        if isinstance(watcher, Bar):
            watcher.clear()
    if w.failure:
        raise w.failure
    if stopped and w.rc == Status.INTERRUPTED:
        raise Error(w.rc, "the progress function asked for an end")
    raise_error(w.rc, w.err)


def quick(work: Callable[[Any], int]) -> None:
    """As call(), for what takes no time: here and now."""
    err = ErrorStruct()
    raise_error(work(ctypes.byref(err)), err)
