# SPDX-License-Identifier: MIT
"""Graphs over arrays: ownership, lifetime, and rejected arguments."""

import gc
import os
import tempfile
import unittest
import warnings

import numpy as np

import gtu
from support import INDICES, INDPTR, WEIGHTS, address, real_graph, simple, small, tool, units_of

try:
    import scipy.io
    import scipy.sparse
except ImportError:
    scipy = None
try:
    import networkx
except ImportError:
    networkx = None


def save_large(path):
    """Save a graph that load() maps, because its file has more than 64 MiB and only its owner can write to it."""
    indices = np.arange(17 << 20, dtype=np.uint32) % 4
    gtu.Graph.from_csr(np.array([0, 0, 0, 0, len(indices)], np.int64), indices).save(path)
    os.chmod(path, 0o644)
    return indices


def is_mapped(array, path):
    with open("/proc/self/maps", encoding="ascii") as f:
        spans = [[int(x, 16) for x in line.split()[0].split("-")] for line in f if path in line]
    return any(a <= address(array) < b for a, b in spans)


class Arrays(unittest.TestCase):
    def test_numpy_arrays_are_not_copied(self):
        for indices in (np.int32, np.uint32, np.int64, np.uint64):
            for weights in (np.uint32, np.int32, np.float32, np.float64):
                for rows in (np.int64, np.uint64):
                    p, i, w = INDPTR.astype(rows), INDICES.astype(indices), WEIGHTS.astype(weights)
                    g = gtu.Graph.from_csr(p, i, w)
                    self.assertEqual([address(g.indptr), address(g.indices), address(g.weights)],
                                     [address(p), address(i), address(w)])
                    np.testing.assert_array_equal(g.indices, i)
                    np.testing.assert_array_equal(g.weights, w)
        self.assertEqual(g.indices.dtype, np.int64)
        self.assertIsNone(small().weights)

    def test_int32_row_offsets_are_widened_to_int64(self):
        g = gtu.Graph.from_csr(INDPTR.astype(np.int32), INDICES)
        np.testing.assert_array_equal(g.indptr, INDPTR)
        self.assertEqual(g.indptr.dtype, np.int64)

    def test_8_byte_weights_are_converted_only_without_loss(self):
        for given, values, dtype in ((np.int64, [1, 2, 3, 4, 2**32 - 1], np.uint32), (np.int64, [1, 2, 3, 4, 2**53], np.float64),
                                     (np.int64, [1, 2, 3, 4, -5], np.float64), (np.uint64, [1, 2, 3, 4, 2**32 - 1], np.uint32),
                                     (np.uint64, [1, 2, 3, 4, 2**53], np.float64)):
            data = np.array(values, dtype=given)[:len(INDICES)]
            data[-1] = values[-1]
            g = gtu.Graph.from_csr(INDPTR, INDICES, data)
            self.assertEqual(g.weights.dtype, dtype)
            self.assertEqual(g.weights.tolist(), data.tolist())
        for given, value in ((np.int64, 2**53 + 1), (np.uint64, 2**53 + 1), (np.uint64, 2**64 - 1)):
            data = np.full(len(INDICES), value, given)
            with self.assertRaisesRegex(TypeError, "above 2.53"), warnings.catch_warnings():
                warnings.simplefilter("error")
                gtu.Graph.from_csr(INDPTR, INDICES, data)

    @unittest.skipUnless(networkx, "no networkx")
    def test_networkx_graphs_keep_their_nodes(self):
        for kind in (networkx.Graph, networkx.DiGraph):
            x = kind([("alice", "bob", {"cost": 2}), ("bob", "carol", {"cost": 3})], name="friends")
            g, nodes = gtu.Graph.from_networkx(x, weight="cost")
            self.assertEqual((g.n, g.directed, g.name), (3, kind is networkx.DiGraph, "friends"))
            distance = gtu.run(g, "sssp", source=nodes.index("alice")).values
            self.assertEqual(dict(zip(nodes, distance)), {"alice": 0, "bob": 2, "carol": 5})
            self.assertEqual(sorted(g.to_networkx(nodes).edges()), sorted(x.edges()))
            self.assertEqual(sorted(g.to_networkx().nodes()), [0, 1, 2])

    @unittest.skipUnless(scipy, "no SciPy")
    def test_scipy_arrays_are_not_copied_in_or_out(self):
        for index in (np.int32, np.int64):
            for make in (scipy.sparse.csr_array, scipy.sparse.csr_matrix):
                m = make((4, 4))
                m.data, m.indices, m.indptr = WEIGHTS.copy(), INDICES.astype(index), INDPTR.astype(index)
                g = gtu.Graph.from_scipy(m)
                self.assertEqual([address(g.indices), address(g.weights)], [address(m.indices), address(m.data)])
                out = g.to_scipy()
                self.assertEqual([address(out.indices), address(out.data)], [address(m.indices), address(m.data)])
                if index is np.int64:
                    self.assertEqual([address(g.indptr), address(out.indptr)], [address(m.indptr)] * 2)
                self.assertEqual((out != m).nnz, 0)
                np.testing.assert_array_equal(out @ np.ones(4), m @ np.ones(4))

    @unittest.skipUnless(scipy, "no SciPy")
    def test_to_scipy_shares_the_arrays_of_a_generated_graph(self):
        g = simple(weights=9)
        m = g.to_scipy()
        self.assertEqual([address(m.indices), address(m.data)], [address(g.indices), address(g.weights)])
        np.testing.assert_array_equal(m.indptr, g.indptr)
        self.assertEqual(m.nnz, g.m)
        unweighted = g.with_weights(None).to_scipy()
        self.assertEqual(unweighted.sum(), g.m)
        self.assertEqual(address(unweighted.indices), address(g.indices))

    def test_a_saved_container_loads_with_equal_arrays(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "g.gtu")
            g = simple(weights=7)
            for compressed in (False, True):
                g.save(path, compressed=compressed)
                h = gtu.load(path)
                h.check()
                for a, b in ((g.indptr, h.indptr), (g.indices, h.indices), (g.weights, h.weights)):
                    np.testing.assert_array_equal(a, b)
            self.assertIn("4,294   each edge in both directions", tool("stat", path))

    def test_a_large_container_is_mapped(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "g.gtu")
            save_large(path)
            self.assertTrue(is_mapped(gtu.load(path).indptr, path))

    def test_truncating_a_small_container_leaves_its_graph_intact(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "g.gtu")
            g = simple(scale=12)
            g.save(path)
            h = gtu.load(path)
            os.truncate(path, 0)
            np.testing.assert_array_equal(h.indices, g.indices)
            h.check()

    def test_with_weights_replaces_the_weights_without_a_copy(self):
        g = small()
        h = g.with_weights(WEIGHTS)
        self.assertEqual([address(h.indptr), address(h.indices), address(h.weights)],
                         [address(INDPTR), address(INDICES), address(WEIGHTS)])
        self.assertIsNone(g.weights)
        self.assertIsNone(h.with_weights(None).weights)
        named = gtu.Graph.from_csr(INDPTR, INDICES, ids=np.array([5, 7, 9, 11])).with_weights(WEIGHTS)
        self.assertEqual(named.vertex(9), 2)


