# SPDX-License-Identifier: MIT
"""Algorithms: those of `gtu run`, with arrays as results."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import os
from typing import Any, Dict, Iterator, List, Optional, Tuple, Union

import numpy as np

from ._abi import CONSTANTS, ITERATION, AlgorithmOptions, HashTable, IterationStruct, StatsStruct, lib
from ._algorithms import ALGORITHMS, ALIASES
from ._call import Progress, call, choice, integer, quick, real
from ._device import Device
from ._graph import Array, Graph, _hash

UNIT_CHOICES = {"none": "WITH_NONE", "scu": "WITH_SCU", "scu-basic": "WITH_SCU_BASIC", "iru": "WITH_IRU",
                "peg": "WITH_PEG", "weaver": "WITH_WEAVER", "gpu": "WITH_GPU"}
DIRECTIONS = {"push": "PUSH", "pull": "PULL", "auto": "PUSH_OR_PULL"}
KERNELS = {"auto": "KERNEL_AUTO", "naive": "KERNEL_NAIVE", "merged": "KERNEL_MERGED", "aligned": "KERNEL_ALIGNED"}
_QUERIES = 1_000_000  # default number of hash queries, as in the tool
_SOURCES = 16  # default number of betweenness sources, as in the tool


@dataclasses.dataclass(frozen=True)
class Stats:
    """
    Statistics of a run. `iterations`: levels or rounds; `edges` traversed; `vertices` reached; `jobs` of the unit
    and their logical cycles; `phases`: seconds by name. On a GPU: bytes of the edge list read, of which some
    were cached in GPU memory, and seconds of the traversal. Iterations `pulled[0]` up to `pulled[1]` pulled.
    """

    iterations: int
    edges: int
    vertices: int
    jobs: int
    job_cycles: int
    seconds: float
    phases: Dict[str, float]
    list_bytes: int
    cached_bytes: int
    gpu_seconds: float
    pulled: Tuple[int, int]


@dataclasses.dataclass(frozen=True)
class Result:
    """
    Result of a run. `values`: one per vertex (gcn: one row per vertex; stcon: a single value; hash: one per
    query); -1 means no path or not found, infinity no path for distances. `source`: the start vertex (bc: all
    sources). `queries`: for hash, the pairs of vertices looked up. `counters`: of each unit of the device, for
    this run only. `steps`, if requested: a record per level or round with number, frontier, edges, jobs,
    job_cycles, list_bytes, cached_bytes and seconds.
    """

    algorithm: str
    unit: str
    device: str
    values: Array
    stats: Stats
    counters: Dict[str, Dict[str, int]]
    source: Union[int, Array, None] = None
    queries: Optional[Array] = None
    steps: Optional[Array] = None


class _Steps:
    """Collects the iteration records, called by the library on its own thread."""

    def __init__(self, options: AlgorithmOptions):
        self.records: List[bytes] = []
        # keep a reference: C must not call a freed function
        self.function = options.iteration = ITERATION(self._take)

    def _take(self, _user: Any, iteration: Any) -> None:
        self.records.append(ctypes.string_at(iteration, ctypes.sizeof(IterationStruct)))

    def array(self) -> Array:
        return np.frombuffer(b"".join(self.records), np.dtype(IterationStruct))


def _mix(x: int) -> int:
    """_hash() of one number."""
    return int(_hash(np.array([x], np.uint64))[0])


def _drawn(n: int, count: int, seed: int) -> Array:
    """Draw @count distinct vertices as `gtu run bc --sources COUNT:SEED` does (Floyd's algorithm)."""
    state, taken, out = seed, set(), np.empty(count, np.uint64)
    for i in range(n - count, n):
        state = _mix(state)
        v = state % (i + 1)
        v = i if v in taken else v
        taken.add(v)
        out[i - (n - count)] = v
    return out


def _hub(graph: Graph) -> int:
    """The lowest vertex with the maximum degree."""
    return int(np.argmax(graph.degrees))


class _Request:
    """The options of one run, with references to the arrays they point to."""

    def __init__(self, graph: Graph, algorithm: str, unit: str, given: Dict[str, Any]):
        self.graph = graph
        self.kind = ALGORITHMS[algorithm]
        self.options = AlgorithmOptions()
        self.options.unit = CONSTANTS[UNIT_CHOICES[unit]]
        self.source: Union[int, Array, None] = None
        self.keep: Any = None
        for name, value in given.items():
            if value is not None and name not in self.kind.takes:
                raise TypeError(f"{algorithm} takes no {name}")
        if graph.n == 0 and {"source", "sources", "queries"} & set(self.kind.takes):
            raise ValueError(f"{graph.name} has no vertices to start from")
        for name in self.kind.takes:
            getattr(self, "_" + name)(given[name])

    def _source(self, value: Any) -> None:
        self.source = _hub(self.graph) if value is None else integer("source", value, 0, self.graph.n - 1)
        self.options.source = self.source

    def _target(self, value: Any) -> None:
        if value is None:
            raise TypeError("stcon needs a target vertex")
        self.options.target = integer("target", value, 0, self.graph.n - 1)

    def _sources(self, value: Any) -> None:
        n = self.graph.n
        if isinstance(value, str):
            choice("sources", value, ("all",))
            return
        if value is None or not np.ndim(value):
            count = _SOURCES if value is None else integer("sources", value, 1, 2**64 - 1)
            if count >= n:
                return
            self.count = count
            return
        self._list_sources(np.array([integer("sources", v, 0, n - 1) for v in value], np.uint64))

    def _list_sources(self, array: Array) -> None:
        if not len(array):
            raise ValueError("sources is empty: use 'all' for all vertices")
        self.source = array.view(np.int64)
        self.options.sources = array.ctypes.data_as(ctypes.POINTER(ctypes.c_uint64))
        self.options.source_count = len(array)

    def _seed(self, value: Any) -> None:
        seed = self.options.seed = 1 if value is None else integer("seed", value, 0, 2**64 - 1)
        if getattr(self, "count", 0):
            self._list_sources(_drawn(self.graph.n, self.count, seed))

    def _delta(self, value: Any) -> None:
        self.options.delta = 0.0 if value is None else real("delta", value, 1e-300, 1e300)

    def _damping(self, value: Any) -> None:
        self.options.damping = 0.0 if value is None else real("damping", value, 1e-9, 1 - 1e-9)

    def _epsilon(self, value: Any) -> None:
        self.options.epsilon = 0.0 if value is None else real("epsilon", value, 0, 1)

    def _iterations(self, value: Any) -> None:
        self.options.iterations = 0 if value is None else integer("iterations", value, 1, 2**32 - 1)

    def _features(self, value: Any) -> None:
        self.features = 16 if value is None else integer("features", value, 1, CONSTANTS["FEATURES_MAX"])
        self.options.features = self.features

    def _direction(self, value: Any) -> None:
        word = "push" if value is None else choice("direction", value, tuple(DIRECTIONS))
        self.options.direction = CONSTANTS[DIRECTIONS[word]]

    def _queries(self, value: Any) -> None:
        n = self.graph.n
        self.pairs: Optional[Array] = None
        if value is None or not np.ndim(value):
            self.query_count = _QUERIES if value is None else integer("queries", value, 1, 2**60)
            return
        pairs = np.asarray(value)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
            raise TypeError("queries is invalid: pass a number or an array of pairs of vertices")
        if pairs.size and (pairs.min() < 0 or pairs.max() >= n):
            raise ValueError(f"queries has vertex {pairs.min() if pairs.min() < 0 else pairs.max()}; there are {n}")
        self.pairs = pairs.astype(np.uint64)

    # ---- Running ----

    def run(self, dev: Any, stats: StatsStruct, progress: Progress) -> Tuple[Array, Optional[Array]]:
        graph = self.graph
        if self.kind.function == "gtu_hash_lookup":
            return self._run_hash(dev, stats, progress)
        shape: Tuple[int, ...] = (graph.n,)
        if self.kind.function == "gtu_stcon":
            shape = (1,)
        elif self.kind.function == "gtu_gcn":
            shape = (graph.n, self.features)
        # at least one element, so that there is an address
        values = np.empty(max(int(np.prod(shape)), 1), self.kind.dtype)
        function = getattr(lib, self.kind.function)
        out = values.ctypes.data_as(function.argtypes[3])

        def work(p: Any, err: Any) -> int:
            self.options.progress = ctypes.cast(p, type(self.options.progress))
            return int(function(dev, graph._handle.pointer, ctypes.byref(self.options), out, ctypes.byref(stats), err))

        call(work, progress)
        return values[:int(np.prod(shape))].reshape(shape), None

    def _keys(self) -> Array:
        """One key per edge, u * n + v, as in `gtu run hash`."""
        graph = self.graph
        if graph.n > 2**32 - 1:
            raise ValueError(f"hash keys have 64 bits: {graph.n} vertices are more than {2**32 - 1}")
        # the library does not check the keys computed below
        graph.check(False)
        u = np.repeat(np.arange(graph.n, dtype=np.uint64), graph.degrees)
        return np.ascontiguousarray(u * np.uint64(graph.n) + graph.indices.astype(np.uint64))

    def _make_queries(self, table: HashTable) -> Array:
        n = np.uint64(self.graph.n)
        if self.pairs is not None:
            return np.ascontiguousarray(self.pairs[:, 0] * n + self.pairs[:, 1])
        with np.errstate(over="ignore"):
            x = _hash(_hash(np.array([self.options.seed], np.uint64)) + np.arange(self.query_count, dtype=np.uint64))
            queries: Array = x % n * n + _hash(x) % n
        if table.entries:
            keys = np.ctypeslib.as_array(table.key, (table.entries,))
            queries[::2] = keys[x[::2] % np.uint64(table.entries)]
        return queries

    def _run_hash(self, dev: Any, stats: StatsStruct, progress: Progress) -> Tuple[Array, Optional[Array]]:
        table, u64s = HashTable(), ctypes.POINTER(ctypes.c_uint64)
        keys = self._keys()
        quick(lambda err: int(lib.gtu_hash_build(keys.ctypes.data_as(u64s), len(keys), self.graph.n,
                                                 ctypes.byref(table), err)))
        try:
            queries = self._make_queries(table)
            places = np.empty(max(len(queries), 1), np.int64)

            def work(p: Any, err: Any) -> int:
                self.options.progress = ctypes.cast(p, type(self.options.progress))
                return int(lib.gtu_hash_lookup(dev, ctypes.byref(table), ctypes.byref(self.options),
                                               queries.ctypes.data_as(u64s), len(queries),
                                               places.ctypes.data_as(u64s), ctypes.byref(stats), err))

            call(work, progress)
        finally:
            lib.gtu_hash_free(ctypes.byref(table))
        n = np.uint64(self.graph.n)
        return places[:len(queries)], np.stack((queries // n, queries % n), axis=1).view(np.int64)


@contextlib.contextmanager
def _opened(device: Union[str, os.PathLike[str], Device]) -> Iterator[Device]:
    if isinstance(device, Device):
        yield device
        return
    with Device(device) as opened:
        yield opened


def _stats(s: StatsStruct) -> Stats:
    phases = {s.phase[i].name.decode(): s.phase[i].seconds for i in range(s.phases)}
    return Stats(s.iterations, s.edges, s.vertices, s.jobs, s.job_cycles, s.seconds, phases, s.list_bytes,
                 s.cached_bytes, s.gpu_seconds, (s.pull_first, s.pull_end))


def _is_gpu(device: Any) -> bool:
    if isinstance(device, Device):
        return device.info.backend == "cuda"
    return os.fsdecode(device).startswith("cuda")


def run(graph: Graph, algorithm: str, *, unit: Optional[str] = None,
        device: Union[None, str, os.PathLike[str], Device] = None, source: Optional[int] = None, sources: Any = None,
        target: Optional[int] = None, direction: Optional[str] = None, damping: Optional[float] = None,
        iterations: Optional[int] = None, epsilon: Optional[float] = None, delta: Optional[float] = None,
        features: Optional[int] = None, queries: Any = None, seed: Optional[int] = None, chunk_log2: int = 0,
        kernel: str = "auto", monitor: bool = False, steps: bool = False, progress: Progress = None) -> Result:
    """
    Run an algorithm on a graph with a unit of a device.

      "bfs"    hops from a source; -1 if there is no path
      "sssp"   distances from a source by the graph's weights; infinity if there is no path
      "pr"     ranks, sum 1 (also "pagerank")
      "cc"     weakly connected components: the lowest vertex of each (also "wcc")
      "bc"     betweenness centrality by shortest paths from some sources
      "stcon"  edges on a shortest path from source to target, a single value; -1 if there is none
      "gc"     colors from 0; neighbours have different colors
      "kc"     core numbers
      "cdlp"   communities by label propagation: a vertex of each
      "lcc"    local clustering coefficients
      "gcn"    a graph convolution of vertex features: n rows of @features
      "hash"   lookups in a hash table of the graph's edges: an index for each of @queries, or -1

    @unit: "scu", "scu-basic", "iru", "peg", "weaver", "none" (CPU only) or "gpu"; default: "scu", or "gpu" on a
    GPU. Results do not depend on it. @device: a Device, or the name of one to open for this run ("model").
    Vertices are numbers in this graph: Graph.vertex() converts a file's id.

    @source: default: a vertex with the maximum degree. @sources, for bc: vertices, a number of vertices to draw
    (16, by @seed), or "all". @direction, for bfs and pr with peg, weaver and none: "push", "pull", "auto". @damping
    (0.85). @iterations (20; 1000 with @epsilon; cdlp: at most 10). @epsilon: the change of rank at which pr stops.
    @delta, for sssp: the step of the near-far threshold. @queries, for hash: a number of queries to generate by
    @seed as `gtu run` does, or pairs of vertices. @chunk_log2: log2 of the maximum edges expanded at a time.
    @kernel, on a GPU: "auto", "naive", "merged", "aligned". @monitor enables the zero-copy monitor. @steps
    records each level or round.

    The counters of a Device are cleared first. Ctrl-C ends the run; the device and the graph remain usable.
    Errors: TypeError and ValueError for arguments, InputError for the graph's data, Error for the device.
    """
    if not isinstance(graph, Graph):
        raise TypeError(f"a {type(graph).__name__} is not a gtu.Graph: use gtu.load(), gtu.Graph.from_scipy(), ...")
    name = ALIASES.get(algorithm, algorithm)
    choice("algorithm", name, tuple(ALGORITHMS))
    if device is None:
        device = "cuda:0" if unit == "gpu" else "model"
    if unit is None:
        unit = "gpu" if _is_gpu(device) else "scu"
    choice("unit", unit, tuple(UNIT_CHOICES))
    request = _Request(graph, name, unit, {
        "source": source, "sources": sources, "target": target, "direction": direction, "damping": damping,
        "iterations": iterations, "epsilon": epsilon, "delta": delta, "features": features, "queries": queries,
        "seed": seed})
    request.options.chunk_log2 = integer("chunk_log2", chunk_log2, 0, 31)
    request.options.kernel = CONSTANTS[KERNELS[choice("kernel", kernel, tuple(KERNELS))]]
    stats = StatsStruct()
    kept = _Steps(request.options) if steps else None
    if unit == "none":
        values, pairs = request.run(None, stats, progress)
        return Result(name, unit, "none", values, _stats(stats), {}, request.source, pairs,
                      kept.array() if kept else None)
    with _opened(device) as opened, opened._use() as dev:
        if monitor:
            opened.monitor(True)
        try:
            opened.counters(clear=True)
            values, pairs = request.run(dev, stats, progress)
            counters = opened.counters()
        finally:
            if monitor:
                opened.monitor(False)
        return Result(name, unit, opened.info.path, values, _stats(stats), counters, request.source, pairs,
                      kept.array() if kept else None)


