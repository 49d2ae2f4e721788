# SPDX-License-Identifier: MIT
"""
ctypes bindings of libgtu.so.1: structs, constants and prototypes of include/gtu/*.h and
include/uapi/gtu/hw.h, and loading of the library.

tests/test_abi.py compiles the headers and compares them with these tables. The module calls only what the
tables declare.
"""

from __future__ import annotations

import ctypes
import os
from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_int, c_int32, c_size_t, c_uint,
                    c_uint32, c_uint64, c_void_p)
from pathlib import Path
from typing import Any, Dict, List, Tuple

import numpy as np

from ._algorithms import ALGORITHMS

LIBRARY = "libgtu.so.1"

# ---- Constants: names as in the headers, without GTU_ ----

CONSTANTS: Dict[str, int] = {
    "OK": 0, "ERR_FAIL": -1, "ERR_USAGE": -2, "ERR_INPUT": -3, "ERR_VERIFY": -4, "ERR_NOMEM": -5, "ERR_TIMEOUT": -6,
    "ERR_DEVICE_LOST": -7, "ERR_INTERRUPTED": -8, "ERR_UNSUPPORTED": -9, "ERR_SPACE": -10, "ERR_PERMISSION": -11,
    "WEIGHT_NONE": 0, "WEIGHT_U32": 1, "WEIGHT_F32": 2, "WEIGHT_F64": 3,
    "GRAPH_DIRECTED": 1, "GRAPH_SORTED": 2, "GRAPH_CHECKED": 4,
    "WRITE_ADAPT": 1, "AS_STORED": 0, "DIRECTED": 1, "UNDIRECTED": 2,
    "UNIT_SCU": 1, "UNIT_IRU": 2, "UNIT_PEG": 4, "UNIT_WVR": 8, "UNIT_ZCM": 16, "ZCM_S_ENABLE": 0,
    "WITH_NONE": 0, "WITH_SCU_BASIC": 1, "WITH_SCU": 2, "WITH_IRU": 3, "WITH_PEG": 4, "WITH_WEAVER": 5, "WITH_GPU": 64,
    "PUSH": 0, "PULL": 1, "PUSH_OR_PULL": 2,
    "KERNEL_AUTO": 0, "KERNEL_NAIVE": 1, "KERNEL_MERGED": 2, "KERNEL_ALIGNED": 3,
    "ERROR_TEXT": 512, "UREG_PARAMS": 24, "UREG_SETS": 8, "UNIT_PAGES_MAX": 7, "UREG_COUNTERS": 64, "PHASES": 8, "FEATURES_MAX": 65536,
    "GENERATORS": 7,
}
#: UINT64_MAX in the headers: GTU_FOREVER, GTU_UNREACHED, GTU_NOT_FOUND
ALL_ONES = 2**64 - 1

UNITS = (("scu", CONSTANTS["UNIT_SCU"]), ("iru", CONSTANTS["UNIT_IRU"]), ("peg", CONSTANTS["UNIT_PEG"]),
         ("wvr", CONSTANTS["UNIT_WVR"]), ("zcm", CONSTANTS["UNIT_ZCM"]))

# ---- Structs: fields as in the headers, in their order ----


class DeviceStruct(Structure):
    """struct gtu_device: opaque."""


class BackingStruct(Structure):
    """struct gtu_graph_backing: opaque."""


class ErrorStruct(Structure):
    _fields_ = [("code", c_int32), ("text", c_char * CONSTANTS["ERROR_TEXT"])]


TICK = CFUNCTYPE(c_int, c_void_p, c_char_p, c_uint64, c_uint64)


class ProgressStruct(Structure):
    _fields_ = [("tick", TICK), ("user", c_void_p)]


class GraphStruct(Structure):
    _fields_ = [("n", c_uint64), ("m", c_uint64), ("stored", c_uint64), ("flags", c_uint32), ("edge_bytes", c_uint32),
                ("weight_type", c_uint32), ("reserved", c_uint32), ("row", POINTER(c_uint64)), ("col", c_void_p),
                ("weight", c_void_p), ("ids", POINTER(c_uint64)), ("id_base", c_uint64), ("name", c_char * 128),
                ("backing", POINTER(BackingStruct))]


class ReadOptions(Structure):
    _fields_ = [("direction", c_uint32), ("edge_bytes", c_uint32), ("weight_column", c_int32), ("simplify", c_uint32),
                ("names", c_uint32), ("reserved", c_uint32 * 3)]


class GenerateOptions(Structure):
    _fields_ = [("kind", c_uint32), ("scale", c_uint32), ("n", c_uint64), ("degree", c_double), ("exponent", c_double),
                ("seed", c_uint64), ("edge_bytes", c_uint32), ("random_weights", c_uint32), ("directed", c_uint32),
                ("simplify", c_uint32), ("unknowns", c_uint32), ("threads", c_uint32), ("reserved", c_uint32 * 2)]