class ArrayLifetime(unittest.TestCase):
    def test_a_view_outlives_its_graph(self):
        g = simple(scale=12, weights=5)
        views = (g.indptr, g.indices, g.weights)
        copies = [v.copy() for v in views]
        del g
        gc.collect()
        noise = [simple(scale=12, weights=9, seed=s) for s in range(4)]
        for v, c in zip(views, copies):
            np.testing.assert_array_equal(v, c)
        del noise

    def test_a_view_keeps_the_mapping_of_a_deleted_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "g.gtu")
            expected = save_large(path)
            view = gtu.load(path).indices
        gc.collect()
        self.assertTrue(is_mapped(view, path))
        np.testing.assert_array_equal(view, expected)

    def test_a_graph_keeps_its_source_arrays_alive(self):
        p, i, w = INDPTR.copy(), INDICES.copy(), WEIGHTS.copy()
        g = gtu.Graph.from_csr(p, i, w)
        del p, i, w
        gc.collect()
        noise = [np.full(4, 77, np.uint32) for _ in range(1000)]
        np.testing.assert_array_equal(g.indices, INDICES)
        np.testing.assert_array_equal(gtu.run(g, "sssp", source=0).values, [0, 1.5, 3.5, np.inf])
        del noise

    def test_a_derived_graph_outlives_its_original(self):
        g = simple(scale=10, weights=5)
        hops = gtu.run(g, "bfs", source=0).values.copy()
        h = g.with_weights(None)
        del g
        gc.collect()
        np.testing.assert_array_equal(gtu.run(h, "bfs", source=0).values, hops)

    @unittest.skipIf("libasan" in os.environ.get("LD_PRELOAD", ""), "AddressSanitizer holds on to what was freed")
    def test_dropped_graphs_release_their_memory(self):
        def rss():
            with open("/proc/self/statm", encoding="ascii") as f:
                return int(f.read().split()[1]) * 4096

        i = np.zeros(1 << 20, np.uint32)
        p = np.array([0, len(i)])
        gtu.Graph.from_csr(p, i)
        gc.collect()
        before = rss()
        for _ in range(50):
            v = gtu.generate("uniform", n=1 << 14, degree=8).indices
            gtu.Graph.from_csr(p, i)
        del v
        gc.collect()
        self.assertLess(rss() - before, 20 << 20)

    def test_views_are_read_only(self):
        for array in (small(WEIGHTS).indptr, small(WEIGHTS).indices, small(WEIGHTS).weights, simple().indices):
            with self.assertRaises(ValueError):
                array[0] = 1

    def test_the_graph_constructor_raises_a_type_error(self):
        with self.assertRaises(TypeError):
            gtu.Graph()


