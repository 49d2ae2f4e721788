# SPDX-License-Identifier: MIT
"""Graphs: arrays of the library, of a file that is mapped, or of NumPy, each where it lies."""

from __future__ import annotations

import ctypes
import os
from typing import TYPE_CHECKING, Any, Optional, Tuple, Union

import numpy as np
import numpy.typing as npt

from ._abi import CONSTANTS, GenerateOptions, GraphStruct, ReadOptions, lib
from ._call import InputError, Progress, Status, call, choice, integer, quick, real

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Array = npt.NDArray[Any]
Path = Union[str, "os.PathLike[str]"]

_WEIGHTS = {np.dtype(np.uint32): CONSTANTS["WEIGHT_U32"], np.dtype(np.float32): CONSTANTS["WEIGHT_F32"],
            np.dtype(np.float64): CONSTANTS["WEIGHT_F64"]}
_WEIGHT_DTYPES = {number: dtype for dtype, number in _WEIGHTS.items()}
_NAME_BYTES = 127
_PIECE = 1 << 20  # edges that are looked at in one go


class _Handle:
    """A graph of the library's, closed when nobody has it any more, and what must live as long."""

    def __init__(self, pointer: Any, keep: Tuple[Any, ...] = ()):
        self.pointer = pointer
        self.keep = keep

    # bound now: when the interpreter ends, modules may be gone before graphs are
    def __del__(self, close: Any = lib.gtu_graph_close) -> None:
        close(self.pointer)


class _Span:
    """Memory that NumPy may look at, and its owner, which lives as long as an array over it."""

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
    """@given as an array of one dimension, one of @dtypes, and without gaps; never a copy of an array."""
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
    """The same memory as unsigned numbers."""
    if array.dtype.kind == "u":
        return array
    if array.size and array.min() < 0:
        at = int(np.flatnonzero(array < 0)[0])
        raise InputError(Status.INPUT, f"{name}[{at}] is {array[at]}; it must be 0 or more")
    return array.view(array.dtype.str.replace("i", "u"))


def _weights_of(data: Any, m: int) -> Optional[Array]:
    if data is None:
        return None
    advice = "convert it, as data.astype(numpy.float64), or leave it out"
    weights = _plain("data", data, (np.uint32, np.int32, np.float32, np.float64), advice)
    if len(weights) != m:
        raise ValueError(f"data has {len(weights)} weights; there are {m} edges")
    return _no_negative("data", weights) if weights.dtype.kind == "i" else weights


