# SPDX-License-Identifier: MIT
"""
GTU, the graph traversal unit: graphs over NumPy and SciPy arrays, and algorithms that run on the unit.

    import gtu
    graph = gtu.generate("kronecker", scale=12)
    result = gtu.run(graph, "bfs", source=0, unit="scu")
    result.values               # hops, an array
    result.counters["scu"]      # the unit's counters

The module loads libgtu.so.1: from $GTU_LIBRARY, else from its source tree, else from the system.
See Documentation/python.md.
"""

try:
    import numpy as _numpy  # noqa: F401
except ModuleNotFoundError as _error:
    raise ModuleNotFoundError("gtu needs NumPy: apt-get install python3-numpy, or pip install numpy",
                              name=_error.name) from None

from ._abi import library_path
from ._algorithms import ALGORITHMS
from ._call import Error, InputError, Progress, ProgressCallback, Status
from ._device import Device, Gpu, Info, device
from ._graph import Graph, generate, generators, load
from ._lab import Lab, LabRow, lab
from ._run import Result, Stats, run

__version__ = "0.1.0"

__all__ = ["ALGORITHMS", "Device", "Error", "Gpu", "Graph", "Info", "InputError", "Lab", "LabRow", "Progress",
           "ProgressCallback", "Result", "Stats", "Status", "device", "generate", "generators", "lab", "library_path",
           "load", "run"]
