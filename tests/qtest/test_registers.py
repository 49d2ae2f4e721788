# SPDX-License-Identifier: MIT
"""The function and its registers: identity, reset values, reserved bits, invalid accesses."""
import zlib

from gtu import *
from machine import COMMAND, MEMORY, Ended, Machine
from suite import refused, test


def pages():
    return {0x1000: b"SCU ", 0x2000: b"IRU ", 0x3000: b"PEG ", 0x4000: b"WVR ", 0x5000: b"ZCM "}


@test
def ids_and_capabilities_match_the_specification():
    with Machine("gtu-pci,addr=4") as m:
        where = (0, 4, 0)
        assert m.config(where, 0, 4) == 0x47541234
        assert m.config(where, 8, 4) == 0x12000001
        assert m.config(where, 0x2c, 4) == 0x47541234
        assert m.config(where, 0x34, 1) == CAP_EXP
        assert m.config(where, CAP_EXP, 2) == 0x10 | CAP_MSIX << 8, "PCI Express, then MSI-X"
        assert m.config(where, CAP_EXP + 4, 4) & 1 << 28, "function-level reset"
        assert m.config(where, CAP_EXP + 0x12, 2) == 0x103, "third generation, 16 lanes"
        assert m.config(where, CAP_MSIX, 4) & 0x7ff00ff == 32 << 16 | 0x11
        assert m.config(where, CAP_MSIX + 4, 4) == 1 and m.config(where, CAP_MSIX + 8, 4) == 0x801
        assert m.extended(where, 0x100) & 0xffff == 1, "advanced error reporting"


@test
def bar_sizes_follow_the_properties():
    with Machine("gtu-pci,addr=4,aperture=64M,queues=64") as m:
        where = (0, 4, 0)
        for bar, size, flags in ((0, 0x10000, 0), (1, 0x1000, 0), (2, 64 << 16, 4), (4, 64 << 20, 0xc)):
            m.set_config(where, 0x10 + 4 * bar, 4, 0xffffffff)
            assert m.config(where, 0x10 + 4 * bar, 4) == (-size & 0xffffffff) | flags, f"BAR {bar}"
        for bar in (2, 4):
            m.set_config(where, 0x14 + 4 * bar, 4, 0xffffffff)
            assert m.config(where, 0x14 + 4 * bar, 4) == 0xffffffff, f"high half of BAR {bar}"
        g = Gtu(m)
        assert g.r32(0x44) == 64 and g.r64(0x70) == 64 << 20


@test_pci
def registers_have_their_reset_values(m, g):
    check_reset_values(g)


def check_reset_values(g):
    for at, value in ((MAGIC, 0x31555447), (VERSION, 0x00010001), (UNITS, 0x1f), (STATUS, 1), (RESET, 0), (ERROR, 0),
                      (0x40, 256), (0x44, 256), (0x48, 12), (0x4c, 12), (VECTORS, 33), (0x54, 33), (STRIDE, 16),
                      (0x80, 0x8000), (CMD, 0), (MBOX, 0), (0x200, 0)):
        assert g.r32(at) == value, f"register {at:#x} is {g.r32(at):#x}, not {value:#x}"
    caps = sum(1 << bit for bit in numbers(r"GTU_CAP_\w+\s+\(1ull <<"))
    for at, value in ((CAPS, caps), (SCRATCH, 0), (ERROR_INFO, 0), (0x60, 1270000000), (0x68, 0), (0x70, 16 << 20),
                      (0x90, 1 << 40), *((ARG + 8 * n, 0) for n in range(6)), *((RESULT + 8 * n, 0) for n in range(3))):
        assert g.r64(at) == value, f"register {at:#x} is {g.r64(at):#x}, not {value:#x}"
    for page, name in pages().items():
        assert g.r32(page) == int.from_bytes(name, "little")
        assert g.r32(page + 8) == 1
        for n in range(64):
            assert not g.r64(page + 0x100 + 8 * n), f"counter {n} of {name}"
    assert g.r32(ERROR) == 0, "reading existing registers must set no error"


@test_pci
def the_device_tree_matches_its_checksum(m, g):
    length = g.r32(0x84)
    blob = b"".join(pack("I", g.r32(0x8000 + i)) for i in range(0, length + 3 & ~3, 4))[:length]
    assert blob[:4] == b"\xd0\x0d\xfe\xed" and zlib.crc32(blob) == g.r32(0x88)
    # any size and alignment
    assert m.load(g.bars[0] + 0x8001, 1) == 0x0d and m.load(g.bars[0] + 0x8002, 2) == 0xedfe
    assert g.r32(ERROR) == 0