def _hash(x: Array) -> Array:
    """The finishing of splitmix64."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ x >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ x >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    mixed: Array = x ^ x >> np.uint64(31)
    return mixed


class Graph:
    """
    A directed graph as a CSR: the edges of vertex v lead to indices[indptr[v]:indptr[v + 1]]. Vertices are
    0..n-1; what a file called them is in `ids`.

    Made by load(), generate(), Graph.from_csr() and Graph.from_scipy(). Its arrays are read-only views of where the
    graph is (a mapped file, the library's memory, an array of the caller's); each keeps it alive. Nothing is
    copied but where a line says so.
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
        A graph over the caller's arrays, which are not copied and must not be changed while there is one: `indices`
        (int32, uint32, int64, uint64) and `data` (uint32, int32, float32, float64), its weights. `indptr` is
        of 8 bytes in the library: one of 4, as SciPy has it, is widened (n + 1 entries).

        @directed False promises that each edge is stored both ways, which is looked at. @ids, ascending, are
        what the vertices are called. Rows and edges out of bounds are an InputError; unlike a promise, this is
        looked at again whenever an algorithm runs. Arrays with gaps are a ValueError, others a TypeError.
        """
        rows = _plain("indptr", indptr, (np.int64, np.uint64, np.int32, np.uint32), "numbers of edges")
        col = _plain("indices", indices, (np.int32, np.uint32, np.int64, np.uint64), "numbers of vertices")
        if not len(rows):
            raise ValueError("indptr is empty; it has one entry more than there are vertices")
        if len(rows) - 1 > 1 << 32 and col.dtype.itemsize == 4:
            raise TypeError(f"indices of 4 bytes reach 4294967296 vertices and indptr is for {len(rows) - 1}")
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
        array = _plain("ids", ids, (np.int64, np.uint64), "numbers that ascend")
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
        # where nothing is, a slice may begin anywhere
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
        A graph over a SciPy CSR matrix or array, as from_csr() has it: entry (u, v) is an edge from u to v.
        @weights False leaves its values out. Other formats are a TypeError: matrix.tocsr() makes a copy.
        """
        if getattr(matrix, "format", None) != "csr":
            raise TypeError(f"{type(matrix).__name__} is no CSR matrix of SciPy's: matrix.tocsr() makes one")
        if matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"a matrix of {matrix.shape[0]} rows and {matrix.shape[1]} columns is no graph; "
                             "it must be square")
        # room behind the entries is no error in SciPy
        nnz = int(matrix.indptr[-1])
        return cls.from_csr(matrix.indptr, matrix.indices[:nnz], matrix.data[:nnz] if weights else None,
                            directed=directed, name=name, progress=progress)

    # ---- What it is ----

    @property
    def n(self) -> int:
        """Vertices."""
        return int(self._struct.n)

    @property
    def m(self) -> int:
        """Entries of `indices`: an edge that goes both ways is two."""
        return int(self._struct.m)

    @property
    def directed(self) -> bool:
        """False: each edge is stored both ways."""
        return bool(self._struct.flags & CONSTANTS["GRAPH_DIRECTED"])

    @property
    def name(self) -> str:
        """The file's name, or how it was generated."""
        return bytes(self._struct.name).decode(errors="replace")

    def __repr__(self) -> str:
        weights = "" if not self._struct.weight_type else f", {_WEIGHT_DTYPES[self._struct.weight_type]} weights"
        return (f"<gtu.Graph {self.name!r}: {self.n} vertices, {self.m} edges, "
                f"{'directed' if self.directed else 'each both ways'}{weights}>")

    # ---- Its arrays ----

    @property
    def indptr(self) -> Array:
        """n + 1 int64: where each vertex' edges begin; a view."""
        return _view(self._handle, self._struct.row, self.n + 1, np.int64)

    @property
    def indices(self) -> Array:
        """m int32 (uint32 from 2^31 vertices on) or int64: where each edge leads; a view."""
        if self._struct.edge_bytes == 8:
            return _view(self._handle, self._struct.col, self.m, np.int64)
        return _view(self._handle, self._struct.col, self.m, np.int32 if self.n <= 1 << 31 else np.uint32)

    @property
    def weights(self) -> Optional[Array]:
        """m uint32, float32 or float64, a view; None where every edge is 1."""
        if not self._struct.weight_type:
            return None
        return _view(self._handle, self._struct.weight, self.m, _WEIGHT_DTYPES[self._struct.weight_type])

    @property
    def ids(self) -> Array:
        """What the input called each vertex, ascending: n int64; a view where the graph has a list of them."""
        if self._struct.ids:
            return _view(self._handle, self._struct.ids, self.n, np.int64)
        return np.arange(self._struct.id_base, self._struct.id_base + self.n, dtype=np.int64)

    @property
    def degrees(self) -> Array:
        """n int64: edges of each vertex; a new array."""
        return np.diff(self.indptr)

    def vertex(self, id: int) -> int:
        """The vertex that the input called @id; InputError, with the ids that exist, if there is none."""
        out = ctypes.c_uint64()
        number = integer("id", id, 0, 2**64 - 1)
        quick(lambda err: int(lib.gtu_graph_vertex(self._handle.pointer, number, ctypes.byref(out), err)))
        return int(out.value)

    # ---- Others made of it ----

    def with_weights(self, data: Any) -> Graph:
        """This graph with other weights, one an edge as from_csr() takes them, or with None; nothing is copied."""
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
        """A new graph with every edge turned round."""
        return self._made(lib.gtu_graph_transpose, progress)

    def symmetrized(self, progress: Progress = None) -> Graph:
        """A new graph with each edge both ways, self loops once, duplicates merged (the first weight stays)."""
        return self._made(lib.gtu_graph_symmetrize, progress)

    def _made(self, function: Any, progress: Progress) -> Graph:
        out = ctypes.POINTER(GraphStruct)()
        call(lambda p, err: int(function(self._handle.pointer, p, ctypes.byref(out), err)), progress)
        return Graph._of(out)

    def to_scipy(self, progress: Progress = None) -> csr_array[Any]:
        """
        A SciPy CSR array over this graph's memory, read-only; values are the weights, or new ones of 1.0. SciPy
        wants `indptr` and `indices` of one type: with 4-byte edges `indptr` is a copy of n + 1 entries (with 2^31
        edges or more, or as many vertices, both are of 8 bytes, and `indices` is the copy). SciPy trusts its arrays:
        the graph is checked first.
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
        # its constructor would narrow what fits 4 bytes, which is a copy
        matrix.data = np.ones(self.m) if weights is None else weights
        matrix.indices, matrix.indptr = indices, indptr
        return matrix

    # ---- Its promises, and files ----

    def check(self, progress: Progress = None) -> None:
        """
        Look whether rows and edges are in bounds, ids ascend and, for a mapped container, its checksums hold: all is read,
        once. InputError with the first entry that is wrong. Graphs over NumPy's arrays are looked at each time.
        """
        call(lambda p, err: int(lib.gtu_graph_check(self._handle.pointer, p, err)), progress)
        if self._handle.keep:
            self._struct.flags &= ~CONSTANTS["GRAPH_CHECKED"]

    def _check_both_ways(self) -> None:
        """The set of edges (u, v) is that of all (v, u): by a sum over hashes of both, so that no memory is taken."""
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
            raise InputError(Status.INPUT, f"{self.name}: not each edge is stored both ways: directed=True, or "
                                           "symmetrized()")

    def save(self, path: Path, *, compressed: bool = False, adapt: bool = False, progress: Progress = None) -> str:
        """
        Write it in the format that the end of @path names: .gtu, the native container, which load() maps where it lies
        (@compressed: smaller, and decoded instead), .mtx, .txt, .gr, .graph, .e, .bel, .sg or .wsg. @adapt: what a
        format cannot hold is left out or made up, and the sentence that is returned says what; else it is an Error.
        """
        encoded = os.fsencode(path)
        changed = ctypes.create_string_buffer(CONSTANTS["ERROR_TEXT"])
        flags = CONSTANTS["WRITE_ADAPT"] if adapt else 0
        if compressed and encoded.endswith(b".gtu"):
            call(lambda p, err: int(lib.gtu_graph_save_compressed(self._handle.pointer, encoded, p, err)), progress)
        elif compressed:
            raise ValueError(f"{os.fsdecode(path)} does not end in .gtu, the one format that is compressed")
        else:
            call(lambda p, err: int(lib.gtu_graph_write(self._handle.pointer, encoded, flags, changed, p, err)),
                 progress)
        return changed.value.decode(errors="replace")


def load(path: Path, *, directed: Optional[bool] = None, edge_bytes: Optional[int] = None,
         weight_column: Union[int, bool, None] = None, simplify: bool = False, progress: Progress = None) -> Graph:
    """
    Open a graph by path: a native container is mapped, anything else (Matrix Market, SNAP, DIMACS, METIS, ...;
    xz, gzip and zstd are undone) is read.

    @directed: take the file's edges one way (True) or both ways (False), instead of what it says. @weight_column of
    a text file, 1 being the first after the ids; False: no weights. @edge_bytes 4 or 8; else what fits. @simplify drops
    self loops and duplicates. InputError with file, line and reason; Error for what the system refuses.
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
    encoded = os.fsencode(path)
    call(lambda p, err: int(lib.gtu_graph_open(encoded, ctypes.byref(options), p, ctypes.byref(out), err)), progress)
    return Graph._of(out)


