# SPDX-License-Identifier: MIT
"""Helpers of the tests: the module, the tool, and graphs that reference libraries accept."""

import os
import subprocess
import unittest
from pathlib import Path

import numpy as np

import gtu

ROOT = Path(os.environ.get("GTU_ROOT") or Path(__file__).resolve().parents[3])
SHARED = Path(os.environ.get("GTU_SHARED") or ROOT / "../shared")
TOOL = os.environ.get("GTU_TOOL") or str(ROOT / "build/gtu")

UNITS = ("none", "scu", "scu-basic", "iru", "peg", "weaver")

#: indptr, indices, weights: 0 -> 1, 2; 1 -> 2; 2 -> 0; 3 alone
INDPTR = np.array([0, 2, 3, 4, 4], np.int64)
INDICES = np.array([1, 2, 2, 0], np.uint32)
WEIGHTS = np.array([1.5, 4.0, 2.0, 1.0])


def units_of(algorithm):
    return [u for u in UNITS if (algorithm, u) != ("lcc", "iru")]


def small(data=None, **more):
    return gtu.Graph.from_csr(INDPTR, INDICES, data, **more)


def simple(kind="kronecker", scale=8, **more):
    """Without self-loops and duplicates, which reference libraries treat differently."""
    return gtu.generate(kind, scale=scale, simplify=kind in ("kronecker", "uniform", "powerlaw"), **more)


def address(array):
    return array.__array_interface__["data"][0]


def real_graph(name):
    path = SHARED / "graphs" / name
    if not path.exists():
        raise unittest.SkipTest(f"no {path}")
    return path


def tool(*words):
    """The tool's standard output."""
    done = subprocess.run([TOOL, "--quiet", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise AssertionError(f"gtu {words}: {done.stderr.decode()}")
    return done.stdout.decode()