@test_pci
def writes_change_only_writable_registers_and_bits(m, g):
    constant = (MAGIC, VERSION, CAPS, UNITS, EPOCH, STATUS, 0x40, 0x44, VECTORS, 0x84, 0x88)
    before = {at: g.r32(at) for at in constant}
    for at in constant:
        g.w32(at, 0xffffffff)
    for at in constant:
        assert g.r32(at) == before[at], f"register {at:#x} is {g.r32(at):#x}, expected {before[at]:#x}"
    assert g.r32(ERROR) == 0, "a write to a read-only register is ignored"
    g.w64(SCRATCH, 0x0123456789abcdef)
    g.w32(SCRATCH + 4, 0xfedcba98)
    assert g.r64(SCRATCH) == 0xfedcba9889abcdef
    assert g.r32(SCRATCH) == 0x89abcdef and g.r32(SCRATCH + 4) == 0xfedcba98
    g.w32(RESET, 0x12345678)
    assert g.r64(SCRATCH) == 0xfedcba9889abcdef, "a reset without the key must be ignored"
    # in configuration space, too
    g.command(0xffff)
    assert m.config(g.where, COMMAND, 2) & ~0x547 == 0
    g.command(MEMORY)


@test_pci
def invalid_register_accesses_set_the_error_register(m, g):

    def wrong(access, at):
        g.w32(ERROR, 0xffffffff)
        assert g.r32(ERROR) == 0 and g.r32(STATUS) == 1
        access()
        assert g.r32(ERROR) == E_REGISTER, f"the access at {at:#x} set no error"
        assert g.r64(ERROR_INFO) == at, f"error at {g.r64(ERROR_INFO):#x}, expected at {at:#x}"
        assert g.r32(STATUS) == 5

    base = g.bars[0]
    g.w64(SCRATCH, 0x5555)
    wrong(lambda: m.load(base + SCRATCH, 1), SCRATCH)
    wrong(lambda: m.load(base + SCRATCH, 2), SCRATCH)
    wrong(lambda: m.store(base + SCRATCH, 2, 0xffff), SCRATCH)
    wrong(lambda: m.load(base + 2, 4), 2)
    wrong(lambda: m.load(base + 4, 8), 4)
    wrong(lambda: m.store(base + EPOCH, 8, 0), EPOCH)
    for at in (0x05c, 0x0f0, 0xffc, 0x5ffc, 0x6000, 0x7ffc):
        wrong(lambda: g.r32(at), at)
        wrong(lambda: g.w32(at, 1), at)
    assert m.load(base + SCRATCH, 1) == 0, "an invalid access must read as zero"
    assert g.r64(SCRATCH) == 0x5555, "an invalid access must change nothing"
    # ERROR_INFO keeps the first error's offset
    g.r32(0x6000)
    assert g.r64(ERROR_INFO) == 0x7ffc


@test_pci
def the_function_survives_invalid_bar_accesses(m, g):
    # doorbells: a disabled queue, the last queue's page, and offsets past the first 4 KiB of a stride
    for at in (0, 255 << 16, (255 << 16) + 0x18):
        m.store(g.bars[2] + at, 8 if not at & 8 else 4, 0xffffffff)
    assert m.load(g.bars[2], 8) == 0
    assert m.load(g.bars[2] + 0x10000 - 8, 8) == 0 and m.load(g.bars[2] + SIZES[2] - 8, 8) == 0
    # the aperture, byte by byte at its end; addresses after it are unmapped
    end = g.bars[4] + SIZES[4]
    m.store(end - 8, 8, 0x1122334455667788)
    assert m.load(end - 1, 1) == 0x11 and m.load(end - 4, 4) == 0x11223344
    m.store(end, 4, 0xdead)
    m.store(g.bars[0] + SIZES[0], 4, 0xdead)
    assert g.r32(MAGIC) == 0x31555447
    # no access is decoded while memory decoding is off
    g.command(0)
    assert m.load(g.bars[0], 4) != 0x31555447
    g.command(MEMORY)
    assert g.r32(MAGIC) == 0x31555447 and m.load(end - 8, 8) == 0x1122334455667788