def generators() -> Tuple[str, ...]:
    """What generate() knows."""
    return tuple(lib.gtu_generator_name(i).decode() for i in range(CONSTANTS["GENERATORS"]))


def generate(kind: str, *, scale: Optional[int] = None, n: Optional[int] = None, degree: Optional[float] = None,
             exponent: Optional[float] = None, seed: int = 0, edge_bytes: Optional[int] = None, weights: int = 0,
             directed: bool = False, simplify: bool = False, unknowns: int = 0, threads: int = 0,
             progress: Progress = None) -> Graph:
    """
    A graph by rule and seed: "kronecker", "uniform", "powerlaw", "delaunay", "planar", "road", "fem3d", of
    2^@scale or of @n vertices. The same options give the same graph everywhere.

    @degree: edges drawn a vertex (kronecker, uniform), or the mean degree. @exponent: of powerlaw. @weights: the
    greatest of random integer weights from 1 on; 0: none. @directed: keep one direction. @simplify drops self loops
    and duplicates. @unknowns: of fem3d, vertices a node.
    """
    kinds = generators()
    options = GenerateOptions()
    options.kind = kinds.index(choice("kind", kind, kinds))
    if (scale is None) == (n is None):
        raise TypeError("a graph needs either scale, the logarithm of its vertices, or n, their number")
    if scale is not None:
        options.scale = integer("scale", scale, 1, 40)
        options.n = 1 << options.scale
    else:
        options.n = integer("n", n, 1, 1 << 40)
        if kind == "kronecker":
            if options.n & (options.n - 1) or options.n < 2:
                raise ValueError(f"n is {options.n}; kronecker graphs have a power of two: scale")
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
