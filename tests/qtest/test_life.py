# SPDX-License-Identifier: MIT
"""Loss of bus mastering, memory and device state during jobs; interrupts."""
import time

from gtu import *
from machine import COMMAND, ECAM, MASTER, MEMORY, Ended, Machine, Refused, wait
from suite import refused, test, test_on
from test_jobs import data, stream
from test_registers import check_reset_values

BATCH, PIECE = 250, 24 << 20


def batch(g, q, source=SOURCE, target=TARGET, piece=PIECE):
    """Start a batch of copies of the same bytes: minutes for a CPU, under a second for the device. Running at return."""
    g.m.fill(source, piece, 0x5a)
    g.m.fill(target, piece, 0)
    a, b = g.region(source, piece, READ), g.region(target, piece)
    for _ in range(BATCH):
        q.put(COPY, (a, piece // 8, 0), (b, piece // 8, 0), param=3)
    q.ring()
    wait("the first copies", lambda: q.completion(1))


def still(g, q, target=TARGET, length=PIECE):
    """Check that nothing writes to the target or the completions any more, and that the batch was not complete before."""
    g.m.fill(target, length, 0x11)
    before = g.m.read(q.cq, 64 << RING_LOG2)
    done = sum(q.completion(i) is not None for i in range(BATCH))
    assert done < BATCH, "the batch ended too early for this check"
    time.sleep(0.05)
    assert g.m.read(q.cq, 64 << RING_LOG2) == before, "completions were written afterwards"
    for at in range(0, length, 1 << 20):
        assert g.m.read(target + at, 1 << 16) == b"\x11" * (1 << 16), "the target was written afterwards"


def works(g):
    """Set everything up again and run a job."""
    g.regions = 0
    q = g.start()
    source, target = data(g)
    q.run(COPY, (source, 512, 0), (target, 512, 0), param=3).expect(OK)
    assert g.m.read(TARGET, 4096) == g.m.read(SOURCE, 4096)


def reset_during_job(machine, device, options, reset, place=False):
    with machine(options) as m:
        for job in (batch, stream):
            g = device(m)
            epoch = g.r32(EPOCH)
            q = g.start()
            g.w64(SCRATCH, 0x77)
            m.store(g.bars[4], 8, 0x1234)
            job(g, q)
            assert g.r32(STATUS) & 2
            reset(g)
            if place:
                assert not m.config(g.where, COMMAND, 2) & (MEMORY | MASTER)
                g.place()
            if job == batch:
                still(g, q)
            assert g.r32(EPOCH) == epoch + 1
            check_reset_values(g)
            assert m.load(g.bars[4], 8) == 0x1234, "the aperture must keep its contents"
            works(g)
            g.w32(RESET, RESET_KEY)


@test
def the_reset_register_ends_a_running_job():
    reset_during_job(*PCI, lambda g: g.w32(RESET, RESET_KEY))


@test
def a_function_reset_ends_a_running_job():
    reset_during_job(*PCI, lambda g: g.m.set_config(g.where, CAP_EXP + 8, 2, 1 << 15), place=True)


@test
def a_system_reset_ends_a_running_job():
    def reset(g):
        g.m.monitor("system_reset")
        wait("the reset", lambda: not g.m.config(g.where, COMMAND, 2) & MEMORY)
    reset_during_job(*PCI, reset, place=True)


@test_pci
def clearing_bus_master_stops_dma_of_a_running_job(m, g, q):
    batch(g, q)
    g.command(MEMORY)
    still(g, q)
    wait("the queue's error", lambda: q.state() == DMA_ERROR)
    assert g.r32(ERROR) & E_DMA
    g.command(MEMORY | MASTER)
    still(g, q)
    g.w32(ERROR, 0xf)
    q.clear()
    g.do(QUEUE_RESET, 0)
    q.run(NOP).expect(OK)


@test_on(Machine, lambda m: Gtu(m, master=False), "gtu-pci,addr=4")
def the_device_performs_no_dma_without_bus_master(m, g, q):
    q.clear()
    q.put(NOP)
    q.ring()
    wait("the queue's error", lambda: q.state() == DMA_ERROR)
    assert not any(m.read(q.cq, 64))


@test
def disabling_a_target_bar_ends_copies_with_dma_errors():
    # memory that can be unmapped at any time: BAR 4 of another function
    with Machine("gtu-pci,addr=4", "gtu-pci,addr=5,map-aperture=on") as m:
        other = Gtu(m, (0, 5, 0), shift=0x4000000)
        g = Gtu(m)
        q = g.start()
        there = other.bars[4]
        batch(g, q, target=there, piece=8 << 20)
        assert m.read(there, 4096) == b"\x5a" * 4096
        other.command(0)
        wait("a DMA error", lambda: [c for i in range(BATCH) for c in [q.completion(i)] if c and c.status == DMA])
        wait("the last of the batch", lambda: q.completion(BATCH - 1)).expect(DMA, operand=1)
        q.head = BATCH
        other.command(MEMORY)
        m.fill(there, 8 << 20, 0x22)
        time.sleep(0.02)
        assert m.read(there, 65536) == b"\x22" * 65536
        a, b = g.region(SOURCE, 4096, READ), g.region(there, 4096)
        q.run(COPY, (a, 4096, 0), (b, 4096, 0)).expect(OK)
        assert m.read(there, 4096) == b"\x5a" * 4096
        # moved: neither the old address nor an old pointer is valid
        other.bars[4] = 0xc8000000
        other.place()
        q.run(COPY, (a, 4096, 0), (b, 4096, 0)).expect(DMA, operand=1)
        assert m.read(other.bars[4], 4096) == b"\x5a" * 4096


@test_pci
def copies_fail_while_memory_is_read_only(m, g, q):
    # q35's PAM registers control 0xd0000: 0x33 is writable memory, 0x11 read-only memory
    source, _ = data(g)
    low = g.region(0xd0000, 4096)
    for value, status in ((0x33, OK), (0x11, DMA), (0x33, OK)):
        m.set_config((0, 0, 0), 0x93, 1, value)
        q.run(COPY, (source, 4096, 0), (low, 4096, 0)).expect(status)
    assert m.read(0xd0000, 4096) == m.read(SOURCE, 4096)


@test
def copies_read_the_aperture_with_or_without_map_aperture():
    for options in ("", ",map-aperture=on"):
        with Machine("gtu-pci,addr=4" + options) as m:
            g = Gtu(m)
            q = g.start()
            m.write(g.bars[4] + 0x1000, bytes(range(256)))
            inside, target = g.region(0x1000, 256, READ | APERTURE), g.region(TARGET, 256)
            q.run(COPY, (inside, 256, 0), (target, 256, 0)).expect(OK)
            assert m.read(TARGET, 256) == bytes(range(256))


@test_pci
def a_paused_machine_suspends_its_jobs(m, g, q):
    batch(g, q)
    m.monitor("stop")
    still(g, q)
    m.monitor("cont")
    wait("the last of the batch", lambda: q.completion(BATCH - 1)).expect(OK)


@test
def migration_and_snapshots_are_refused():
    with Machine("gtu-pci,addr=4,id=unit") as m:
        with refused(Refused, "unit cannot be migrated: its queues, jobs and memory exist only here"):
            m.monitor("migrate", uri="exec:cat >/dev/null")
        said = m.monitor("human-monitor-command", command_line="savevm before")
        assert "unit cannot be migrated" in said, f"savevm: {said}"


@test
def qemu_refuses_the_device_with_only_migratable():
    with refused(Ended, "unit cannot be migrated"):
        Machine("gtu-pci,addr=4,id=unit", options=("-only-migratable",)).close()


@test
def errors_and_resets_do_not_affect_another_device():
    with Machine("gtu-pci,addr=4", "gtu-pci,addr=5") as m:
        g, other = Gtu(m), Gtu(m, (0, 5, 0), shift=0x4000000)
        g.msix()
        q = g.start()
        batch(g, q)
        for reset in (lambda: other.w32(RESET, RESET_KEY), lambda: m.set_config(other.where, CAP_EXP + 8, 2, 1 << 15)):
            other.place()
            other.r32(0x6000)
            assert other.r32(ERROR) and not g.r32(ERROR)
            reset()
        assert not q.completion(BATCH - 1), "the batch ended too early for this check"
        wait("the last of the batch", lambda: q.completion(BATCH - 1)).expect(OK)
        assert not g.message(0), "the other device's interrupt"
        g.w32(RESET, RESET_KEY)
        for one in (g, other):
            one.place()
            works(one)


# ---- Interrupts ----

def error_interrupt(g):
    """Raise vector 0: ERROR becomes non-zero."""
    g.w32(ERROR, 0xf)
    g.m.fill(MESSAGES, 4096, 0)
    g.r32(0x6000)


def event_interrupts(g, vectors):
    """Enable one event ring and one queue per vector; returns a function that makes a queue raise its event."""
    g.m.fill(TABLE, 4096, 0)
    g.do(CTX_ENABLE, 0, g.m.at(TABLE), 6, 1)
    g.m.fill(EVENTS, 0x10000, 0)
    for ring, vector in enumerate(vectors):
        g.do(EVENT_ENABLE, ring, g.m.at(EVENTS + 0x1000 * ring), 4, vector)
        g.queues[ring] = q = Queue(g, ring, RINGS + ring * RING_BYTES)
        q.clear()
        g.do(QUEUE_ENABLE, ring, 0, g.m.at(q.sq), g.m.at(q.cq), RING_LOG2 | RING_LOG2 << 8, ring)

    def event(ring):
        q = g.queues[ring]
        g.m.store(q.bell + 8, 4, q.tail)
        q.run(NOP).expect(OK)
    return event


@test_pci
def interrupts_send_the_messages_of_their_vectors(m, g):
    g.msix()
    error_interrupt(g)
    wait("vector 0", lambda: g.message(0) == 0x100)
    event = event_interrupts(g, (1, 7, 32))
    for ring, vector in enumerate((1, 7, 32)):
        event(ring)
        wait(f"vector {vector}", lambda: g.message(vector) == 0x100 + vector)
        assert m.load(EVENTS + 0x1000 * ring, 4) == 1 << 31 | ring
    assert not any(g.message(v) for v in range(1, 33) if v not in (1, 7, 32)), "unexpected message"


@test_pci
def masked_messages_stay_pending_until_unmasked(m, g):
    g.msix()
    event = event_interrupts(g, (5,))
    # one vector
    g.mask(5, True)
    event(0)
    wait("pending", lambda: g.pending(5))
    assert not g.message(5)
    g.mask(5, False)
    wait("the message", lambda: g.message(5) == 0x105)
    assert not g.pending(5)
    # the whole function
    m.store(MESSAGES + 20, 4, 0)
    m.set_config(g.where, CAP_MSIX + 2, 2, 3 << 14)
    event(0)
    wait("pending", lambda: g.pending(5))
    assert not g.message(5)
    m.set_config(g.where, CAP_MSIX + 2, 2, 2 << 14)
    wait("the message", lambda: g.message(5) == 0x105)
    assert not g.pending(5)


@test_pci
def messages_wait_for_bus_master(m, g):
    g.msix()
    g.command(MEMORY)
    error_interrupt(g)
    wait("pending", lambda: g.pending(0))
    assert not g.message(0)
    g.command(MEMORY | MASTER)
    wait("the message", lambda: g.message(0) == 0x100)
    assert not g.pending(0)
    # no message is sent or kept pending while MSI-X is disabled
    m.set_config(g.where, CAP_MSIX + 2, 2, 0)
    error_interrupt(g)
    assert not g.pending(0) and not g.message(0)
    m.set_config(g.where, CAP_MSIX + 2, 2, 1 << 15)
    assert not g.message(0)


@test_pci
def messages_to_own_registers_do_not_hang_the_device(m, g):
    # a message may target any address, also a register of the function
    g.msix()
    event = event_interrupts(g, (1,))
    m.store(g.bars[1] + 16, 4, g.bars[0] + SCRATCH)
    event(0)
    wait("the write", lambda: g.r64(SCRATCH) == 0x101)
    # QEMU may drop the write of a message that an access raises ("Blocked re-entrant IO")
    m.store(g.bars[1], 4, g.bars[0] + SCRATCH)
    error_interrupt(g)
    assert g.r64(SCRATCH) in (0x100, 0x101)
    m.store(g.bars[1], 4, g.bars[0] + 0x6000)
    g.w32(ERROR, 0xf)
    g.r32(0x6000)
    assert g.r32(MAGIC) == 0x31555447
    g.w32(RESET, RESET_KEY)
    works(g)


@test
def messages_can_move_a_bar_while_qemu_remaps_memory():
    # messages that reconfigure another function must wait while QEMU changes the memory map
    places = 0xc8000000, 0xca000000
    with Machine("gtu-pci,addr=4", "gtu-pci,addr=5,map-aperture=on") as m:
        g, other = Gtu(m), (0, 5, 0)
        m.extended(g.where, 0x100)
        g.msix()
        m.set_config(other, COMMAND, 2, MEMORY)
        m.fill(EVENTS, 0x10000, 0)
        q = g.start()
        g.do(QUEUE_DISABLE, 0)
        for ring in range(2):
            entry = g.bars[1] + 16 * ring
            m.store(entry, 4, ECAM + (5 << 15) + 0x20)
            m.store(entry + 8, 4, places[ring])
            g.do(EVENT_ENABLE, ring, EVENTS + 0x1000 * ring, 4, ring)
        a, b = g.region(SOURCE, 4096, READ), [g.region(place, 4096) for place in places]
        for i in range(20):
            place = i & 1
            q.clear()
            g.do(QUEUE_ENABLE, 0, 0, q.sq, q.cq, RING_LOG2 | RING_LOG2 << 8, place)
            m.store(q.bell + 8, 4, 0)
            q.put(NOP)
            # the event arrives while QEMU is busy, and 0xd8000 changes before QEMU processes events
            m.together(f"writeq {q.bell:#x} {q.tail | q.head << 32:#x}", f"memset {SOURCE:#x} {16 << 20:#x} {i:#x}",
                       f"outl 0xcf8 {1 << 31 | 0x90:#x}", f"outb 0xcff {(0x33, 0x11)[place]:#x}")
            q.take().expect(OK)
            wait("the message", lambda: m.config(other, 0x20, 4) & ~15 == places[place])
            m.fill(places[place], 4096, 0xee)
            q.run(COPY, (a, 4096, 0), (b[place], 4096, 0)).expect(OK)
            assert m.read(places[place], 4096) == bytes([i]) * 4096
            q.run(COPY, (a, 4096, 0), (b[1 - place], 4096, 0)).expect(DMA)
            g.do(QUEUE_DISABLE, 0)
            g.w32(0x200 + 4 * place, i // 2 + 1)
