# SPDX-License-Identifier: MIT
"""Graphs over memory of the library, of a mapped file, or of NumPy, without a copy."""

from __future__ import annotations

import ctypes
import os
from typing import TYPE_CHECKING, Any, List, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from ._abi import CONSTANTS, GenerateOptions, GraphStruct, ReadOptions, lib
from ._call import InputError, Progress, Status, call, choice, integer, path_bytes, quick, real

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Array = npt.NDArray[Any]
Path = Union[str, "os.PathLike[str]"]

_WEIGHTS = {np.dtype(np.uint32): CONSTANTS["WEIGHT_U32"], np.dtype(np.float32): CONSTANTS["WEIGHT_F32"],
            np.dtype(np.float64): CONSTANTS["WEIGHT_F64"]}
_WEIGHT_DTYPES = {number: dtype for dtype, number in _WEIGHTS.items()}
_NAME_BYTES = 127
_PIECE = 1 << 20  # edges checked at a time


class _Handle:
    """A library graph, closed with the last reference, and the objects it depends on."""

    def __init__(self, pointer: Any, keep: Tuple[Any, ...] = ()):
        self.pointer = pointer
        self.keep = keep

    # bound early: at interpreter exit, modules may be cleared before graphs
    def __del__(self, close: Any = lib.gtu_graph_close) -> None:
        close(self.pointer)


class _Span:
    """Read-only memory for a NumPy array, which keeps its owner alive."""

    def __init__(self, owner: Any, address: int, count: int, dtype: Any):
        self.owner = owner
        self.__array_interface__ = {"version": 3, "data": (address, True), "shape": (count,),
                                    "typestr": np.dtype(dtype).str}


def _view(owner: Any, pointer: Any, count: int, dtype: Any) -> Array:
    address = ctypes.cast(pointer, ctypes.c_void_p).value
    if not count or not address:
        return np.empty(0, dtype)
    return np.asarray(_Span(owner, address, count, dtype))


def _plain(name: str, given: Any, dtypes: Tuple[Any, ...], advice: str) -> Array:
    """Return @given as a contiguous one-dimensional array of one of @dtypes, without a copy."""
    array = np.asarray(given)
    if array.ndim != 1:
        raise ValueError(f"{name} has {array.ndim} dimensions; it must have one")
    if not any(array.dtype == d for d in dtypes) or not array.dtype.isnative:
        raise TypeError(f"{name} is of {array.dtype.str if not array.dtype.isnative else array.dtype}; it must be of "
                        f"{', '.join(np.dtype(d).name for d in dtypes)}: {advice}")
    if not array.flags.c_contiguous:
        raise ValueError(f"{name} has gaps (a stride of {array.strides[0]} bytes): numpy.ascontiguousarray({name})")
    return array


def _no_negative(name: str, array: Array) -> Array:
    """The same memory as unsigned integers."""
    if array.dtype.kind == "u":
        return array
    if array.size and array.min() < 0:
        at = int(np.flatnonzero(array < 0)[0])
        raise InputError(Status.INPUT, f"{name}[{at}] is {array[at]}; it must be 0 or more")
    return array.view(array.dtype.str.replace("i", "u"))


def _exact(array: Array) -> Array:
    """Integers of 8 bytes as uint32 if all fit, otherwise as float64 if it represents all; a copy."""
    if not array.size or (array.min() >= 0 and array.max() < 2**32):
        return array.astype(np.uint32)
    copy: Array = array.astype(np.float64)
    # the largest integers are rounded to 2^63 or 2^64, which cannot be cast back: processors differ in what that gives
    if copy.max() < float(np.iinfo(array.dtype).max) and np.array_equal(copy.astype(array.dtype), array):
        return copy
    raise TypeError("data has integers above 2^53, which no type of weights represents")


def _weights_of(data: Any, m: int) -> Optional[Array]:
    if data is None:
        return None
    advice = "convert it, as data.astype(numpy.float64), or leave it out"
    given = np.asarray(data)
    if given.dtype in (np.int64, np.uint64) and given.dtype.isnative:
        data = _exact(given)
    weights = _plain("data", data, (np.uint32, np.int32, np.float32, np.float64), advice)
    if len(weights) != m:
        raise ValueError(f"data has {len(weights)} weights; there are {m} edges")
    return _no_negative("data", weights) if weights.dtype.kind == "i" else weights


