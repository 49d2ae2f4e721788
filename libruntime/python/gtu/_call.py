# SPDX-License-Identifier: MIT
"""Errors, argument checks, and long-running calls of the library with progress and Ctrl-C."""

from __future__ import annotations

import ctypes
import enum
import math
import operator
import os
import sys
import threading
import time
from typing import Any, Callable, Optional, Union

from ._abi import CONSTANTS, TICK, ErrorStruct, ProgressStruct, lib

#: Called with the current step, its progress and the total (0: unknown). Returning True cancels the call.
ProgressCallback = Callable[[str, int, int], Optional[bool]]
#: None: a bar if standard error is a terminal; True: a bar; False: nothing; or a function.
Progress = Union[None, bool, ProgressCallback]


class Status(enum.IntEnum):
    """enum gtu_status: result of a library call."""

    OK = CONSTANTS["OK"]
    FAIL = CONSTANTS["ERR_FAIL"]
    USAGE = CONSTANTS["ERR_USAGE"]
    INPUT = CONSTANTS["ERR_INPUT"]
    VERIFY = CONSTANTS["ERR_VERIFY"]
    NOMEM = CONSTANTS["ERR_NOMEM"]
    TIMEOUT = CONSTANTS["ERR_TIMEOUT"]
    DEVICE_LOST = CONSTANTS["ERR_DEVICE_LOST"]
    INTERRUPTED = CONSTANTS["ERR_INTERRUPTED"]
    UNSUPPORTED = CONSTANTS["ERR_UNSUPPORTED"]
    SPACE = CONSTANTS["ERR_SPACE"]
    PERMISSION = CONSTANTS["ERR_PERMISSION"]


class Error(Exception):
    """An error of the library: str(error) is its message, `code` its Status."""

    def __init__(self, code: int, message: str):
        super().__init__(message)
        self.code: Union[Status, int] = Status(code) if code in Status.__members__.values() else code
        self.message = message


class InputError(Error, ValueError):
    """An Error with code USAGE or INPUT: invalid arguments or input; retrying does not help."""


def path_bytes(path: Union[str, bytes, os.PathLike[str]]) -> bytes:
    """The path for the library, whose strings end at a zero byte: one inside would name another file."""
    encoded = os.fsencode(path)
    if b"\0" in encoded:
        raise ValueError(f"the path {os.fsdecode(encoded)!r} has a zero byte")
    return encoded


def raise_error(rc: int, err: ErrorStruct) -> None:
    """Raise an Error unless @rc is 0."""
    if not rc:
        return
    text = err.text.decode(errors="replace") or (lib.gtu_status_name(rc) or b"").decode()
    raise (InputError if rc in (Status.USAGE, Status.INPUT) else Error)(rc, text)


# ---- Arguments: ctypes would truncate silently ----


def integer(name: str, value: Any, low: int, high: int) -> int:
    """Return an integer in low..high, or raise TypeError or ValueError."""
    if isinstance(value, bool):
        raise TypeError(f"{name} is {value}, not a number")
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}, not an integer") from None
    if not low <= number <= high:
        raise ValueError(f"{name} is {number}; it must be {low} to {high}")
    return number


def real(name: str, value: Any, low: float, high: float) -> float:
    """Return a number in low..high, never NaN, or raise TypeError or ValueError."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {value!r}, not a number") from None
    if math.isnan(number) or not low <= number <= high:
        raise ValueError(f"{name} is {number:g}; it must be {low:g} to {high:g}")
    return number


def choice(name: str, value: Any, names: Any) -> str:
    """Return @value if it is one of @names, else raise ValueError with the list."""
    if value not in names:
        raise ValueError(f"{name} {value!r} is none of: {', '.join(names)}")
    return str(value)


# ---- Progress ----


class Bar:
    """A progress line on a terminal, for long-running calls; removed at the end."""

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
        raise TypeError(f"progress is {progress!r}, not None, True, False or a function")
    stream = sys.stderr
    if progress or (stream is not None and stream.isatty()):
        return Bar(stream)
    return None


class _Work:
    """One library call on its own thread."""

    def __init__(self, work: Callable[[Any, Any], int]):
        self.work = work
        self.lock = threading.Lock()
        self.begun = self.stop = False
        self.done = threading.Event()
        self.err = ErrorStruct()
        self.rc = 0
        self.failure: Optional[BaseException] = None
        self.at = ("", 0, 0)
        # keep a reference: C must not call a freed function
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
        except BaseException as e:  # raised by ctypes for a wrong argument
            self.failure = e
        finally:
            self.done.set()

    def end(self) -> None:
        """Cancel the call and wait for it, so that it no longer writes to the caller's arrays."""
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
    Run @work(progress, error), which calls the library, on another thread, and wait for it. Only then does
    Python handle Ctrl-C while C code runs. An exception during the wait (Ctrl-C, or from the progress function)
    cancels the call, waits for its end, and is raised to the caller. Progress functions run on the caller's
    thread, about ten times a second.
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
        raise Error(w.rc, "the progress function canceled the call")
    raise_error(w.rc, w.err)


def quick(work: Callable[[Any], int]) -> None:
    """call() for short calls: on this thread, without progress."""
    err = ErrorStruct()
    raise_error(work(ctypes.byref(err)), err)