@test_pci
def invalid_mailbox_commands_return_the_specified_error(m, g):
    E_COMMAND, E_INDEX, E_STATE, E_ARG = 1, 2, 3, 4
    unknown = max(numbers(r"GTU_MBOX_(?!E_)\w+")) + 1
    g.start()
    for want, command, *arguments in (
            (0, MB_NOP), (E_COMMAND, unknown), (E_COMMAND, 0xffffffff), (E_INDEX, CTX_ENABLE, 256, TABLE, 4, 1),
            (E_STATE, CTX_ENABLE, 0, TABLE, 4, 1), (E_ARG, CTX_ENABLE, 1, TABLE + 4, 4, 1),
            (E_ARG, CTX_ENABLE, 1, TABLE, 13, 1), (E_ARG, CTX_ENABLE, 1, TABLE, 4, 17),
            (E_ARG, CTX_ENABLE, 1, TABLE, 4, 1 | 257 << 16),
            (E_STATE, CTX_DISABLE, 1), (E_INDEX, INVALIDATE, 0, 64), (E_STATE, INVALIDATE, 1, 0),
            (E_INDEX, QUEUE_ENABLE, 256, 0, RINGS, RINGS, 0x404, NO_RING),
            (E_STATE, QUEUE_ENABLE, 0, 0, RINGS, RINGS, 0x404, NO_RING),
            (E_STATE, QUEUE_ENABLE, 1, 1, RINGS, RINGS, 0x404, NO_RING),
            (E_ARG, QUEUE_ENABLE, 1, 0, RINGS + 8, RINGS, 0x404, NO_RING),
            (E_ARG, QUEUE_ENABLE, 1, 0, RINGS, RINGS, 0x40d, NO_RING),
            (E_INDEX, QUEUE_STATE, 256), (E_STATE, QUEUE_RESET, 9), (E_ARG, QUEUE_CANCEL, 0, 1),
            (E_INDEX, EVENT_ENABLE, 33, EVENTS, 4, 0), (E_INDEX, EVENT_ENABLE, 0, EVENTS, 4, 33),
            (E_ARG, EVENT_ENABLE, 0, EVENTS + 1, 4, 1), (E_STATE, EVENT_DISABLE, 0),
            (E_INDEX, CTX_COUNTERS, 256), (E_STATE, CTX_COUNTERS, 1), (0, CTX_COUNTERS, 0)):
        got = g.mailbox(command, *arguments)
        assert got == want, f"command {command} {arguments}: status {got}, expected {want}"


@test
def qemu_rejects_invalid_pci_properties():
    for options, *sentences in (
            ("aperture=3M", "aperture=3145728", "a power of two, at least 4096 and at most 1099511627776"), ("vectors=65", "vectors=65", "at most 64"),
            ("aperture=3M,map-aperture=on", "aperture=3145728", "a power of two"),
            ("aperture=2T", "aperture=2199023255552", "at most 1099511627776"), ("aperture=1", "aperture=1,", "at least 4096"),
            ("queues=257", "queues=257", "at most 256"), ("contexts=4097", "contexts=4097", "at most 4096"),
            ("contexts=4294967295", "contexts=4294967295", "at most 4096"),
            ("x-iru-index-bits=33", "x-iru-index-bits=33", "at most 32"),
            ("bus=nowhere", "nowhere"), ("queues=many", "many")):
        with refused(Ended, *sentences):
            Machine("gtu-pci," + options).close()


@test
def registers_report_the_configured_properties():
    for options, values in (("aperture=4096,queues=1,contexts=1,vectors=1", (1, 1, 1, 4096)),
                            ("aperture=32M,queues=65,contexts=4096,vectors=64", (65, 4096, 64, 32 << 20)),
                            ("aperture=64M,queues=256", (256, 256, 33, 64 << 20))):
        with Machine("gtu-pci,addr=4," + options) as m:
            g = Gtu(m)
            assert (g.r32(0x44), g.r32(0x40), g.r32(VECTORS), g.r64(0x70)) == values
            # BAR 2 is sized for a power of two of queues
            if values[0] == 65:
                m.store(g.bars[2] + (65 << 16), 8, 1)
                m.store(g.bars[2] + (127 << 16), 8, 1)
            g.start().run(NOP).expect(OK)