def _hash(x: Array) -> Array:
    """splitmix64's finalizer."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ x >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ x >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    mixed: Array = x ^ x >> np.uint64(31)
    return mixed


class Graph:
    """
    A directed graph in CSR form: the edges of vertex v lead to indices[indptr[v]:indptr[v + 1]]. Vertices are
    0..n-1; `ids` has the vertex ids of the input.

    Created by load(), generate(), Graph.from_csr() and Graph.from_scipy(). Its arrays are read-only views of
    the graph's memory (a mapped file, the library's memory, or the caller's arrays) and keep it alive. Nothing
    is copied unless documented.
    """

    __slots__ = ("_handle", "_struct", "__weakref__")

    _handle: _Handle
    _struct: GraphStruct

    def __init__(self) -> None:
        raise TypeError("a Graph comes from gtu.load(), gtu.generate(), Graph.from_csr() or Graph.from_scipy()")

    @classmethod
    def _of(cls, pointer: Any, keep: Tuple[Any, ...] = ()) -> Graph:
        graph: Graph = object.__new__(cls)
        graph._handle = _Handle(pointer, keep)
        graph._struct = pointer.contents
        return graph

    @classmethod
    def from_csr(cls, indptr: Any, indices: Any, data: Any = None, *, directed: bool = True, ids: Any = None,
                 name: str = "arrays", progress: Progress = None) -> Graph:
        """
        Make a graph over the caller's arrays, without a copy; they must not change while the graph exists.
        `indices` is int32, uint32, int64 or uint64; `data`, the weights, is uint32, int32, float32 or float64.
        A 4-byte `indptr`, as in SciPy, is widened to 8 bytes (n + 1 entries). int64 and uint64 `data` is copied,
        to uint32 if all values fit, otherwise to float64.

        @directed False declares that each edge is stored in both directions, which is checked once. @ids:
        vertex ids, ascending. Rows and edges out of bounds raise an InputError, also in later runs if the
        arrays change. Non-contiguous arrays raise a ValueError, other types a TypeError.
        """
        rows = _plain("indptr", indptr, (np.int64, np.uint64, np.int32, np.uint32), "numbers of edges")
        col = _plain("indices", indices, (np.int32, np.uint32, np.int64, np.uint64), "numbers of vertices")
        if not len(rows):
            raise ValueError("indptr is empty; it has one entry more than there are vertices")
        if len(rows) - 1 > 1 << 32 and col.dtype.itemsize == 4:
            raise TypeError(f"indices of 4 bytes support 4294967296 vertices, but indptr has {len(rows) - 1}")
        rows = _no_negative("indptr", rows)
        if rows.dtype.itemsize == 4:
            rows = rows.astype(np.uint64)
        graph = cls._wrap(rows, _no_negative("indices", col), _weights_of(data, len(col)), directed,
                          cls._check_ids(ids, len(rows) - 1), name, (indptr, indices, data, ids))
        graph.check(progress)
        if not directed:
            graph._check_both_ways()
        return graph

    @staticmethod
    def _check_ids(ids: Any, n: int) -> Optional[Array]:
        if ids is None:
            return None
        array = _plain("ids", ids, (np.int64, np.uint64), "ascending numbers")
        if len(array) != n:
            raise ValueError(f"ids has {len(array)} entries; there are {n} vertices")
        return _no_negative("ids", array)

    @classmethod
    def _wrap(cls, rows: Array, col: Array, weights: Optional[Array], directed: bool, ids: Optional[Array],
              name: str, keep: Tuple[Any, ...]) -> Graph:
        s = GraphStruct()
        s.n = len(rows) - 1
        s.m = len(col)
        s.flags = CONSTANTS["GRAPH_DIRECTED"] if directed else 0
        s.edge_bytes = col.dtype.itemsize
        s.row = rows.ctypes.data_as(ctypes.POINTER(ctypes.c_uint64))
        # an empty slice may have any address
        s.col = col.ctypes.data if s.m else None
        if weights is not None:
            s.weight = weights.ctypes.data if s.m else None
            s.weight_type = _WEIGHTS[weights.dtype]
        if ids is not None:
            s.ids = ids.ctypes.data_as(ctypes.POINTER(ctypes.c_uint64))
        s.name = name.encode()[:_NAME_BYTES]
        out = ctypes.POINTER(GraphStruct)()
        quick(lambda err: int(lib.gtu_graph_wrap(ctypes.byref(s), ctypes.byref(out), err)))
        return cls._of(out, (rows, col, weights, ids, *keep))

    @classmethod
    def from_scipy(cls, matrix: Any, *, weights: bool = True, directed: bool = True, name: str = "matrix",
                   progress: Progress = None) -> Graph:
        """
        Make a graph over a SciPy CSR matrix or array, as from_csr() does: entry (u, v) is an edge from u to v.
        @weights False ignores its values. Other formats raise a TypeError: matrix.tocsr() makes a copy.
        """
        if getattr(matrix, "format", None) != "csr":
            raise TypeError(f"{type(matrix).__name__} is not a SciPy CSR matrix: convert it with matrix.tocsr()")
        if matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"a matrix of {matrix.shape[0]} rows and {matrix.shape[1]} columns is not a graph; "
                             "it must be square")
        # SciPy allows unused space after the entries
        nnz = int(matrix.indptr[-1])
        return cls.from_csr(matrix.indptr, matrix.indices[:nnz], matrix.data[:nnz] if weights else None,
                            directed=directed, name=name, progress=progress)

    @classmethod
    def from_networkx(cls, graph: Any, *, weight: Optional[str] = None, progress: Progress = None
                      ) -> Tuple[Graph, List[Any]]:
        """
        Copy a NetworkX graph. Returns the graph and its nodes: vertex v is nodes[v]. @weight: the edge attribute
        with the weights. Parallel edges become one, with the sum of their weights.
        """
        import networkx

        nodes = list(graph)
        matrix = networkx.to_scipy_sparse_array(graph, nodes, weight=weight, format="csr")
        return cls.from_scipy(matrix, weights=weight is not None, directed=graph.is_directed(),
                              name=graph.name or "networkx", progress=progress), nodes

    # ---- Properties ----

    @property
    def n(self) -> int:
        """Number of vertices."""
        return int(self._struct.n)

    @property
    def m(self) -> int:
        """Number of entries of `indices`; an undirected edge counts twice."""
        return int(self._struct.m)

    @property
    def directed(self) -> bool:
        """False if each edge is stored in both directions."""
        return bool(self._struct.flags & CONSTANTS["GRAPH_DIRECTED"])

    @property
    def name(self) -> str:
        """The file's name, or the generator's parameters."""
        return bytes(self._struct.name).decode(errors="replace")

    def __repr__(self) -> str:
        weights = "" if not self._struct.weight_type else f", {_WEIGHT_DTYPES[self._struct.weight_type]} weights"
        return (f"<gtu.Graph {self.name!r}: {self.n} vertices, {self.m} edges, "
                f"{'directed' if self.directed else 'each both ways'}{weights}>")

    # ---- Arrays ----

    @property
    def indptr(self) -> Array:
        """n + 1 int64: start of each vertex' edges; a view."""
        return _view(self._handle, self._struct.row, self.n + 1, np.int64)

    @property
    def indices(self) -> Array:
        """m int32 (uint32 above 2^31 vertices) or int64: target of each edge; a view."""
        if self._struct.edge_bytes == 8:
            return _view(self._handle, self._struct.col, self.m, np.int64)
        return _view(self._handle, self._struct.col, self.m, np.int32 if self.n <= 1 << 31 else np.uint32)

    @property
    def weights(self) -> Optional[Array]:
        """m uint32, float32 or float64, a view; None if the graph has no weights."""
        if not self._struct.weight_type:
            return None
        return _view(self._handle, self._struct.weight, self.m, _WEIGHT_DTYPES[self._struct.weight_type])

    @property
    def ids(self) -> Array:
        """Input ids of the vertices, ascending: n int64; a view if the graph stores them."""
        if self._struct.ids:
            return _view(self._handle, self._struct.ids, self.n, np.int64)
        return np.arange(self._struct.id_base, self._struct.id_base + self.n, dtype=np.int64)

    @property
    def degrees(self) -> Array:
        """n int64: out-degree of each vertex; a new array."""
        return np.diff(self.indptr)

    def vertex(self, id: int) -> int:
        """The vertex with input id @id; InputError, with the valid ids, if there is none."""
        out = ctypes.c_uint64()
        number = integer("id", id, 0, 2**64 - 1)
        quick(lambda err: int(lib.gtu_graph_vertex(self._handle.pointer, number, ctypes.byref(out), err)))
        return int(out.value)

    # ---- Derived graphs ----

    def with_weights(self, data: Any) -> Graph:
        """This graph with other weights, one per edge as in from_csr(), or None; without a copy."""
        s = self._struct
        weights = _weights_of(data, self.m)
        rows = _view(self._handle, s.row, self.n + 1, np.uint64)
        col = _view(self._handle, s.col, self.m, np.uint64 if s.edge_bytes == 8 else np.uint32)
        ids = _view(self._handle, s.ids, self.n, np.uint64) if s.ids else None
        graph = Graph._wrap(rows, col, weights, self.directed, ids, self.name, (data,))
        graph._struct.id_base = s.id_base
        graph._struct.stored = s.stored
        return graph

    def transposed(self, progress: Progress = None) -> Graph:
        """A new graph with every edge reversed."""
        return self._made(lib.gtu_graph_transpose, progress)

    def symmetrized(self, progress: Progress = None) -> Graph:
        """A new graph with each edge in both directions, self-loops once, duplicates merged (first weight kept)."""
        return self._made(lib.gtu_graph_symmetrize, progress)

    def _made(self, function: Any, progress: Progress) -> Graph:
        out = ctypes.POINTER(GraphStruct)()
        call(lambda p, err: int(function(self._handle.pointer, p, ctypes.byref(out), err)), progress)
        return Graph._of(out)

    def to_scipy(self, progress: Progress = None) -> csr_array[Any]:
        """
        A SciPy CSR array over this graph's memory, read-only; values are the weights, or new ones of 1.0. SciPy
        needs `indptr` and `indices` of one type: with 4-byte edges `indptr` is a copy of n + 1 entries; with
        2^31 edges or vertices or more, both have 8 bytes and `indices` is the copy. The graph is checked first,
        because SciPy does not check bounds.
        """
        from scipy.sparse import csr_array

        self.check(progress)
        indptr, indices = self.indptr, self.indices
        if indices.dtype == np.int32 and self.m < 1 << 31:
            indptr = indptr.astype(np.int32)
        else:
            indices = indices.astype(np.int64, copy=False)
        weights = self.weights
        matrix = csr_array((self.n, self.n), dtype=np.float64 if weights is None else weights.dtype)
        # the constructor would narrow indices that fit into 4 bytes, which is a copy
        matrix.data = np.ones(self.m) if weights is None else weights
        matrix.indices, matrix.indptr = indices, indptr
        return matrix

    def to_networkx(self, nodes: Optional[Sequence[Any]] = None, progress: Progress = None) -> Any:
        """A NetworkX Graph or DiGraph, a copy; vertex v becomes nodes[v], or v."""
        import networkx

        kind = networkx.DiGraph if self.directed else networkx.Graph
        graph = networkx.from_scipy_sparse_array(self.to_scipy(progress), create_using=kind)
        return graph if nodes is None else networkx.relabel_nodes(graph, dict(enumerate(nodes)))

    # ---- Checks and files ----

    def check(self, progress: Progress = None) -> None:
        """
        Check that rows and edges are in bounds, that ids ascend and, for a mapped container, that its checksums
        match. Reads all data, once; graphs over NumPy arrays are checked each time. InputError with the first
        invalid entry.
        """
        call(lambda p, err: int(lib.gtu_graph_check(self._handle.pointer, p, err)), progress)
        if self._handle.keep:
            self._struct.flags &= ~CONSTANTS["GRAPH_CHECKED"]

    def _check_both_ways(self) -> None:
        """Check that the edges (u, v) and (v, u) are the same set, by sums of hashes, in constant memory."""
        rows, col, total = self.indptr, self.indices, np.uint64(0)
        first = 0
        with np.errstate(over="ignore"):
            while first < self.n:
                end = int(np.searchsorted(rows, rows[first] + _PIECE, side="right")) - 1
                end = min(max(end, first + 1), self.n)
                u = np.repeat(np.arange(first, end, dtype=np.uint64), np.diff(rows[first:end + 1]))
                v = col[rows[first]:rows[end]].astype(np.uint64)
                total += np.sum(_hash(_hash(u) + v) - _hash(_hash(v) + u), dtype=np.uint64)
                first = end
        if total:
            raise InputError(Status.INPUT, f"{self.name}: not every edge is stored in both directions: use directed=True or "
                                           "symmetrized()")

    def save(self, path: Path, *, compressed: bool = False, adapt: bool = False, progress: Progress = None) -> str:
        """
        Write the graph in the format given by the suffix of @path: .gtu, the native container, which load() maps
        (@compressed: smaller, but decoded by load()), .mtx, .txt, .gr, .graph, .e, .bel, .sg or .wsg. @adapt:
        convert or drop what a format cannot represent, and return a description; otherwise that is an Error.
        """
        encoded = path_bytes(path)
        changed = ctypes.create_string_buffer(CONSTANTS["ERROR_TEXT"])
        flags = CONSTANTS["WRITE_ADAPT"] if adapt else 0
        if compressed and encoded.endswith(b".gtu"):
            call(lambda p, err: int(lib.gtu_graph_save_compressed(self._handle.pointer, encoded, p, err)), progress)
        elif compressed:
            raise ValueError(f"{os.fsdecode(path)} does not end in .gtu: only this format can be compressed")
        else:
            call(lambda p, err: int(lib.gtu_graph_write(self._handle.pointer, encoded, flags, changed, p, err)),
                 progress)
        return changed.value.decode(errors="replace")


