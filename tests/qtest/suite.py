# SPDX-License-Identifier: MIT
"""Collects and runs the tests and prints TAP."""
import contextlib, functools, inspect, os, traceback

tests = []


def test(function, program="GTU_QEMU"):
    function.program = program
    tests.append(function)
    return function


def test_arm64(function):
    return test(function, "GTU_QEMU_ARM64")


def test_on(machine, device, *options):
    """Decorator: the test gets a machine with these devices, and the first one, which device(machine) maps; a third
    parameter is the device's first queue, started."""
    def decorate(function):
        @functools.wraps(function)
        def with_machine():
            with machine(*options) as m:
                g = device(m)
                started = range(len(inspect.signature(function).parameters) - 2)
                function(m, g, *(g.start() for _ in started))
        return test(with_machine, machine.program)
    return decorate


@contextlib.contextmanager
def refused(error, *sentences):
    """The block must raise this error, with these sentences."""
    try:
        yield
    except error as e:
        assert all(sentence in str(e) for sentence in sentences), f"{e}, without all of {sentences}"
    else:
        raise AssertionError(f"no error {sentences}")


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
