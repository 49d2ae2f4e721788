# SPDX-License-Identifier: MIT
"""Ctrl-C during a run and in the laboratory, progress functions, the progress bar."""

import os
import pty
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy as np

import gtu
from gtu._call import Bar
from support import simple

LIMIT = 60


def long_run(g, **more):
    """Betweenness from all vertices, which takes minutes."""
    return gtu.run(g, "bc", sources="all", **more)


class Child:
    """A Python child process that prints a line while it is busy."""

    def __init__(self, program, **environment):
        self.process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env={**os.environ, **environment})

    def line(self):
        return self.process.stdout.readline().decode().strip()

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def end(self):
        try:
            out, err = self.process.communicate(timeout=LIMIT)
        finally:
            # leave no child behind that does not exit
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
        return self.process.returncode, out.decode(), err.decode()


class CtrlC(unittest.TestCase):
    def end_of(self, program, **environment):
        child = Child(program, **environment)
        self.assertEqual(child.line(), "now")
        # while it is busy
        time.sleep(0.3)
        child.interrupt()
        begun = time.monotonic()
        code, out, err = child.end()
        self.assertLess(time.monotonic() - begun, LIMIT / 2)
        return code, out, err

    def test_a_run_can_be_interrupted_and_the_process_continues(self):
        for unit in ("none", "scu", "iru", "peg", "weaver"):
            with self.subTest(unit=unit):
                code, out, err = self.end_of(f"""
import gtu
g = gtu.generate("kronecker", scale=14)
with gtu.device() as dev:
    try:
        print("now", flush=True)
        gtu.run(g, "bc", sources="all", device=dev, unit="{unit}")
        print("came to its end")
    except KeyboardInterrupt:
        print("interrupted")
    print(gtu.run(g, "bfs", source=1, device=dev, unit="{unit}").stats.vertices, g.m)
""")
                self.assertEqual((code, err), (0, ""))
                g = gtu.generate("kronecker", scale=14)
                self.assertEqual(out.split(), ["interrupted", str(gtu.run(g, "bfs", source=1).stats.vertices),
                                               str(g.m)])

    def test_generate_can_be_interrupted(self):
        # no larger graph: AddressSanitizer writes an eighth of the size when memory is allocated and freed
        code, out, err = self.end_of("""
import gtu
try:
    print("now", flush=True)
    gtu.generate("kronecker", scale=25)
except KeyboardInterrupt:
    print("interrupted", gtu.generate("road", scale=4).n)
""")
        self.assertEqual((code, out, err), (0, "interrupted 16\n", ""))

    def test_an_uncaught_interrupt_ends_the_process(self):
        code, out, err = self.end_of("""
import gtu
g = gtu.generate("kronecker", scale=14)
print("now", flush=True)
gtu.run(g, "bc", sources="all")
""")
        self.assertEqual((code, out), (-signal.SIGINT, ""))
        self.assertEqual(err.strip().splitlines()[-1], "KeyboardInterrupt")

    def test_interrupting_lab_ends_the_process_it_started(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, body, timeout in (("polite", "trap 'echo gone >>$0.log; exit 130' INT", LIMIT / 2),
                                        ("deaf", "trap '' INT", 1.0)):
                script = f"{folder}/{name}"
                with open(script, "w", encoding="ascii") as f:
                    f.write(f"#!/bin/bash\n{body}\necho $$ >$0.pid\nwhile :; do sleep 0.1; done\n")
                os.chmod(script, 0o755)
                child = Child("""
import gtu, os, threading, time
from gtu import _lab
_lab._EXIT_TIMEOUT = float(os.environ["EXIT_TIMEOUT"])
pid = os.environ["GTU_TOOL"] + ".pid"
def tell():
    while not os.path.exists(pid) or not open(pid).read().strip():
        time.sleep(0.02)
    print("now", flush=True)
threading.Thread(target=tell).start()
try:
    gtu.lab("emogi")
except KeyboardInterrupt:
    print("interrupted")
""", GTU_TOOL=script, EXIT_TIMEOUT=str(timeout))
                self.assertEqual(child.line(), "now")
                child.interrupt()
                code, out, err = child.end()
                self.assertEqual((code, out, err), (0, "interrupted\n", ""))
                with open(script + ".pid", encoding="ascii") as f:
                    pid = int(f.read())
                with self.assertRaises(ProcessLookupError):
                    os.kill(pid, 0)
                self.assertEqual(os.path.exists(script + ".log"), name == "polite")


class ProgressFunctions(unittest.TestCase):
    def setUp(self):
        self.g = simple(scale=13)

    def test_progress_never_decreases_and_can_cancel_a_run(self):
        told = []

        def tell(what, done, total):
            told.append((what, done, total, threading.get_ident()))
            return len(told) == 3

        with self.assertRaisesRegex(gtu.Error, "the progress function canceled the call") as caught:
            long_run(self.g, progress=tell)
        self.assertEqual(caught.exception.code, gtu.Status.INTERRUPTED)
        self.assertEqual({t[0] for t in told}, {"betweenness"})
        self.assertEqual([t[1] for t in told], sorted(t[1] for t in told))
        self.assertEqual({t[3] for t in told}, {threading.get_ident()})

    def test_an_exception_in_progress_reaches_the_caller(self):
        def fail(*_):
            raise LookupError("of my own")

        with self.assertRaisesRegex(LookupError, "of my own"):
            long_run(self.g, progress=fail)
        self.assertEqual(gtu.run(self.g, "bfs", source=1).values[1], 0)

    def test_progress_must_be_callable(self):
        with self.assertRaisesRegex(TypeError, "progress is 'yes'"):
            gtu.run(self.g, "bfs", progress="yes")

    def test_a_device_returns_right_values_after_a_canceled_run(self):
        with gtu.device() as dev:
            expected = gtu.run(self.g, "bfs", source=1, unit="none").values
            for _ in range(3):
                with self.assertRaises(gtu.Error):
                    long_run(self.g, device=dev, progress=lambda *_: True)
                np.testing.assert_array_equal(gtu.run(self.g, "bfs", source=1, device=dev).values, expected)


class Stream:
    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text

    def flush(self):
        pass


class ProgressBar(unittest.TestCase):
    def test_the_bar_shows_the_percentage_or_the_count(self):
        bar = Bar(Stream())
        bar("bfs", 1, 2)
        bar.clear()
        self.assertEqual(bar.stream.text, "")
        bar.begun -= 1
        bar("bfs", 1, 2)
        self.assertEqual(bar.stream.text, "\rbfs  [" + "#" * 15 + "." * 15 + "]  50%\033[K")
        bar.stream.text = ""
        bar("sssp", 1234567, 0)
        bar.clear()
        self.assertEqual(bar.stream.text, "\rsssp  1,234,567\033[K\r\033[K")

    def test_the_bar_appears_on_a_terminal_only(self):
        # the last run lasts long enough for several progress calls on a machine of any speed
        program = """
import gtu
gtu._call.Bar.MOMENT = 0
g = gtu.generate("kronecker", scale=14, progress=False)
sources, told = 1, []
while len(told) < 3:
    sources *= 2
    told.clear()
    gtu.run(g, "bc", sources=sources, progress=lambda *at: told.append(at))
gtu.run(g, "bc", sources=sources)
"""
        main, side = pty.openpty()
        subprocess.run([sys.executable, "-c", program], stderr=side, check=True, timeout=LIMIT)
        os.close(side)
        shown = b""
        try:
            while True:
                piece = os.read(main, 4096)
                if not piece:
                    break
                shown += piece
        except OSError:
            pass  # how a terminal without another end is read to its end
        os.close(main)
        self.assertRegex(shown.decode(), r"^(\rbetweenness  [\d,]+\x1b\[K)+\r\x1b\[K$")
        done = subprocess.run([sys.executable, "-c", program], stderr=subprocess.PIPE, check=True, timeout=LIMIT)
        self.assertEqual(done.stderr, b"")


if __name__ == "__main__":
    unittest.main()
