# SPDX-License-Identifier: MIT
"""The platform device on arm64's `virt`: device tree node, registers, memory, wired interrupts."""
import os, tempfile, zlib

from gtu import *
from machine import Ended, Refused, Virt, wait
from suite import refused, test_arm64, test_on
from test_jobs import data
from test_life import event_interrupts, reset_during_job, works
from test_registers import check_reset_values

TREE = 0x40000000                       # where `virt` puts the tree without a kernel
GICD, IRQ = 0x08000000, 176             # the interrupt controller; the default first interrupt
ENABLE, PENDING, CLEAR, CONFIG = 0x100, 0x200, 0x280, 0xc00
UART = 0x09000000


def tree(data):
    """Parse a flattened device tree into {path: {property: bytes}}."""
    magic, _, structure, strings = struct_be(data, 0, 4)
    assert magic == 0xd00dfeed
    nodes, path, at = {}, [], structure
    while True:
        token, = struct_be(data, at, 1)
        at += 4
        if token == 1:
            end = data.index(b"\0", at)
            path.append(data[at:end].decode())
            nodes["/".join(path) or "/"] = {}
            at = end + 4 & ~3
        elif token == 2:
            path.pop()
        elif token == 3:
            length, name = struct_be(data, at, 2)
            name = data[strings + name:data.index(b"\0", strings + name)].decode()
            nodes["/".join(path) or "/"][name] = data[at + 8:at + 8 + length]
            at += 8 + length + 3 & ~3
        elif token == 9:
            return nodes


def struct_be(data, at, n):
    return tuple(int.from_bytes(data[at + 4 * i:at + 4 * i + 4], "big") for i in range(n))


def cells(*values):
    return b"".join(v.to_bytes(4, "big") for v in values)


def tree_of(m):
    size, = struct_be(m.read(TREE + 4, 4), 0, 1)
    return tree(m.read(TREE, size))


