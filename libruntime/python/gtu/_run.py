# SPDX-License-Identifier: MIT
"""Algorithms: what `gtu run` has, with arrays as results."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import os
from typing import Any, Dict, Iterator, List, Optional, Tuple, Union

import numpy as np

from ._abi import CONSTANTS, ITERATION, AlgorithmOptions, HashTable, IterationStruct, StatsStruct, lib
from ._call import Progress, call, choice, integer, quick, real
from ._device import Device
from ._graph import Array, Graph, _hash

UNIT_CHOICES = {"none": "WITH_NONE", "scu": "WITH_SCU", "scu-basic": "WITH_SCU_BASIC", "iru": "WITH_IRU",
                "peg": "WITH_PEG", "weaver": "WITH_WEAVER", "gpu": "WITH_GPU"}
DIRECTIONS = {"push": "PUSH", "pull": "PULL", "auto": "PUSH_OR_PULL"}
KERNELS = {"auto": "KERNEL_AUTO", "naive": "KERNEL_NAIVE", "merged": "KERNEL_MERGED", "aligned": "KERNEL_ALIGNED"}
_QUERIES = 1_000_000  # of a hash table, where no number is given: as the tool's
_SOURCES = 16  # of betweenness, likewise


@dataclasses.dataclass(frozen=True)
class Kind:
    """An algorithm: the library's function, what its values are, and which arguments of run() it takes."""

    function: str
    dtype: Any
    takes: Tuple[str, ...] = ()


#: As `gtu run` has them.
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


@dataclasses.dataclass(frozen=True)
class Stats:
    """
    What a run took. `iterations`: levels or rounds; `edges` traversed, `vertices` reached; `jobs` of the unit and their
    logical cycles; `phases`: seconds by name. On a GPU: bytes of the edge list, those of them that its memory
    holds, and seconds of the traversal. Iterations `pulled[0]` up to `pulled[1]` pulled.
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
    What came out. `values`: one a vertex (gcn: a row a vertex; stcon: one in all; hash: one a query), with -1 for no
    path and not found, infinity for no distance. `source`: where it began, a vertex (bc: all of them). `queries`: of
    hash, the pairs of vertices that were looked up. `counters`: of each unit of the device, of this run alone. `steps`,
    where they were asked for: a record a level or round, of number, frontier, edges, jobs, job_cycles, list_bytes,
    cached_bytes and seconds.
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
    """What the library tells of each iteration, on its own thread."""

    def __init__(self, options: AlgorithmOptions):
        self.records: List[bytes] = []
        # kept: C must not call what Python has given back
        self.function = options.iteration = ITERATION(self._take)

    def _take(self, _user: Any, iteration: Any) -> None:
        self.records.append(ctypes.string_at(iteration, ctypes.sizeof(IterationStruct)))

    def array(self) -> Array:
        return np.frombuffer(b"".join(self.records), np.dtype(IterationStruct))


def _mix(x: int) -> int:
    """_hash() of one number."""
    return int(_hash(np.array([x], np.uint64))[0])


def _drawn(n: int, count: int, seed: int) -> Array:
    """@count different vertices, the ones that `gtu run bc --sources COUNT:SEED` draws (Floyd's method)."""
    state, taken, out = seed, set(), np.empty(count, np.uint64)
    for i in range(n - count, n):
        state = _mix(state)
        v = state % (i + 1)
        v = i if v in taken else v
        taken.add(v)
        out[i - (n - count)] = v
    return out


def _hub(graph: Graph) -> int:
    """The lowest vertex of most edges."""
    return int(np.argmax(graph.degrees))


class _Request:
    """The options of one run, filled in and kept together with what they point at."""

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
            raise TypeError("stcon needs a target: where is the path to lead to?")
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
            raise ValueError("sources is empty; 'all' are all vertices")
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
            raise TypeError("queries is neither a number nor an array of pairs of vertices")
        if pairs.size and (pairs.min() < 0 or pairs.max() >= n):
            raise ValueError(f"queries has vertex {pairs.min() if pairs.min() < 0 else pairs.max()}; there are {n}")
        self.pairs = pairs.astype(np.uint64)

    # ---- Running it ----

    def run(self, dev: Any, stats: StatsStruct, progress: Progress) -> Tuple[Array, Optional[Array]]:
        graph = self.graph
        if self.kind.function == "gtu_hash_lookup":
            return self._run_hash(dev, stats, progress)
        shape: Tuple[int, ...] = (graph.n,)
        if self.kind.function == "gtu_stcon":
            shape = (1,)
        elif self.kind.function == "gtu_gcn":
            shape = (graph.n, self.features)
        # never less than one, so that there is an address
        values = np.empty(max(int(np.prod(shape)), 1), self.kind.dtype)
        function = getattr(lib, self.kind.function)
        out = values.ctypes.data_as(function.argtypes[3])

        def work(p: Any, err: Any) -> int:
            self.options.progress = ctypes.cast(p, type(self.options.progress))
            return int(function(dev, graph._handle.pointer, ctypes.byref(self.options), out, ctypes.byref(stats), err))

        call(work, progress)
        return values[:int(np.prod(shape))].reshape(shape), None

    def _keys(self) -> Array:
        """A key an edge, u * n + v: what `gtu run hash` looks up."""
        graph = self.graph
        if graph.n > 2**32 - 1:
            raise ValueError(f"hash numbers pairs of vertices in 64 bits: {graph.n} vertices are more than {2**32 - 1}")
        # the numbers below are trusted
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
    Run an algorithm on a graph through a unit of a device.

      "bfs"    hops from a source; -1 where there is no path
      "sssp"   distances from a source, over the graph's weights; infinity where there is no path
      "pr"     ranks, together 1 (also "pagerank")
      "cc"     weakly connected components: the lowest vertex of each (also "wcc")
      "bc"     betweenness centrality over shortest paths from some sources
      "stcon"  edges on a shortest path from source to target, one value; -1 where there is none
      "gc"     colours from 0, no two neighbours the same
      "kc"     core numbers
      "cdlp"   communities by label propagation: a vertex of each
      "lcc"    local clustering coefficients
      "gcn"    a graph convolution of features of each vertex: n rows of @features
      "hash"   lookups in a hash table of the graph's edges: a place for each of @queries, or -1

    @unit: "scu", "scu-basic", "iru", "peg", "weaver", "none" (plain code), "gpu"; by default "scu", or "gpu" on a GPU.
    Results do not depend on it. @device: a Device, or the name of one that is opened for this run ("model").
    Vertices are numbers of this graph: Graph.vertex() has that of a file's id.

    @source: by default a vertex of most edges. @sources, of bc: vertices, a number of them to be drawn (16, by
    @seed), or "all". @direction, of bfs and pr with peg and weaver: "push", "pull", "auto". @damping (0.85), @iterations
    (20; with @epsilon 1000; cdlp at most 10), @epsilon, a change of rank at which pr stops. @delta, of sssp: the step of the
    near-far threshold. @queries, of hash: a number of them, made by @seed as `gtu run` does, or pairs of vertices.
    @chunk_log2: at most so many edges are expanded at a time. @kernel, on a GPU: "auto", "naive", "merged",
    "aligned". @monitor: the zero-copy monitor watches. @steps: keep what each level or round took.

    Counters of a Device are cleared first. Ctrl-C ends the run; the device and the graph stay usable. Errors: TypeError
    and ValueError for arguments, InputError for what the graph holds, Error for what the device says.
    """
    if not isinstance(graph, Graph):
        raise TypeError(f"a {type(graph).__name__} is no gtu.Graph: gtu.load(), gtu.Graph.from_scipy(), ...")
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


