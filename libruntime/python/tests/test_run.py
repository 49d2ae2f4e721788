# SPDX-License-Identifier: MIT
"""Algorithms compared with SciPy, networkx and the tool; rejected arguments; devices."""

import contextlib
import dataclasses
import json
import tempfile
import threading
import unittest

import numpy as np

import gtu
from support import INDPTR, UNITS, WEIGHTS, real_graph, simple, small, tool, units_of

try:
    import scipy.sparse.csgraph as csgraph
except ImportError:
    csgraph = None
try:
    import networkx
except ImportError:
    networkx = None

#: Names of real graphs.
REAL = ("karate.mtx", "USAir97.mtx.xz", "as20000102.txt.xz", "rome99-reduced.gr.xz", "wiki-Vote.txt.xz",
        "airfoil1.graph.xz")


def graphs():
    yield simple(weights=20)
    yield simple("uniform", directed=True, weights=9)
    yield simple("road")
    yield simple("powerlaw")


def levels(g, source):
    d = csgraph.dijkstra(g.to_scipy(), indices=source, unweighted=True)
    return np.where(np.isinf(d), -1, d).astype(np.int64)


def components(g):
    _, label = csgraph.connected_components(g.to_scipy(), connection="weak")
    lowest = np.full(label.max() + 1, g.n, np.int64)
    np.minimum.at(lowest, label, np.arange(g.n))
    return lowest[label]


def ranks(g):
    """PageRank by SciPy, as a reference where networkx is missing."""
    rank, out = np.full(g.n, 1 / g.n), g.degrees
    m = g.with_weights(None).to_scipy()
    for _ in range(200):
        share = np.divide(rank, out, out=np.zeros(g.n), where=out > 0)
        rank = 0.85 * (m.T @ share + rank[out == 0].sum() / g.n) + 0.15 / g.n
    return rank


@unittest.skipUnless(csgraph, "no SciPy")
class AgainstScipy(unittest.TestCase):
    def one(self, g, units):
        source = int(np.argmax(g.degrees))
        hops, parts, rank = levels(g, source), components(g), ranks(g)
        distance = csgraph.dijkstra(g.to_scipy().astype(float), indices=source)
        for unit in units:
            with self.subTest(graph=g.name, unit=unit):
                run = lambda a, **more: gtu.run(g, a, unit=unit, **more)
                np.testing.assert_array_equal(run("bfs").values, hops)
                self.assertEqual(run("bfs").source, source)
                np.testing.assert_allclose(run("sssp", source=source).values, distance, rtol=1e-6)
                np.testing.assert_array_equal(run("cc").values, parts)
                np.testing.assert_allclose(run("pr", iterations=200).values, rank, rtol=1e-9)

    def test_every_unit_agrees_with_scipy_on_generated_graphs(self):
        for g in graphs():
            self.one(g, UNITS)

    def test_scu_and_iru_agree_with_scipy_on_real_graphs(self):
        for name in REAL:
            with self.subTest(graph=name):
                self.one(gtu.load(real_graph(name)), ("scu", "iru"))

    def test_scu_and_peg_agree_with_scipy_on_its_matrices(self):
        for dtype in (np.int32, np.float32, np.float64):
            m = (csgraph.csgraph_from_dense(np.random.default_rng(3).integers(0, 5, (60, 60))) * 2).astype(dtype).tocsr()
            self.one(gtu.Graph.from_scipy(m), ("scu", "peg"))

    def test_bfs_agrees_with_scipy_on_8_byte_edges(self):
        g = simple("powerlaw")
        wide = gtu.Graph.from_csr(g.indptr, g.indices.astype(np.int64), directed=False)
        for unit in UNITS:
            np.testing.assert_array_equal(gtu.run(wide, "bfs", source=3, unit=unit).values, levels(g, 3))


