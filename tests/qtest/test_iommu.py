# SPDX-License-Identifier: MIT
"""The device behind an emulated IOMMU (VT-d): translation, permissions, and unmapping with immediate effect."""
from gtu import *
from machine import Machine, wait
from suite import test, test_on
from test_jobs import data
from test_life import BATCH, PIECE, batch, still

UNIT, ROOT, CONTEXT, PAGES = 0xfed90000, 0x700000, 0x701000, 0x710000
GLOBAL_COMMAND, GLOBAL_STATUS, ROOT_ADDRESS, CONTEXT_COMMAND, FAULTS, INVALIDATE_IOTLB = 0x18, 0x1c, 0x20, 0x28, 0x34, 0xf8
FAULT_RECORD = 0x220


class Iommu:
    """Three-level page tables for the function in slot 4 (or 01:00.0): one table per GiB, 4 KiB pages."""

    def __init__(self, m):
        self.m = m
        m.fill(ROOT, 0x2000, 0)
        m.fill(PAGES, 0x80000, 0)
        m.write(ROOT, pack("QQ", CONTEXT | 1, 0))
        m.write(ROOT + 16, pack("QQ", CONTEXT | 1, 0))
        for function in (4 << 3, 0):
            m.write(CONTEXT + 16 * function, pack("QQ", PAGES | 1, 1 << 8 | 1))
        m.write(PAGES, pack("Q", PAGES + 0x1000 | 3))
        for i in range(64):
            m.write(PAGES + 0x1000 + 8 * i, pack("Q", PAGES + 0x2000 + 0x1000 * i | 3))

    def on(self):
        self.m.store(UNIT + ROOT_ADDRESS, 8, ROOT)
        self.m.store(UNIT + GLOBAL_COMMAND, 4, 1 << 30)
        self.m.store(UNIT + CONTEXT_COMMAND, 8, 5 << 61)
        self.forget()
        self.m.store(UNIT + GLOBAL_COMMAND, 4, 1 << 31)
        assert self.m.load(UNIT + GLOBAL_STATUS, 4) >> 31, "translation is off"

    def forget(self):
        self.m.store(UNIT + INVALIDATE_IOTLB, 8, 1 << 63 | 1 << 60)
        wait("an invalidation", lambda: not self.m.load(UNIT + INVALIDATE_IOTLB, 8) >> 63)

    def map(self, bus, physical, length, rights=3):
        """Map a range below 128 MiB."""
        entries = b"".join(pack("Q", physical + i | rights if rights else 0) for i in range(0, length, 4096))
        self.m.write(PAGES + 0x2000 + 8 * (bus >> 12), entries)


    def map_large(self, bus, physical):
        """Map 2 MiB as one page."""
        self.m.write(PAGES + 0x1000 + 8 * (bus >> 21), pack("Q", physical | 0x80 | 3))


def behind(m):
    """The device behind the IOMMU: identity mapping except for source and target."""
    g, g.iommu = Gtu(m), Iommu(m)
    g.iommu.map(0, 0, 0x700000)
    g.iommu.on()
    return g


test_iommu = test_on(Machine, behind, "intel-iommu,caching-mode=on", "gtu-pci,addr=4")


@test_iommu
def copies_obey_iommu_mappings_and_permissions(m, g, q):
    source, target = data(g, 65536)
    n = 65536
    # not mapped yet
    q.run(COPY, (source, n, 0), (target, n, 0)).expect(DMA)
    assert m.load(UNIT + FAULTS, 4) & 2, "the IOMMU recorded no fault"
    g.iommu.map(SOURCE, SOURCE, n, 1)
    q.run(COPY, (source, n, 0), (target, n, 0)).expect(DMA, operand=1)
    # pages in reverse order
    for i in range(0, n, 4096):
        g.iommu.map(TARGET + i, TARGET + n - 4096 - i, 4096)
    g.iommu.forget()
    q.run(COPY, (source, n, 0), (target, n, 0)).expect(OK)
    for i in range(0, n, 4096):
        assert m.read(TARGET + n - 4096 - i, 4096) == m.read(SOURCE + i, 4096)
    # the IOMMU maps it read-only; the region permits writes
    q.run(COPY, (target, n, 0), (g.region(SOURCE, n), n, 0)).expect(DMA, operand=1)
    # map it to another address
    g.iommu.map(TARGET, TARGET + (8 << 20), 4096)
    g.iommu.forget()
    m.fill(TARGET, 65536, 0x33)
    q.run(COPY, (source, 4096, 0), (target, 4096, 0)).expect(OK)
    assert m.read(TARGET + (8 << 20), 4096) == m.read(SOURCE, 4096) and m.read(TARGET, 65536) == b"\x33" * 65536


