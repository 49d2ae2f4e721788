# SPDX-License-Identifier: MIT
"""The laboratory returns the same numbers as the tool's JSON."""

import json
import os
import tempfile
import unittest
from unittest import mock

import gtu
from support import TOOL, tool


class Lab(unittest.TestCase):
    def setUp(self):
        patch = mock.patch.dict(os.environ, {"GTU_TOOL": TOOL})
        patch.start()
        self.addCleanup(patch.stop)

    def test_a_figure_equals_the_json_of_the_tool(self):
        lab = gtu.lab("iru", figure=12, scale=8)
        theirs = json.loads(tool("lab", "run", "iru", "--figure", 12, "--scale", 8, "--json", "-"))
        self.assertEqual(lab.json, theirs)
        self.assertEqual((lab.experiment, lab.machine), ("iru", theirs["machine"]))
        self.assertEqual(set(lab.tables), {"figure 12"})
        self.assertEqual([(r.what, r.graph, r.ours) for r in lab.table(figure=12)],
                         [(r["what"], r["graph"], r["ours"]) for r in theirs["rows"]])
        self.assertGreater(len(lab.graphs), 1)
        with self.assertRaises(KeyError):
            lab.table(figure=13)

    def test_settings_are_recorded_and_change_the_results(self):
        lab = gtu.lab("emogi", figure=8, scale=8, **{"link.round_trip": "1600 ns"})
        self.assertEqual(lab.json["set"], ["link.round_trip=1600 ns"])
        self.assertNotEqual([r.ours for r in lab.rows], [r.ours for r in gtu.lab("emogi", figure=8, scale=8).rows])

    def test_lab_runs_the_chosen_table_on_the_given_graph(self):
        with tempfile.TemporaryDirectory() as folder:
            gtu.generate("kronecker", scale=8).save(folder + "/k.gtu")
            lab = gtu.lab("emogi", table=2, graphs=[folder + "/k.gtu"])
        self.assertEqual({r.of for r in lab.rows}, {"table 2"})
        self.assertEqual(len(lab.graphs), 1)

    def test_errors_of_the_tool_raise_exceptions(self):
        with self.assertRaisesRegex(gtu.InputError, "unknown experiment 'emo'") as caught:
            gtu.lab("emo")
        self.assertEqual(caught.exception.code, gtu.Status.USAGE)
        with self.assertRaisesRegex(gtu.Error, "figure 2"):
            gtu.lab("emogi", figure=2)
        with self.assertRaises(gtu.InputError):
            gtu.lab("emogi", figure=8, scale=8, **{"link.no_such": 1})
        with self.assertRaises(gtu.InputError):
            gtu.lab("emogi", graphs=["none.gtu"])

    def test_lab_rejects_invalid_figure_arguments(self):
        with self.assertRaises(TypeError):
            gtu.lab("emogi", figure=8, table=2)
        with self.assertRaises(ValueError):
            gtu.lab("emogi", figure=0)
        with self.assertRaises(TypeError):
            gtu.lab("emogi", figure="8")

    def test_a_missing_or_wrong_tool_raises_an_error(self):
        with mock.patch.dict(os.environ, {"GTU_TOOL": "/none/gtu"}):
            with self.assertRaisesRegex(gtu.Error, "cannot run /none/gtu: No such file"):
                gtu.lab("emogi")
        with mock.patch.dict(os.environ, {"GTU_TOOL": "/bin/echo"}):
            with self.assertRaisesRegex(gtu.Error, "/bin/echo returned no table"):
                gtu.lab("emogi")


if __name__ == "__main__":
    unittest.main()