def edges(m, first=IRQ, n=33):
    """Configure shared interrupts: edge-triggered, enabled, none pending."""
    for i in range(32 + first, 32 + first + n):
        at = GICD + CONFIG + i // 16 * 4
        m.store(at, 4, m.load(at, 4) | 2 << i % 16 * 2)
        m.store(GICD + ENABLE + i // 32 * 4, 4, 1 << i % 32)
        m.store(GICD + CLEAR + i // 32 * 4, 4, 1 << i % 32)


def pending(m, vector, first=IRQ):
    i = 32 + first + vector
    return m.load(GICD + PENDING + i // 32 * 4, 4) >> i % 32 & 1


def clear(m, vector, first=IRQ):
    i = 32 + first + vector
    m.store(GICD + CLEAR + i // 32 * 4, 4, 1 << i % 32)


def error(g):
    g.w32(ERROR, 0xf)
    g.r32(0x6000)


@test_platform
def platform_registers_have_their_reset_values(m, g):
    check_reset_values(g)
    length = g.r32(0x84)
    blob = b"".join(pack("I", g.r32(0x8000 + i)) for i in range(0, length + 3 & ~3, 4))[:length]
    assert zlib.crc32(blob) == g.r32(0x88) and tree(blob)


@test_arm64
def the_device_tree_node_follows_the_properties():
    with Virt("gtu-platform") as m:
        node = tree_of(m)["/gtu@cff0000"]
        assert node == {
            "compatible": b"gtu,gtu-1\0", "reg-names": b"registers\0doorbells\0aperture\0", "dma-coherent": b"",
            "reg": cells(0, 0x0cff0000, 0, 0x10000, 0, 0x0b000000, 0, 0x1000000, 0, 0x0d000000, 0, 0x1000000),
            "interrupts": cells(*(v for i in range(33) for v in (0, IRQ + i, 1))),
        }, node
    with Virt("gtu-platform,registers-at=0x10000000,doorbells-at=0x10400000,aperture-at=0x10800000,queues=64,vectors=2,"
              "irq=200,aperture=8M") as m:
        node = tree_of(m)["/gtu@10000000"]
        assert node["reg"] == cells(0, 0x10000000, 0, 0x10000, 0, 0x10400000, 0, 0x400000, 0, 0x10800000, 0, 0x800000)
        assert node["interrupts"] == cells(0, 200, 1, 0, 201, 1)
        assert Platform(m, 0x10000000, 0x10400000, 0x10800000).r32(VECTORS) == 2
    with Virt("gtu-platform,node=off") as m:
        assert not [p for p in tree_of(m) if "gtu" in p]
        assert Platform(m).r32(MAGIC) == 0x31555447


@test_arm64
def a_user_supplied_device_tree_gets_no_node():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "machine.dtb")
        with refused(Ended):
            Virt(options=("-machine", f"dumpdtb={path}"))
        with Virt("gtu-platform", options=("-dtb", path)) as m:
            nodes = tree_of(m)
            assert "/intc@8000000" in nodes and not [p for p in nodes if "gtu" in p]


@test_platform
def platform_jobs_reach_memory_and_the_aperture(m, g):
    works(g)
    q = g.queues[0]
    n = 1 << 20
    source, target = data(g, n)
    q.run(COPY, (source, n, 0), (target, n, 0)).expect(OK)
    assert m.read(TARGET, n) == m.read(SOURCE, n)
    # to the device's own memory, which the CPU reads back
    inside = g.region(0x1000, 4096, READ | WRITE | APERTURE)
    q.run(COPY, (source, 4096, 0), (inside, 4096, 0)).expect(OK)
    assert m.read(g.bars[4] + 0x1000, 4096) == m.read(SOURCE, 4096)


@test_platform
def platform_accesses_outside_memory_end_in_dma_errors(m, g, q):
    source, target = data(g)
    end = m.at(0) + (128 << 20)
    for base in (end, end - 2048, g.bars[0], g.bars[2], g.bars[4], UART, GICD, 0xfffffffffffff000, 1 << 40):
        nowhere = g.region(base, 4096, slot=40)
        g.do(INVALIDATE, 0, 40)
        q.run(COPY, (nowhere, 4096, 0), (target, 4096, 0)).expect(DMA, operand=0)
        q.run(COPY, (source, 4096, 0), (nowhere, 4096, 0)).expect(DMA, operand=1)
    edge = g.region(end - 4096, 4096)
    q.run(COPY, (source, 4096, 0), (edge, 4096, 0)).expect(OK)


@test_platform
def platform_interrupts_pulse_their_lines(m, g):
    edges(m)
    error(g)
    wait("interrupt 0", lambda: pending(m, 0))
    # the line is low again: a handled interrupt does not return, and the next error is a new edge
    clear(m, 0)
    assert not pending(m, 0), "the line stayed high"
    error(g)
    wait("interrupt 0 again", lambda: pending(m, 0))
    # one interrupt per vector, from event rings
    event = event_interrupts(g, (1, 7, 32))
    for ring, vector in enumerate((1, 7, 32)):
        event(ring)
        wait(f"interrupt {vector}", lambda: pending(m, vector))
    clear(m, 0)
    assert [v for v in range(64) if pending(m, v)] == [1, 7, 32], "unexpected interrupt"


@test_on(Virt, Platform, "gtu-platform,irq=192,vectors=64")
def interrupts_arrive_at_the_configured_numbers(m, g):
    edges(m, 176, 80)
    event_interrupts(g, (63,))(0)
    wait("the last interrupt of the controller", lambda: pending(m, 63, 192))
    assert [v for v in range(80) if pending(m, v)] == [79]


@test_platform
def the_platform_device_survives_invalid_accesses(m, g):
    base = g.bars[0]
    for size, at in ((1, SCRATCH), (2, SCRATCH), (4, 2), (8, 4), (4, 0x6000), (4, 0x7ffc)):
        g.w32(ERROR, 0xf)
        assert m.load(base + at, size) == 0
        assert g.r32(ERROR) == E_REGISTER and g.r64(ERROR_INFO) == at
    g.w32(ERROR, 0xf)
    for at in (0, 255 << 16, (255 << 16) + 0x18, (1 << 24) - 8):
        m.store(g.bars[2] + at, 8 if not at & 8 else 4, 0xffffffff)
    end = g.bars[4] + (16 << 20)
    m.store(end - 8, 8, 0x1122334455667788)
    assert m.load(end - 1, 1) == 0x11
    # addresses before and after the device are unmapped
    for at in (g.bars[2] - 4, base - 4, end):
        m.store(at, 4, 0xdead)
    assert g.r32(MAGIC) == 0x31555447 and m.load(end - 8, 8) == 0x1122334455667788
    works(g)


@test_arm64
def the_platform_reset_register_ends_a_running_job():
    reset_during_job(*PLATFORM, lambda g: g.w32(RESET, RESET_KEY))


@test_arm64
def a_system_reset_ends_a_running_platform_job():
    def reset(g):
        epoch = g.r32(EPOCH)
        g.m.monitor("system_reset")
        wait("the reset", lambda: g.r32(EPOCH) != epoch)
    reset_during_job(*PLATFORM, reset)


@test_arm64
def two_platform_devices_do_not_affect_each_other():
    with Virt("gtu-platform,irq=176", "gtu-platform,registers-at=0x10000000,doorbells-at=0x11000000,aperture-at=0x12000000,"
              "irq=212", "gtu-pci,addr=4") as m:
        both = Platform(m), Platform(m, 0x10000000, 0x11000000, 0x12000000)
        edges(m, 176, 80)
        assert len([p for p in tree_of(m) if p.startswith("/gtu@")]) == 2
        error(both[1])
        wait("its interrupt", lambda: pending(m, 36))
        assert [v for v in range(80) if pending(m, v)] == [36], "the other device's interrupt is pending, too"
        for g in both:
            works(g)
        assert both[0].r32(ERROR) == 0


@test_arm64
def qemu_rejects_invalid_platform_properties():
    for options, sentence in (
            ("registers-at=0x0cff0004", "registers-at=0xcff0004 cannot hold 0x10000 bytes: it must be a multiple of 4096"),
            ("aperture-at=0xfffffffffffff000", "at most 0xfffffffffeff"),
            ("registers-at=0x08ff8000", "at 0x9000000 of these 0x10000 bytes is the machine's 'pl011'"),
            ("aperture-at=0x3f800000", "at 0x3f800000 of these 0x1000000 bytes is the machine's"),
            ("aperture-at=0x40000000", "of these 0x1000000 bytes is the machine's 'mach-virt.ram'"),
            ("doorbells-at=0x0d800000,aperture-at=0x0d000000", "at 0xd800000 of these 0x1000000 bytes is the machine's 'gtu-doorbells'"),
            ("irq=224", "irq=224: interrupts 224 to 256 are needed, one per vector, but the controller has 0 to 255"),
            ("irq=4294967295", "irq=4294967295"), ("interrupt-controller=/nowhere", "interrupt-controller '/nowhere' is not"),
            ("vectors=65", "vectors=65"), ("aperture=3M", "aperture=3145728")):
        with refused(Ended, sentence):
            Virt("gtu-platform," + options).close()


@test_arm64
def the_platform_device_refuses_migration_and_hot_plug():
    with Virt("gtu-platform,id=unit") as m:
        for command, arguments, sentence in (
                ("migrate", {"uri": "exec:cat >/dev/null"}, "at 0xcff0000 cannot be migrated: its queues, jobs and memory exist only here"),
                ("device_del", {"id": "unit"}, "hot"),
                ("device_add", {"driver": "gtu-platform", "id": "late"}, "plug")):
            with refused(Refused, sentence):
                m.monitor(command, **arguments)
        works(Platform(m))