class InfoStruct(Structure):
    _fields_ = [("backend", c_char * 16), ("path", c_char * 112), ("version", c_uint32), ("units", c_uint32),
                ("epoch", c_uint32), ("max_contexts", c_uint32), ("max_queues", c_uint32),
                ("max_regions_log2", c_uint32), ("max_ring_log2", c_uint32), ("vectors", c_uint32),
                ("doorbell_stride_log2", c_uint32), ("clock_hz", c_uint64), ("aperture_bytes", c_uint64),
                ("caps", c_uint64), ("scu", c_uint32 * CONSTANTS["UREG_PARAMS"]),
                ("iru", c_uint32 * CONSTANTS["UREG_PARAMS"]), ("iru_timeout", c_uint32),
                ("peg", c_uint32 * CONSTANTS["UREG_PARAMS"]), ("peg_setting", c_uint32 * CONSTANTS["UREG_SETS"]),
                ("weaver", c_uint32 * CONSTANTS["UREG_PARAMS"]),
                ("param", c_uint32 * CONSTANTS["UREG_PARAMS"] * CONSTANTS["UNIT_PAGES_MAX"]),
                ("setting", c_uint32 * CONSTANTS["UREG_SETS"] * CONSTANTS["UNIT_PAGES_MAX"])]


class IterationStruct(Structure):
    _fields_ = [("number", c_uint64), ("frontier", c_uint64), ("edges", c_uint64), ("jobs", c_uint64),
                ("job_cycles", c_uint64), ("list_bytes", c_uint64), ("cached_bytes", c_uint64), ("seconds", c_double)]


ITERATION = CFUNCTYPE(None, c_void_p, POINTER(IterationStruct))


class AlgorithmOptions(Structure):
    _fields_ = [("unit", c_uint32), ("chunk_log2", c_uint32), ("source", c_uint64), ("damping", c_double),
                ("epsilon", c_double), ("iterations", c_uint32), ("kernel", c_uint32), ("delta", c_double),
                ("first_vertex", c_uint64), ("end_vertex", c_uint64), ("progress", POINTER(ProgressStruct)),
                ("target", c_uint64), ("sources", POINTER(c_uint64)), ("source_count", c_uint64),
                ("direction", c_uint32), ("features", c_uint32), ("seed", c_uint64), ("iteration", ITERATION),
                ("iteration_user", c_void_p), ("float_sums", c_bool)]


class PhaseStruct(Structure):
    """The unnamed struct of gtu_algorithm_stats.phase."""

    _fields_ = [("name", c_char_p), ("seconds", c_double)]


class StatsStruct(Structure):
    _fields_ = [("iterations", c_uint64), ("edges", c_uint64), ("vertices", c_uint64), ("jobs", c_uint64),
                ("job_cycles", c_uint64), ("phases", c_uint), ("phase", PhaseStruct * CONSTANTS["PHASES"]),
                ("seconds", c_double), ("list_bytes", c_uint64), ("cached_bytes", c_uint64), ("gpu_seconds", c_double),
                ("pull_first", c_uint64), ("pull_end", c_uint64)]


class HashTable(Structure):
    _fields_ = [("buckets", c_uint64), ("entries", c_uint64), ("offset", POINTER(c_uint64)), ("key", POINTER(c_uint64)),
                ("number", POINTER(c_uint64))]


class GpuInfoStruct(Structure):
    _fields_ = [("name", c_char * 96), ("compute_major", c_uint32), ("compute_minor", c_uint32),
                ("multiprocessors", c_uint32), ("driver_major", c_uint32), ("driver_minor", c_uint32),
                ("kernels_major", c_uint32), ("memory_bytes", c_uint64), ("free_bytes", c_uint64),
                ("l2_bytes", c_uint64), ("managed", c_uint32), ("registered", c_uint32),
                ("registered_readonly", c_uint32)]


#: Each struct by its name in the headers; the two opaque ones have no fields.
STRUCTS: Dict[str, Any] = {
    "gtu_device": DeviceStruct, "gtu_graph_backing": BackingStruct, "gtu_error": ErrorStruct,
    "gtu_progress": ProgressStruct, "gtu_graph": GraphStruct, "gtu_read_options": ReadOptions,
    "gtu_generate_options": GenerateOptions, "gtu_info": InfoStruct, "gtu_iteration": IterationStruct,
    "gtu_algorithm_options": AlgorithmOptions, "gtu_algorithm_stats": StatsStruct, "gtu_hash_table": HashTable, "gtu_gpu_info": GpuInfoStruct,
}

# ---- Functions: result, arguments ----