@test_iommu
def unmapping_memory_stops_dma_of_a_running_job(m, g, q):
    g.iommu.map(SOURCE, SOURCE, PIECE, 1)
    g.iommu.map(TARGET, TARGET, PIECE)
    # in caching mode new mappings need an invalidation, too
    g.iommu.forget()
    batch(g, q)
    g.iommu.map(TARGET, 0, PIECE, 0)
    g.iommu.forget()
    m.fill(TARGET, PIECE, 0x11)
    wait("the last of the batch", lambda: q.completion(BATCH - 1)).expect(DMA, operand=1)
    assert m.read(TARGET, 1 << 20) == b"\x11" * (1 << 20), "the device wrote after the unmapping"


@test_iommu
def iommu_faults_do_not_block_the_device(m, g, q):
    # every copy faults at its end with the IOMMU's interrupt enabled: translation needs the big lock, which the thread must
    # not take
    m.store(UNIT + 0x3c, 4, 0x41)
    m.store(UNIT + 0x40, 4, 0xfee00000)
    m.store(UNIT + 0x38, 4, 0)
    g.iommu.map(SOURCE, SOURCE, PIECE - 4096, 1)
    g.iommu.map(TARGET, TARGET, PIECE)
    g.iommu.forget()
    batch(g, q)
    faults = []

    def last():
        assert g.r32(MAGIC) == 0x31555447
        g.w64(SCRATCH, 1)
        faults.append(m.load(UNIT + FAULTS, 4) & 2)
        # the IOMMU interrupts again after both are cleared
        m.store(UNIT + FAULT_RECORD + 12, 4, 1 << 31)
        m.store(UNIT + FAULTS, 4, 0xff)
        return q.completion(BATCH - 1)
    wait("the last of the batch", last).expect(DMA, operand=0)
    assert len(faults) > 1, "the batch ended too early for this check"
    assert any(faults), "the IOMMU recorded no fault"


@test
def a_function_reset_stops_dma_behind_an_iommu():
    with Machine("intel-iommu,caching-mode=on", "gtu-pci,addr=4") as m:
        for _ in range(5):
            g = behind(m)
            q = g.start()
            g.iommu.map(SOURCE, SOURCE, PIECE, 1)
            g.iommu.map(TARGET, TARGET, PIECE)
            batch(g, q)
            g.iommu.forget()
            m.set_config(g.where, CAP_EXP + 8, 2, 1 << 15)
            still(g, q)


@test_iommu
def copies_larger_than_the_translation_cache_succeed(m, g, q):
    half = 32 << 20
    g.iommu.map(SOURCE, SOURCE, half, 1)
    # more than 16384 with the rings; the target's MiB are in reverse order
    for i in range(32):
        g.iommu.map(TARGET + (i << 20), TARGET + half - (i + 1 << 20), 1 << 20)
    g.iommu.forget()
    for i in range(32):
        m.fill(SOURCE + (i << 20), 1 << 20, i + 1)
    a, b = g.region(SOURCE, half, READ), g.region(TARGET, half)
    for _ in range(2):
        m.fill(TARGET, half, 0)
        q.run(COPY, (a, half // 8, 0), (b, half // 8, 0), param=3).expect(OK)
        for i in range(32):
            for at in (0, 0x80000, 0xffff8):
                assert m.read(TARGET + half - (i + 1 << 20) + at, 8) == bytes([i + 1]) * 8, f"MiB {i}"


@test_iommu
def a_large_page_can_span_ram_and_rom(m, g, q):
    # the first 2 MiB of memory as one page: RAM, ROM from 0xc0000 on, RAM from 0xe0000 on, the BIOS, RAM
    bus = 8 << 21
    g.iommu.map_large(bus, 0)
    g.iommu.map(TARGET, TARGET, 65536)
    g.iommu.forget()
    m.fill(0x1c0000, 4096, 0x77)
    target = g.region(TARGET, 65536)
    for at in (0x1c0000, 0x1000, 0xbf000, 0xd0000, 0xe8000, 0xf8000, 0x17f000, 0x1ff000):
        page = g.region(bus + at, 4096, slot=40)
        g.do(INVALIDATE, 0, 40)
        q.run(COPY, (page, 4096, 0), (target, 4096, 0)).expect(OK)
        assert m.read(TARGET, 4096) == m.read(at, 4096), f"{at:#x}"
        writable = not 0xc0000 <= at < 0xe0000 and not 0xf0000 <= at < 0x100000
        m.fill(TARGET, 4096, at >> 12 & 0xff)
        q.run(COPY, (target, 4096, 0), (page, 4096, 0)).expect(OK if writable else DMA)
        assert (m.read(at, 4096) == m.read(TARGET, 4096)) == writable, f"{at:#x}"
