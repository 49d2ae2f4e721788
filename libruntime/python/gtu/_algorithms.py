# SPDX-License-Identifier: MIT
"""The table of the algorithms. _abi.py declares their functions by it, and _run.py calls them."""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, Tuple

import numpy as np


@dataclasses.dataclass(frozen=True)
class Kind:
    """An algorithm: its library function, the type of its values, and its arguments of run()."""

    function: str
    dtype: Any
    takes: Tuple[str, ...] = ()


#: Names as in `gtu run`.
ALGORITHMS: Dict[str, Kind] = {
    "bfs": Kind("gtu_bfs", np.int64, ("source", "direction")),
    "sssp": Kind("gtu_sssp", np.float64, ("source", "delta")),
    "pr": Kind("gtu_pagerank", np.float64, ("damping", "iterations", "epsilon", "direction")),
    "cc": Kind("gtu_components", np.int64),
    "bc": Kind("gtu_betweenness", np.float64, ("sources", "seed")),
    "stcon": Kind("gtu_stcon", np.int64, ("source", "target")),
    "gc": Kind("gtu_coloring", np.uint32),
    "kc": Kind("gtu_cores", np.int64),
    "cdlp": Kind("gtu_label_propagation", np.int64, ("iterations",)),
    "lcc": Kind("gtu_clustering", np.float64),
    "gcn": Kind("gtu_gcn", np.float64, ("features", "seed")),
    "hash": Kind("gtu_hash_lookup", np.int64, ("queries", "seed")),
}
ALIASES = {"pagerank": "pr", "wcc": "cc"}
