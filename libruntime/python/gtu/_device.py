# SPDX-License-Identifier: MIT
"""Devices: the model in this process, character devices, GPUs."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import os
import threading
from typing import Any, Dict, Iterator, Optional, Tuple, Union

from ._abi import ALL_ONES, CONSTANTS, UNITS, DeviceStruct, lib
from ._call import path_bytes, quick, real


@dataclasses.dataclass(frozen=True)
class Gpu:
    """Properties of a device "cuda:N"; versions are (major, minor)."""

    name: str
    compute: Tuple[int, int]
    multiprocessors: int
    driver: Tuple[int, int]
    memory_bytes: int
    free_bytes: int
    l2_bytes: int


@dataclasses.dataclass(frozen=True)
class Info:
    """Device properties, read from its registers; `units` has names as in `counters`."""

    backend: str
    path: str
    version: Tuple[int, int]
    units: Tuple[str, ...]
    epoch: int
    max_contexts: int
    max_queues: int
    max_regions: int
    max_ring: int
    vectors: int
    clock_hz: int
    aperture_bytes: int
    caps: int
    gpu: Optional[Gpu]


def _gpu(pointer: Any) -> Optional[Gpu]:
    if not pointer:
        return None
    g = pointer.contents
    return Gpu(g.name.decode(errors="replace"), (g.compute_major, g.compute_minor), g.multiprocessors,
               (g.driver_major, g.driver_minor), g.memory_bytes, g.free_bytes, g.l2_bytes)


class Device:
    """
    An open device: "model" (in this process; "model:scu_width=8" sets parameters), a file such as "/dev/gtu0",
    or a GPU such as "cuda:0". run() opens a device by name; a Device serves many runs, also of several threads.

    @timeout: limit in seconds for one job or the next record of a stream, after which a run raises an Error
    with code TIMEOUT; None: no limit. close() or `with` releases the device.
    """

    def __init__(self, path: Union[str, os.PathLike[str]] = "model", *, timeout: Optional[float] = 60.0):
        self._pointer: Any = None
        self._lock = threading.Lock()
        self._users = 0
        name = path_bytes(path)
        limit = ALL_ONES if timeout is None else int(1e9 * real("timeout", timeout, 1e-6, 1e9))
        out = ctypes.POINTER(DeviceStruct)()
        quick(lambda err: int(lib.gtu_open(name, ctypes.byref(out), err)))
        self._pointer = out
        lib.gtu_set_timeout(out, limit)

    @contextlib.contextmanager
    def _use(self) -> Iterator[Any]:
        """The library's pointer; the device cannot be closed meanwhile."""
        with self._lock:
            if not self._pointer:
                raise ValueError("the device is closed")
            self._users += 1
        try:
            yield self._pointer
        finally:
            with self._lock:
                self._users -= 1

    def close(self) -> None:
        """Close the device; may be repeated. ValueError while a run uses it."""
        with self._lock:
            if self._users:
                raise ValueError("the device is in use: close it after the run has ended")
            pointer, self._pointer = self._pointer, None
        if pointer:
            lib.gtu_close(pointer)

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # bound early: at interpreter exit, modules may be cleared before devices
    def __del__(self, close: Any = lib.gtu_close) -> None:
        pointer = self.__dict__.get("_pointer")
        if pointer:
            close(pointer)

    def __repr__(self) -> str:
        return f"<gtu.Device {self.info.path!r}>" if self._pointer else "<gtu.Device, closed>"

    @property
    def info(self) -> Info:
        """The device's properties."""
        with self._use() as dev:
            s = lib.gtu_get_info(dev).contents
            return Info(s.backend.decode(errors="replace"), s.path.decode(errors="replace"),
                        (s.version >> 16, s.version & 0xFFFF), tuple(name for name, bit in UNITS if s.units & bit),
                        s.epoch, s.max_contexts, s.max_queues, 1 << s.max_regions_log2, 1 << s.max_ring_log2, s.vectors,
                        s.clock_hz, s.aperture_bytes, s.caps, _gpu(lib.gtu_get_gpu_info(dev)))

    @property
    def description(self) -> bytes:
        """The device's flattened device tree, already validated; empty for a GPU."""
        size = ctypes.c_size_t()
        with self._use() as dev:
            blob = lib.gtu_get_fdt(dev, ctypes.byref(size))
            return ctypes.string_at(blob, size.value) if blob else b""

    def counters(self, *, clear: bool = False) -> Dict[str, Dict[str, int]]:
        """All counters by unit and name, read atomically per unit; @clear resets them."""
        with self._use() as dev:
            units = lib.gtu_get_info(dev).contents.units
            return {name: self._counters_of(dev, bit, clear) for name, bit in UNITS if units & bit}

    @staticmethod
    def _counters_of(dev: Any, unit: int, clear: bool) -> Dict[str, int]:
        values = (ctypes.c_uint64 * CONSTANTS["UREG_COUNTERS"])()
        quick(lambda err: int(lib.gtu_counters(dev, unit, clear, values, err)))
        names = lib.gtu_counter_names(unit)
        counters: Dict[str, int] = {}
        for i in range(CONSTANTS["UREG_COUNTERS"]):
            if not names or not names[i]:
                break
            counters[names[i].decode()] = values[i]
        return counters

    def monitor(self, on: bool) -> None:
        """Enable the zero-copy monitor (counters of "zcm"), which counts the device's memory requests by size."""
        with self._use() as dev:
            quick(lambda err: int(lib.gtu_setting(dev, CONSTANTS["UNIT_ZCM"], CONSTANTS["ZCM_S_ENABLE"], int(on),
                                                  err)))


def device(path: Union[str, os.PathLike[str]] = "model", *, timeout: Optional[float] = 60.0) -> Device:
    """Open a device: see Device."""
    return Device(path, timeout=timeout)