def load(path: Path, *, directed: Optional[bool] = None, edge_bytes: Optional[int] = None,
         weight_column: Union[int, bool, None] = None, simplify: bool = False, progress: Progress = None) -> Graph:
    """
    Open the graph at @path: a native container is mapped; other formats (Matrix Market, SNAP, DIMACS, METIS, ...)
    are read; xz, gzip and zstd files are decompressed.

    @directed: take the file's edges in one direction (True) or both (False) instead of as declared.
    @weight_column of a text file: 1 is the first after the ids; False: no weights. @edge_bytes: 4 or 8; default:
    the smallest that fits. @simplify drops self-loops and duplicates. InputError with file, line and reason;
    Error for failures of the system.
    """
    options = ReadOptions()
    options.direction = CONSTANTS["AS_STORED" if directed is None else "DIRECTED" if directed else "UNDIRECTED"]
    options.edge_bytes = 0 if edge_bytes is None else integer("edge_bytes", edge_bytes, 4, 8)
    if weight_column is False:
        options.weight_column = -1
    elif weight_column is not None:
        options.weight_column = integer("weight_column", weight_column, 1, 2**31 - 1)
    options.simplify = bool(simplify)
    out = ctypes.POINTER(GraphStruct)()
    encoded = path_bytes(path)
    call(lambda p, err: int(lib.gtu_graph_open(encoded, ctypes.byref(options), p, ctypes.byref(out), err)), progress)
    return Graph._of(out)