class InvalidInput(unittest.TestCase):
    def refused(self, error, words, *arrays, **more):
        with self.assertRaisesRegex(error, words):
            gtu.Graph.from_csr(*arrays, **more)

    def test_arrays_of_unsupported_types_are_rejected(self):
        self.refused(TypeError, "indptr is of float64", INDPTR.astype(float), INDICES)
        self.refused(TypeError, "indices is of int16", INDPTR, INDICES.astype(np.int16))
        self.refused(TypeError, "indices is of >u4", INDPTR, INDICES.astype(">u4"))
        self.refused(TypeError, "data is of int16", INDPTR, INDICES, INDICES.astype(np.int16))
        self.refused(TypeError, "data is of complex128", INDPTR, INDICES, WEIGHTS.astype(complex))
        self.refused(TypeError, "indices is of object", INDPTR, np.array([None] * 4))
        self.refused(TypeError, "ids is of int32", INDPTR, INDICES, ids=np.arange(4, dtype=np.int32))

    def test_arrays_of_wrong_shapes_are_rejected(self):
        self.refused(ValueError, "indptr is empty", INDPTR[:0], INDICES)
        self.refused(ValueError, "indices has 2 dimensions", INDPTR, INDICES.reshape(2, 2))
        self.refused(ValueError, "data has 3 weights; there are 4 edges", INDPTR, INDICES, WEIGHTS[:3])
        self.refused(ValueError, "ids has 3 entries", INDPTR, INDICES, ids=np.arange(3))
        self.refused(ValueError, "indptr has 0 dimensions", 3, INDICES)

    def test_non_contiguous_arrays_are_rejected(self):
        self.refused(ValueError, "indices has gaps .a stride of 8", INDPTR, np.repeat(INDICES, 2)[::2])
        self.refused(ValueError, "indptr has gaps .a stride of -8", INDPTR[::-1], INDICES)
        self.refused(ValueError, "data has gaps", INDPTR, INDICES, np.repeat(WEIGHTS, 2)[::2])

    def test_misaligned_arrays_are_rejected(self):
        room = np.zeros(5, np.uint32)
        room[1:] = INDICES
        self.refused(ValueError, "must be a multiple of 8 bytes", INDPTR, room[1:])
        odd = np.frombuffer(b"x" + INDPTR.tobytes(), np.int64, offset=1)
        self.refused(ValueError, "must be a multiple of 8 bytes", odd, INDICES)

    def test_invalid_row_offsets_are_rejected(self):
        self.refused(gtu.InputError, "from 0 to 4; they must go from 0 to the 3", INDPTR, INDICES[:3].copy())
        self.refused(gtu.InputError, "row offset 2 is 2", np.array([0, 3, 2, 4, 4]), INDICES)
        self.refused(gtu.InputError, "row offset 1 is 9", np.array([0, 9, 2, 4, 4]), INDICES)
        self.refused(gtu.InputError, r"indptr\[1\] is -1", np.array([0, -1, 2, 4, 4]), INDICES)
        self.refused(gtu.InputError, "4 edges without a vertex|from 0 to 0", np.array([0]), INDICES)

    def test_edge_targets_out_of_range_are_rejected(self):
        i = INDICES.astype(np.int64)
        for bad in (4, 2**31, 2**62):
            i[2] = bad
            self.refused(gtu.InputError, f"the target of edge 2 is vertex {bad}, but there are 4", INDPTR, i)
        i[2] = -1
        self.refused(gtu.InputError, r"indices\[2\] is -1; it must be 0 or more", INDPTR, i)
        with self.assertRaises(gtu.InputError) as caught:
            gtu.Graph.from_csr(INDPTR, i)
        self.assertEqual(caught.exception.code, gtu.Status.INPUT)

    def test_negative_int32_weights_and_invalid_ids_are_rejected(self):
        self.refused(gtu.InputError, r"data\[1\] is -4", INDPTR, INDICES, np.array([1, -4, 2, 1], np.int32))
        self.refused(gtu.InputError, "ids must ascend", INDPTR, INDICES, ids=np.array([1, 3, 3, 4]))
        self.refused(gtu.InputError, r"ids\[0\] is -1", INDPTR, INDICES, ids=np.array([-1, 3, 4, 5]))

    def test_directed_false_requires_edges_in_both_directions(self):
        self.refused(gtu.InputError, "not every edge is stored in both directions", INDPTR, INDICES, directed=False)
        g = small().symmetrized()
        self.assertFalse(g.directed)
        h = gtu.Graph.from_csr(g.indptr, g.indices, directed=False)
        self.assertFalse(h.directed)
        large = simple(scale=12)
        gtu.Graph.from_csr(large.indptr, large.indices, directed=False)
        bent = large.indices.copy()
        bent[77] = (bent[77] + 1) % large.n
        self.refused(gtu.InputError, "in both directions", large.indptr, bent, directed=False)

    def test_arrays_changed_out_of_bounds_raise_an_input_error(self):
        i = INDICES.copy()
        g = gtu.Graph.from_csr(INDPTR, i, WEIGHTS)
        i[1] = 4_000_000_000
        for algorithm in gtu.ALGORITHMS:
            for unit in units_of(algorithm):
                more = {"target": 2} if algorithm == "stcon" else {}
                with self.assertRaisesRegex(gtu.InputError, "vertex 4000000000"):
                    gtu.run(g, algorithm, unit=unit, **more)
        for function in (g.check, g.transposed, g.symmetrized, g.to_scipy):
            with self.assertRaisesRegex(gtu.InputError, "vertex 4000000000"):
                function()

    @unittest.skipUnless(scipy, "no SciPy")
    def test_from_scipy_rejects_unsupported_matrices(self):
        def refused(error, words, m):
            with self.assertRaisesRegex(error, words):
                gtu.Graph.from_scipy(m)

        square = scipy.sparse.random(5, 5, 0.5, random_state=1)
        refused(TypeError, "tocsr", square.tocsc())
        refused(TypeError, "tocsr", square.tocoo())
        refused(TypeError, "ndarray is not a SciPy CSR", square.toarray())
        refused(ValueError, "5 rows and 4 columns", square.tocsr()[:, :4])
        refused(TypeError, "data is of bool", square.tocsr().astype(bool))
        g = gtu.Graph.from_scipy(square.tocsr().astype(bool), weights=False)
        self.assertEqual(g.m, square.nnz)


