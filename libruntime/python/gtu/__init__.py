# SPDX-License-Identifier: MIT
"""
GTU, the graph traversal unit: graphs over NumPy's and SciPy's arrays, and algorithms through the unit.

    import gtu
    graph = gtu.generate("kronecker", scale=12)
    result = gtu.run(graph, "bfs", source=0, unit="scu")
    result.values               # hops, an array
    result.counters["scu"]      # what the unit counted

It calls libgtu.so.1: the one named in $GTU_LIBRARY, else that of the source tree this lies in, else the system's.
Documentation/python.md has more.
"""

from ._abi import library_path
from ._call import Error, InputError, Progress, ProgressCallback, Status
from ._device import Device, Gpu, Info, device
from ._graph import Graph, generate, generators, load
from ._lab import Lab, LabRow, lab
from ._run import ALGORITHMS, Result, Stats, run

__version__ = "0.1.0"

__all__ = ["ALGORITHMS", "Device", "Error", "Gpu", "Graph", "Info", "InputError", "Lab", "LabRow", "Progress",
           "ProgressCallback", "Result", "Stats", "Status", "device", "generate", "generators", "lab", "library_path",
           "load", "run"]
