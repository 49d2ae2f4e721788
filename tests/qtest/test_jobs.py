# SPDX-License-Identifier: MIT
"""Every error code of a descriptor, and invalid contents of rings, tables and doorbells."""
from gtu import *
from machine import Machine, wait
from suite import test_on

RAM_END = 128 << 20


def words(length):
    """Bytes that are different in every page: each word of 4 is its position."""
    return pack(f"{length // 4}I", *range(length // 4))


def data(g, length=4096):
    """Fill source and target; returns the keys of their regions."""
    g.m.write(SOURCE, words(length))
    g.m.fill(TARGET, length, 0xee)
    return g.region(SOURCE, length, READ), g.region(TARGET, length)


@test_pci
def nop_copy_and_fill_succeed_and_the_ring_wraps(m, g, q):
    source, target = data(g)
    q.run(NOP).expect(OK, cycles=1)
    q.run(COPY, (source, 1024, 0), (target, 1024, 0), param=2).expect(OK, count=1024)
    assert m.read(TARGET, 4096) == m.read(SOURCE, 4096)
    q.run(FILL, (0, 0, 0), (target, 100, 8), imm=0xa5a5a5a5a5a5a5a5, param=3).expect(OK, count=100)
    assert m.read(TARGET + 8, 800) == b"\xa5" * 800 and m.read(TARGET, 8) == m.read(SOURCE, 8)
    # 600 completions wrap a ring of 256
    for i in range(600):
        q.run(NOP).expect(OK, index=i + 3)
    assert q.status_block() == (ENABLED, g.r32(EPOCH), 603, 603)


@test_pci
def copies_follow_two_levels_of_page_lists(m, g, q):
    # 700 pages in arbitrary order, in two chunks under one
    pages = [TARGET + 4096 * (i * 37 % 700) for i in range(700)]
    chunks = SOURCE + 0x800000
    m.write(chunks, pack("QQ", chunks + 4096, chunks + 8192))
    m.write(chunks + 4096, pack("700Q", *pages))
    source = g.region(SOURCE, 700 * 4096 - 96, READ)
    target = g.region(chunks, 700 * 4096 - 96, levels=2, offset=96)
    m.write(SOURCE, words(700 * 4096))
    q.run(COPY, (source, 700 * 4096 - 96, 0), (target, 700 * 4096 - 96, 0)).expect(OK)
    got = b"".join(m.read(p, 4096) for p in pages)
    assert got[96:] == m.read(SOURCE, 700 * 4096 - 96) and not any(got[:96])
    # an unmapped chunk and an unmapped page
    m.write(chunks + 8, pack("Q", RAM_END))
    g.do(INVALIDATE, 0, target & 0xffff)
    q.run(COPY, (source, 700 * 4096 - 96, 0), (target, 700 * 4096 - 96, 0)).expect(DMA, operand=1)
    m.write(chunks + 4096, pack("Q", 1 << 52))
    g.do(INVALIDATE, 0, target & 0xffff)
    q.run(COPY, (source, 16, 0), (target, 16, 0)).expect(DMA, operand=1)


@test_pci
def invalid_descriptors_complete_with_the_specified_status(m, g, q):
    source, target = data(g)
    q.run(0x7f).expect(OPCODE)
    q.run(NOP, reserved=1).expect(RESERVED)
    q.run(NOP, flags=2).expect(RESERVED)
    q.run(COPY, (source, 4, 0), (target, 4, 0), param=4).expect(RESERVED)
    q.run(SCU_BITMASK, (source, 16, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0), (target, 16, 0), param=2 | 6 << 8).expect(PARAM)
    q.run(COPY, (source, 4, 0)).expect(OPERAND, operand=1)
    q.run(COPY, (source, 4, 2), (target, 4, 0), param=2).expect(OPERAND, operand=0)
    q.run(NOP, (source, 4, 0)).expect(OPERAND, operand=0)
    q.run(COPY, (source, 4, 0), (target + (1 << 16), 4, 0)).expect(KEY, operand=1)
    q.run(COPY, (source, 4, 0), (1 << 16 | 63, 4, 0)).expect(KEY, operand=1)
    q.run(COPY, (source, 4, 0), (1 << 16 | 64, 4, 0)).expect(KEY, operand=1)
    q.run(COPY, (target, 4, 0), (source, 4, 0)).expect(RIGHTS, operand=1)
    q.run(COPY, (source, 1025, 0), (target, 1025, 0), param=2).expect(BOUNDS, operand=0)
    q.run(COPY, (source, 4, 0), (target, 4, 0xfffffffffffffffc), param=2).expect(BOUNDS, operand=1)
    before = m.read(TARGET, 4096)
    q.run(COPY, (source, 8, 0), (target, 4, 0)).expect(OVERFLOW, needed=8)
    assert m.read(TARGET, 4096) == before
    assert q.state() == ENABLED and g.r32(ERROR) == 0, "a job's error must not be a queue error"


@test_pci
def an_index_out_of_bounds_reports_value_and_position(m, g, q):
    source, target = data(g)
    m.write(SOURCE + 1024, pack("4I", 3, 5, 1000, 7))
    q.run(SCU_ACCESS, (source, 16, 0), (source, 4, 1024), (0, 0, 0), (0, 0, 0), (target, 4, 0), param=2 | 2 << 2) \
        .expect(INDEX, needed=1000, element=2)
    m.write(SOURCE + 1032, pack("I", 0))
    q.run(SCU_ACCESS, (source, 16, 0), (source, 4, 1024), (0, 0, 0), (0, 0, 0), (target, 4, 0), param=2 | 2 << 2) \
        .expect(OK, count=4)


@test_on(Machine, Gtu, "gtu-pci,addr=4,x-absent-units=4,x-iru-index-bits=16")
def limit_absent_and_width_errors_are_reported(m, g, q):
    assert g.r32(UNITS) == 0x1b and g.r32(0x3000) == 0
    m.fill(SOURCE, 1 << 20, 0)
    big, target = g.region(SOURCE, 1 << 20, READ), g.region(TARGET, 1 << 20)
    q.run(COPY, (big, 1 << 20, 0), (target, 1 << 20, 0), limit=1).expect(LIMIT)
    q.run(0x30).expect(ABSENT)
    m.write(SOURCE, pack("4I", 1, 2, 65536, 3))
    q.run(IRU, (big, 4, 0), (0, 0, 0), (target, 4, 0), param=1 << 9).expect(WIDTH, needed=65536)


@test_pci
def accesses_outside_memory_end_jobs_with_dma_errors(m, g, q):
    source, target = data(g)
    # (0xfff00000 is QEMU's BIOS: readable, not writable; the device's registers are not memory)
    for base in (RAM_END, RAM_END - 2048, g.bars[0], g.bars[2], 0xfffffffffffff000, 1 << 40, 0xfee00000):
        nowhere = g.region(base, 4096, slot=40)
        g.do(INVALIDATE, 0, 40)
        q.run(COPY, (nowhere, 4096, 0), (target, 4096, 0)).expect(DMA, operand=0)
        q.run(COPY, (source, 4096, 0), (nowhere, 4096, 0)).expect(DMA, operand=1)
    bios = g.region(0xffff0000, 4096)
    q.run(COPY, (bios, 4096, 0), (target, 4096, 0)).expect(OK)
    q.run(COPY, (source, 4096, 0), (bios, 4096, 0)).expect(DMA, operand=1)
    q.run(COPY, (source, 4096, 0), (target, 4096, 0)).expect(OK)
    # accesses up to the last byte of memory work
    edge = g.region(RAM_END - 4096, 4096)
    q.run(COPY, (source, 4096, 0), (edge, 4096, 0)).expect(OK)
    assert m.read(RAM_END - 4096, 4096) == m.read(SOURCE, 4096)


@test_pci
def unmapped_rings_put_the_queue_into_dma_error(m, g):
    g.start()
    for number, (sq, cq) in enumerate(((1 << 40, RINGS), (RAM_END, RINGS), (RINGS, RAM_END)), 1):
        g.do(QUEUE_ENABLE, number, 0, sq, cq, 4 | 4 << 8, NO_RING)
        q = Queue(g, number, RINGS)
        m.fill(RINGS, 4096, 0)
        q.tail = 1
        q.ring()
        wait("the queue's error", lambda: q.state() == DMA_ERROR)
        assert g.r32(ERROR) & E_QUEUE
        g.w32(ERROR, 0xf)
    g.do(QUEUE_DISABLE, 0)
    g.do(CTX_DISABLE, 0)
    # an unmapped region table: an error at its first use
    g.do(CTX_ENABLE, 0, 1 << 40, 6, 1)
    q = g.queues[0]
    q.clear()
    g.do(QUEUE_ENABLE, 0, 0, q.sq, q.cq, RING_LOG2 | RING_LOG2 << 8, NO_RING)
    c = q.run(COPY, (1 << 16, 4, 0), (1 << 16 | 1, 4, 0))
    assert c.status in (KEY, DMA), f"status {NAMES[c.status]}"


@test_pci
def invalid_doorbell_values_stop_the_queue_until_reset(m, g, q):
    for tail, head, state in ((257, 0, TAIL_ERROR), (-1, 0, TAIL_ERROR), (0, 1, HEAD_ERROR), (0, -2, HEAD_ERROR)):
        m.store(q.bell, 8, q.tail + tail & 0xffffffff | (q.head + head & 0xffffffff) << 32)
        wait("the queue's error", lambda: q.state() == state)
        # sticky
        m.store(q.bell, 8, q.tail + 1)
        assert q.state() == state and q.status_block()[0] == state
        assert g.r32(ERROR) & E_QUEUE and g.r64(ERROR_INFO) == state << 32
        g.w32(ERROR, 0xf)
        q.clear()
        g.do(QUEUE_RESET, 0)
        q.run(NOP).expect(OK)
    # as two halves, low first: the write of the high half acts
    q.put(NOP)
    m.store(q.bell, 4, q.tail)
    m.store(q.bell + 4, 4, q.head)
    q.take().expect(OK)


def stream(g, q, length=4096):
    """An IRU stream with a ring of 2 records and no consumer: a job that does not end by itself."""
    g.m.write(SOURCE, bytes(4 * length))
    source, ring = g.region(SOURCE, 4 * length, READ), g.region(TARGET + 0x100000 * q.number, 65536)
    g.m.fill(TARGET + 0x100000 * q.number, 65536, 0)
    q.put(IRU, (source, length, 0), (0, 0, 0), (ring, 2, 0), param=2 << 3)
    q.ring()
    wait("two records", lambda: g.m.load(TARGET + 0x100000 * q.number, 4) == 2)


@test_pci
def a_canceled_job_ends_with_status_canceled(m, g, q):
    stream(g, q)
    assert g.r32(STATUS) & 2 and q.completion(0) is None
    g.do(QUEUE_CANCEL, 0, 1)
    q.take().expect(CANCELED, count=2)
    q.run(NOP).expect(OK)


@test_pci
def a_stalled_job_frees_its_unit_for_another_queue(m, g):
    q = g.start(2)
    stream(g, q)
    # another queue waits for the unit: the model counts 2^30 cycles of idle time at 1.27 GHz
    other = g.queues[1]
    stream_of = g.region(SOURCE, 4096, READ)
    ring = g.region(TARGET + 0x100000, 65536)
    other.put(IRU, (stream_of, 32, 0), (0, 0, 0), (ring, 2, 0), param=2 << 3)
    other.ring()
    q.take().expect(STALLED)
    other.take().expect(OK, count=1)