_device = POINTER(DeviceStruct)
_graph = POINTER(GraphStruct)
_progress = POINTER(ProgressStruct)
_error = POINTER(ErrorStruct)
_options = POINTER(AlgorithmOptions)
_stats = POINTER(StatsStruct)
_u64s = POINTER(c_uint64)
_ELEMENTS: Dict[Any, Any] = {np.int64: c_uint64, np.float64: c_double, np.uint32: c_uint32}


def _algorithm(dtype: Any) -> Tuple[Any, List[Any]]:
    return c_int, [_device, _graph, _options, POINTER(_ELEMENTS[dtype]), _stats, _error]


PROTOTYPES: Dict[str, Tuple[Any, List[Any]]] = {
    "gtu_status_name": (c_char_p, [c_int]),
    "gtu_open": (c_int, [c_char_p, POINTER(_device), _error]),
    "gtu_close": (None, [_device]),
    "gtu_get_info": (POINTER(InfoStruct), [_device]),
    "gtu_get_gpu_info": (POINTER(GpuInfoStruct), [_device]),
    "gtu_get_fdt": (c_void_p, [_device, POINTER(c_size_t)]),
    "gtu_counters": (c_int, [_device, c_uint32, c_bool, _u64s, _error]),
    "gtu_counter_names": (POINTER(c_char_p), [c_uint32]),
    "gtu_setting": (c_int, [_device, c_uint32, c_uint32, c_uint32, _error]),
    "gtu_set_timeout": (None, [_device, c_uint64]),
    "gtu_graph_open": (c_int, [c_char_p, POINTER(ReadOptions), _progress, POINTER(_graph), _error]),
    "gtu_graph_check": (c_int, [_graph, _progress, _error]),
    "gtu_graph_write": (c_int, [_graph, c_char_p, c_uint32, c_char_p, _progress, _error]),
    "gtu_graph_save_compressed": (c_int, [_graph, c_char_p, _progress, _error]),
    "gtu_graph_close": (None, [_graph]),
    "gtu_graph_wrap": (c_int, [_graph, POINTER(_graph), _error]),
    "gtu_graph_transpose": (c_int, [_graph, _progress, POINTER(_graph), _error]),
    "gtu_graph_symmetrize": (c_int, [_graph, _progress, POINTER(_graph), _error]),
    "gtu_graph_generate": (c_int, [POINTER(GenerateOptions), _progress, POINTER(_graph), _error]),
    "gtu_graph_vertex": (c_int, [_graph, c_uint64, _u64s, _error]),
    "gtu_graph_vertex_by_name": (c_int, [_graph, c_char_p, _u64s, _error]),
    "gtu_graph_vertex_name": (c_char_p, [_graph, c_uint64, POINTER(c_size_t)]),
    "gtu_generator_name": (c_char_p, [c_uint32]),
    **{kind.function: _algorithm(kind.dtype) for kind in ALGORITHMS.values()},
    # after the table, because its arguments differ
    "gtu_hash_lookup": (c_int, [_device, POINTER(HashTable), _options, _u64s, c_uint64, _u64s, _stats, _error]),
    "gtu_hash_build": (c_int, [_u64s, c_uint64, c_uint64, POINTER(HashTable), _error]),
    "gtu_hash_free": (None, [POINTER(HashTable)]),
}

# ---- Loading the library ----


def in_tree(path: str) -> Path:
    """A path in the source tree, or in the library directory, that contains this module."""
    return Path(__file__).resolve().parents[3] / path


def is_source_tree() -> bool:
    return in_tree("include/gtu/gtu.h").is_file()


def library_path() -> str:
    """$GTU_LIBRARY; else build/ of the source tree; else next to an installed module; else the system's."""
    named = os.environ.get("GTU_LIBRARY")
    if named:
        return named
    beside = in_tree("build/" + LIBRARY if is_source_tree() else LIBRARY)
    return str(beside) if beside.is_file() else LIBRARY


def _load() -> ctypes.CDLL:
    # NCCL's multicast by NVLink switches has hung hosts: only on request
    if not os.environ.get("NCCL_NVLS_ENABLE"):
        os.environ["NCCL_NVLS_ENABLE"] = "0"
    path = library_path()
    try:
        library = ctypes.CDLL(path)
    except OSError as e:
        hint = ("check $GTU_LIBRARY" if os.environ.get("GTU_LIBRARY") else "build it with make" if is_source_tree() else
                "install libgtu1, or set $GTU_LIBRARY to the file")
        raise ImportError(f"gtu: {e}: {hint}") from None
    for name, (result, arguments) in PROTOTYPES.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError(f"gtu: {path} has no {name}: it is older than this module") from None
        function.restype = result
        function.argtypes = arguments
    return library


lib: Any = _load()
