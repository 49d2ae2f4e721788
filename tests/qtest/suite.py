# SPDX-License-Identifier: MIT
"""Collects and runs the tests and prints TAP."""
import os, traceback

tests = []


def test(function, program="GTU_QEMU"):
    function.program = program
    tests.append(function)
    return function


def test_arm64(function):
    return test(function, "GTU_QEMU_ARM64")


def run(wanted):
    chosen = [t for t in tests if not wanted or t.__name__ in wanted or t.__module__ in wanted]
    bad = 0
    for number, t in enumerate(chosen, 1):
        name = f"{t.__module__.removeprefix('test_')}: {t.__name__.replace('_', ' ')}"
        if not os.environ.get(t.program):
            print(f"ok {number} - {name} # SKIP {t.program} is not set: it names the QEMU to test", flush=True)
            continue
        try:
            t()
            print(f"ok {number} - {name}", flush=True)
        except Exception as e:
            bad += 1
            for line in traceback.format_exc().splitlines():
                print("# " + line)
            print(f"not ok {number} - {name}: {e}".splitlines()[0], flush=True)
    print(f"1..{len(chosen)}")
    return bool(bad) or not chosen