@unittest.skipUnless(networkx and csgraph, "no networkx")
class AgainstNetworkx(unittest.TestCase):
    def setUp(self):
        self.g = simple(scale=7)
        self.nx = networkx.from_scipy_sparse_array(self.g.to_scipy())

    def test_pagerank_agrees_with_networkx(self):
        for g in (self.g, simple("uniform", scale=7, degree=2, directed=True)):
            x = networkx.from_scipy_sparse_array(g.to_scipy(), create_using=networkx.DiGraph)
            expected = networkx.pagerank(x, weight=None, tol=1e-12, max_iter=500)
            values = gtu.run(g, "pagerank", epsilon=1e-14).values
            np.testing.assert_allclose(values, [expected[v] for v in range(g.n)], rtol=1e-6)

    def test_betweenness_agrees_with_networkx(self):
        expected = networkx.betweenness_centrality(self.nx, normalized=False)
        # each pair counts twice if edges are stored in both directions
        np.testing.assert_allclose(gtu.run(self.g, "bc", sources="all").values / 2,
                                   [expected[v] for v in range(self.g.n)], rtol=1e-9, atol=1e-9)
        some = gtu.run(self.g, "bc", sources=[1, 5]).values + gtu.run(self.g, "bc", sources=np.array([9])).values
        np.testing.assert_allclose(some, gtu.run(self.g, "bc", sources=[1, 5, 9], unit="none").values, rtol=1e-9)

    def test_cores_clustering_and_paths_agree_with_networkx(self):
        cores = networkx.core_number(self.nx)
        for unit in UNITS:
            np.testing.assert_array_equal(gtu.run(self.g, "kc", unit=unit).values,
                                          [cores[v] for v in range(self.g.n)])
        for unit in ("none", "scu", "peg", "weaver"):
            values = gtu.run(self.g, "lcc", unit=unit).values
            expected = networkx.clustering(self.nx)
            np.testing.assert_allclose(values, [expected[v] for v in range(self.g.n)], rtol=1e-9)
        source, target = 1, int(np.argmin(self.g.degrees > 0))
        for t in (5, target):
            try:
                expected = networkx.shortest_path_length(self.nx, source, t)
            except networkx.NetworkXNoPath:
                expected = -1
            self.assertEqual(gtu.run(self.g, "stcon", source=source, target=t).values.tolist(), [expected])

    def test_adjacent_vertices_have_different_colors(self):
        color = gtu.run(self.g, "gc").values
        u = np.repeat(np.arange(self.g.n), self.g.degrees)
        self.assertTrue((color[u] != color[self.g.indices]).all())
        self.assertLess(int(color.max()), int(self.g.degrees.max()) + 1)