def generators() -> Tuple[str, ...]:
    """Names of the generators."""
    return tuple(lib.gtu_generator_name(i).decode() for i in range(CONSTANTS["GENERATORS"]))


def generate(kind: str, *, scale: Optional[int] = None, n: Optional[int] = None, degree: Optional[float] = None,
             exponent: Optional[float] = None, seed: int = 0, edge_bytes: Optional[int] = None, weights: int = 0,
             directed: bool = False, simplify: bool = False, unknowns: int = 0, threads: int = 0,
             progress: Progress = None) -> Graph:
    """
    Generate a graph from a rule and a seed: "kronecker", "uniform", "powerlaw", "delaunay", "planar", "road" or
    "fem3d", with 2^@scale or @n vertices. The same options give the same graph on every machine.

    @degree: the edge factor (kronecker, uniform), or the mean degree. @exponent: for powerlaw. @weights: maximum
    of random integer weights from 1 on; 0: none. @directed: keep one direction. @simplify drops self-loops and
    duplicates. @unknowns: for fem3d, vertices per node.
    """
    kinds = generators()
    options = GenerateOptions()
    options.kind = kinds.index(choice("kind", kind, kinds))
    if (scale is None) == (n is None):
        raise TypeError("pass either scale, the logarithm of the number of vertices, or n, that number")
    if scale is not None:
        options.scale = integer("scale", scale, 1, 40)
        options.n = 1 << options.scale
    else:
        options.n = integer("n", n, 1, 1 << 40)
        if kind == "kronecker":
            if options.n & (options.n - 1) or options.n < 2:
                raise ValueError(f"n is {options.n}; kronecker graphs need a power of two: use scale")
            options.scale = options.n.bit_length() - 1
    options.degree = 0.0 if degree is None else real("degree", degree, 1e-6, 1e6)
    options.exponent = 0.0 if exponent is None else real("exponent", exponent, 2, 10)
    options.seed = integer("seed", seed, 0, 2**64 - 1)
    options.edge_bytes = 0 if edge_bytes is None else integer("edge_bytes", edge_bytes, 4, 8)
    options.random_weights = integer("weights", weights, 0, 2**32 - 1)
    options.directed = bool(directed)
    options.simplify = bool(simplify)
    options.unknowns = integer("unknowns", unknowns, 0, 64)
    options.threads = integer("threads", threads, 0, 64)
    out = ctypes.POINTER(GraphStruct)()
    call(lambda p, err: int(lib.gtu_graph_generate(ctypes.byref(options), p, ctypes.byref(out), err)), progress)
    return Graph._of(out)