class Files(unittest.TestCase):
    def test_load_keeps_the_vertex_ids_of_the_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/e.txt"
            with open(path, "w", encoding="ascii") as f:
                f.write("10 20\n20 40\n40 10\n")
            g = gtu.load(path, directed=True)
            self.assertEqual(g.ids.tolist(), [10, 20, 40])
            self.assertEqual(g.vertex(40), 2)
            self.assertTrue(g.directed)
            with self.assertRaisesRegex(gtu.InputError, "no vertex 30: the 3 vertices .* 10 to 40"):
                g.vertex(30)
            self.assertEqual(gtu.load(path, directed=False).m, 6)
            self.assertEqual(gtu.generate("uniform", n=8).ids.tolist(), list(range(8)))

    def test_paths_with_a_zero_byte_are_rejected(self):
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/g.gtu"
            simple().save(path)
            for run in (lambda: gtu.load(path + "\0.mtx"), lambda: simple().save(folder + "/x\0.gtu"),
                        lambda: simple().save(folder + "/x.mtx\0.gtu", compressed=True), lambda: gtu.Device("model\0:x")):
                with self.assertRaisesRegex(ValueError, "zero byte"):
                    run()
            self.assertEqual(os.listdir(folder), ["g.gtu"])

    def test_invalid_files_and_paths_raise_errors(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(gtu.Error, "none.gtu"):
                gtu.load(folder + "/none.gtu")
            with open(folder + "/bad.mtx", "w", encoding="ascii") as f:
                f.write("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 7 0.5\n")
            with self.assertRaisesRegex(gtu.InputError, "bad.mtx:3") as caught:
                gtu.load(folder + "/bad.mtx")
            self.assertEqual(caught.exception.code, gtu.Status.INPUT)
            simple().save(folder + "/g.gtu")
            with open(folder + "/g.gtu", "r+b") as f:
                f.seek(4096 + 16)
                f.write(b"\xff" * 8)
            damaged = gtu.load(folder + "/g.gtu")
            with self.assertRaises(gtu.InputError):
                damaged.check()
            with self.assertRaises(gtu.InputError):
                gtu.run(damaged, "bfs", source=1, unit="none")
            with self.assertRaises(gtu.Error):
                simple().save(folder + "/no/such/folder.gtu")

    def test_exported_formats_load_with_equal_arrays(self):
        g = simple(weights=9)
        with tempfile.TemporaryDirectory() as folder:
            for end in ("mtx", "gr", "graph"):
                self.assertIn("from 1 on", g.save(f"{folder}/g.{end}", adapt=True))
                back = gtu.load(f"{folder}/g.{end}")
                np.testing.assert_array_equal(back.indptr, g.indptr)
                np.testing.assert_array_equal(back.indices, g.indices)
                np.testing.assert_array_equal(back.weights, g.weights)
            with self.assertRaisesRegex(gtu.InputError, "xyz"):
                g.save(folder + "/g.xyz")
            with self.assertRaisesRegex(ValueError, "does not end in .gtu"):
                g.save(folder + "/g.mtx", compressed=True)
            directed = small(WEIGHTS)
            with self.assertRaises(gtu.Error) as caught:
                directed.save(folder + "/d.graph")
            self.assertEqual(caught.exception.code, gtu.Status.UNSUPPORTED)

    def test_generate_is_reproducible_and_rejects_bad_arguments(self):
        self.assertIn("fem3d", gtu.generators())
        for kind in gtu.generators():
            g = gtu.generate(kind, scale=6, weights=3, seed=5)
            self.assertGreater(g.m, 0)
            again = gtu.generate(kind, scale=6, weights=3, seed=5)
            for a, b in zip((g.indptr, g.indices, g.weights), (again.indptr, again.indices, again.weights)):
                np.testing.assert_array_equal(a, b)
        for error, more in ((ValueError, {"kind": "nonsense", "scale": 4}), (TypeError, {"scale": 4, "n": 16}),
                            (TypeError, {}), (ValueError, {"n": 9}), (ValueError, {"scale": 41}),
                            (ValueError, {"scale": 2**40}), (TypeError, {"scale": 4.0}), (TypeError, {"scale": True}),
                            (ValueError, {"scale": 4, "degree": float("nan")}), (ValueError, {"scale": 4, "seed": -1}),
                            (TypeError, {"scale": 4, "degree": "many"}), (ValueError, {"scale": 4, "weights": 2**32}),
                            (gtu.InputError, {"scale": 4, "exponent": 2.5})):
            with self.assertRaises(error):
                gtu.generate(**{"kind": "kronecker", **more})

    @unittest.skipUnless(scipy, "no SciPy")
    def test_load_and_scipy_read_the_same_real_graph(self):
        path = real_graph("karate.mtx")
        m = scipy.sparse.csr_matrix(scipy.io.mmread(str(path)))
        m.sort_indices()
        g = gtu.load(path)
        np.testing.assert_array_equal(g.indptr, m.indptr)
        np.testing.assert_array_equal(g.indices, m.indices)


if __name__ == "__main__":
    unittest.main()