class AgainstTheTool(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = folder.name + "/g.gtu"
        self.g = simple(scale=8, weights=11)
        self.g.save(self.path)

    def values(self, algorithm, *words):
        lines = tool("run", algorithm, self.path, "--output", "-", *words).splitlines()
        return [line.split() for line in lines]

    def test_every_algorithm_returns_the_values_of_the_tool(self):
        more = {"stcon": ({"target": 200}, ("--target", 200)), "hash": ({"queries": 999, "seed": 3},
                ("--queries", 999, "--seed", 3)), "bc": ({"sources": 7, "seed": 5}, ("--sources", "7:5")),
                "gcn": ({"features": 3, "seed": 2}, ("--features", 3, "--seed", 2))}
        self.assertEqual(set(more) - set(gtu.ALGORITHMS), set())
        for algorithm in gtu.ALGORITHMS:
            python, words = more.get(algorithm, ({}, ()))
            result = gtu.run(gtu.load(self.path), algorithm, unit="scu", **python)
            ours = result.values
            theirs = self.values(algorithm, *words)
            if algorithm == "hash":
                self.assertEqual([[int(a), int(b), c] for _, a, b, c in theirs],
                                 [[*pair, "none" if place < 0 else str(place)]
                                  for pair, place in zip(result.queries.tolist(), ours.tolist())])
                continue
            rows = np.array([[float(x) for x in line[1:]] for line in theirs])
            rows = np.where(rows == 2.0**63, -1, rows)
            np.testing.assert_array_equal(ours.reshape(rows.shape), rows, algorithm)

    def test_bfs_steps_equal_those_of_the_tool(self):
        theirs = json.loads(tool("run", "bfs", self.path, "--json", "-"))["steps"]
        steps = gtu.run(self.g, "bfs", steps=True).steps
        self.assertEqual(steps["frontier"].tolist(), [s["frontier"] for s in theirs])
        self.assertEqual(steps["edges"].sum(), self.g.degrees[gtu.run(self.g, "bfs").values >= 0].sum())
        self.assertIsNone(gtu.run(self.g, "bfs").steps)
        self.assertEqual(len(gtu.run(self.g, "bc", steps=True).steps), 0)

    def test_the_tool_and_the_module_have_the_same_algorithms(self):
        usage = tool("run", "--help").split("\n  --")[0]
        words = [line.split("  ")[1].split(",")[0] for line in usage.splitlines()
                 if line.startswith("  ") and line[2] != " "]
        names = [w for w in words if w in gtu.ALGORITHMS]
        self.assertEqual(sorted(names), sorted(gtu.ALGORITHMS))
        self.assertEqual(len(words), len(names), words)

    def test_counters_and_statistics_equal_those_of_the_tool(self):
        for unit in ("scu", "iru", "peg", "weaver"):
            theirs = json.loads(tool("run", "bfs", self.path, "--unit", unit, "--json", "-"))
            result = gtu.run(self.g, "bfs", unit=unit)
            self.assertEqual(result.counters, theirs["counters"])
            stats = result.stats
            self.assertEqual([stats.edges, stats.iterations, stats.jobs, stats.job_cycles, result.source],
                             [theirs[k] for k in ("edges_traversed", "iterations", "jobs", "job_cycles", "source")])
            busy = {"weaver": "wvr"}.get(unit, unit)
            self.assertGreater(result.counters[busy]["jobs"], 0)

    def test_hash_answers_the_queries_of_the_caller(self):
        g = small()
        pairs = np.array([[0, 1], [0, 3], [2, 0]])
        result = gtu.run(g, "hash", queries=pairs)
        np.testing.assert_array_equal(result.queries, pairs)
        self.assertEqual((result.values >= 0).tolist(), [True, False, True])


class Arguments(unittest.TestCase):
    def refused(self, error, words, *args, **more):
        with self.assertRaisesRegex(error, words):
            gtu.run(*args, **more)

    def test_unknown_algorithms_units_and_devices_are_rejected(self):
        self.refused(ValueError, "algorithm 'bfd' is none of: bfs, sssp", small(), "bfd")
        self.refused(ValueError, "unit 'gru' is none of: none, scu", small(), "bfs", unit="gru")
        self.refused(ValueError, "direction 'up' is none of: push", small(), "bfs", direction="up")
        self.refused(TypeError, "not a gtu.Graph", INDPTR, "bfs")
        self.refused(gtu.Error, "none.such", small(), "bfs", device="/dev/none.such")

    def test_options_of_other_algorithms_are_rejected(self):
        takes = {"source": 0, "sources": [0], "target": 1, "damping": 0.5, "iterations": 3, "epsilon": 0.1, "delta": 1.0,
                 "features": 2, "queries": 5, "seed": 4, "direction": "push"}
        for algorithm, kind in gtu.ALGORITHMS.items():
            for name, value in takes.items():
                if name not in kind.takes:
                    self.refused(TypeError, f"{algorithm} takes no {name}", small(), algorithm, **{name: value})

    def test_invalid_option_values_are_rejected(self):
        g = small(WEIGHTS)
        for algorithm, name, value in (
                ("bfs", "source", 4), ("bfs", "source", -1), ("bfs", "source", 2**64), ("stcon", "target", 4),
                ("bc", "sources", [0, 4]), ("bc", "sources", []), ("bc", "sources", 0), ("bc", "sources", "some"),
                ("pr", "damping", 1.0), ("pr", "damping", float("nan")), ("pr", "iterations", 0),
                ("pr", "iterations", 2**32), ("pr", "epsilon", float("nan")), ("sssp", "delta", float("nan")),
                ("sssp", "delta", -1), ("gcn", "features", 65537), ("hash", "queries", 0),
                ("hash", "queries", [[0, 4]]), ("hash", "queries", [[0, -1]]), ("gcn", "seed", 2**64),
                ("bfs", "chunk_log2", 32)):
            self.refused(ValueError, f"{name} ", g, algorithm, **{name: value})
        for algorithm, name, value in (("bfs", "source", 1.0), ("bfs", "source", "1"), ("bfs", "source", True),
                                       ("pr", "damping", "half"), ("hash", "queries", [1, 2]),
                                       ("bc", "sources", [0.5])):
            self.refused(TypeError, name, g, algorithm, **{name: value})
        self.refused(TypeError, "stcon needs a target", g, "stcon")
        self.refused(gtu.Error, "needs GraphPEG, Weaver or no unit", g, "bfs", direction="pull")

    def test_sssp_and_gcn_reject_invalid_weights(self):
        for bad in (float("nan"), -1.0):
            weights = WEIGHTS.copy()
            weights[2] = bad
            for unit in UNITS:
                self.refused(gtu.InputError, "the edge from vertex . to vertex . has weight (-?nan|-1)", small(weights), "sssp", unit=unit)
            self.assertEqual(gtu.run(small(weights), "bfs", source=0).values[2], 1)
        weights[2] = np.inf
        self.refused(gtu.InputError, "edge 2 has the weight inf", small(weights), "gcn", unit="none")

    def test_graphs_without_edges_give_values_or_a_value_error(self):
        nothing = gtu.Graph.from_csr(np.zeros(1, np.int64), np.zeros(0, np.uint32))
        one = gtu.Graph.from_csr(np.zeros(2, np.int64), np.zeros(0, np.uint32), np.zeros(0))
        for algorithm, kind in gtu.ALGORITHMS.items():
            for unit in units_of(algorithm):
                with self.subTest(unit=unit, algorithm=algorithm):
                    more = {"target": 0} if algorithm == "stcon" else {"queries": 3} if algorithm == "hash" else {}
                    if {"source", "sources", "queries"} & set(kind.takes):
                        self.refused(ValueError, "no vertices to start from", nothing, algorithm, unit=unit, **more)
                    else:
                        self.assertEqual(gtu.run(nothing, algorithm, unit=unit).values.size, 0)
                    self.assertEqual(len(gtu.run(one, algorithm, unit=unit, **more).values),
                                     3 if algorithm == "hash" else 1)

    def test_a_numpy_integer_is_accepted_as_source(self):
        self.assertEqual(gtu.run(small(), "bfs", source=np.int32(2)).values.tolist(), [1, 2, 0, -1])


class Devices(unittest.TestCase):
    def test_a_device_serves_runs_until_it_is_closed(self):
        g = simple()
        with gtu.device("model:scu_width=8") as dev:
            first = gtu.run(g, "bfs", source=1, device=dev)
            self.assertEqual(gtu.run(g, "bfs", source=1, device=dev).counters, first.counters)
            self.assertEqual(dev.info.backend, "model")
            self.assertIn("scu", dev.info.units)
            self.assertGreater(len(dev.description), 100)
            self.assertEqual(dev.counters(clear=True), first.counters)
            self.assertEqual(dev.counters()["scu"]["jobs"], 0)
        self.assertTrue(dataclasses.is_dataclass(first.stats))
        with self.assertRaisesRegex(ValueError, "closed"):
            gtu.run(g, "bfs", device=dev)
        with self.assertRaisesRegex(ValueError, "closed"):
            dev.counters()
        dev.close()

    def test_threads_can_share_a_device(self):
        g, results = simple(scale=9), []
        expected = gtu.run(g, "bfs", source=1, unit="none").values

        def some(dev):
            try:
                for _ in range(5):
                    np.testing.assert_array_equal(gtu.run(g, "bfs", source=1, device=dev).values, expected)
                    results.append("equal")
            except BaseException as e:  # an exception ends only the thread
                results.append(e)

        with gtu.device() as dev:
            threads = [threading.Thread(target=some, args=(dev,)) for _ in range(4)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
        self.assertEqual(results, ["equal"] * 20)

    def test_a_device_in_use_cannot_be_closed(self):
        with contextlib.ExitStack() as stack:
            dev = stack.enter_context(gtu.device())
            refused = []

            def close(*_):
                try:
                    dev.close()
                except ValueError as e:
                    refused.append(str(e))
                return True

            with self.assertRaises(gtu.Error):
                gtu.run(simple(scale=14), "bc", sources="all", device=dev, progress=close)
            self.assertIn("in use", refused[0])

    def test_zcm_counters_are_zero_unless_a_run_is_monitored(self):
        with gtu.device() as dev:
            quiet = gtu.run(simple(), "bfs", device=dev).counters["zcm"]
            watched = gtu.run(simple(), "bfs", device=dev, monitor=True).counters["zcm"]
        self.assertEqual(sum(quiet.values()), 0)
        self.assertGreater(sum(watched.values()), 0)

    def test_unknown_parameters_and_bad_timeouts_are_rejected(self):
        with self.assertRaisesRegex(gtu.InputError, "scu_wide"):
            gtu.device("model:scu_wide=3")
        for bad in (0, -1, float("nan")):
            with self.assertRaises(ValueError):
                gtu.device(timeout=bad)


if __name__ == "__main__":
    unittest.main()
