# SPDX-License-Identifier: MIT
"""The device behind arm64's SMMU, whose event queue the user can place anywhere: also over registers that control the
device while it waits for a translation. The machine must survive, and the event's write must take effect."""
from gtu import *
from machine import Virt, wait
from suite import test_arm64, test_on
from test_life import works

UNIT = 0x09050000
CR0, CR0_ACK, TABLE_BASE, TABLE_CONFIG, EVENT_BASE = 0x20, 0x24, 0x80, 0x88, 0xa0
EVENT_PUT, EVENT_TAKEN = 0xa8, 0xac
SWITCH = 0x7f00000                      # offset in memory: an empty stream table
FRESH = 0x6000000                       # offset in memory: unused otherwise, so the device has no translation for it


class Smmu(Virt):
    board = ("virt,gic-version=2,highmem=off,iommu=smmuv3",) + Virt.board[1:]

    def translate(self, events):
        """Enable translation: every access causes an event, written to `events`."""
        self.fill(SWITCH, 0x10000, 0)
        self.store(UNIT + TABLE_BASE, 8, self.at(SWITCH))
        self.store(UNIT + TABLE_CONFIG, 4, 16)
        self.store(UNIT + EVENT_BASE, 8, events)
        # reset the queue's indices
        self.store(UNIT + EVENT_PUT, 4, 0)
        self.store(UNIT + EVENT_TAKEN, 4, 0)
        self.store(UNIT + CR0, 4, 1 | 1 << 2)
        assert self.load(UNIT + CR0_ACK, 4) & 5 == 5

    def off(self):
        self.store(UNIT + CR0, 4, 0)


def ask(g, q):
    """Submit a job that needs a new translation."""
    fresh, target = g.region(FRESH, 4096, READ), g.region(TARGET, 4096)
    q.put(COPY, (fresh, 4096, 0), (target, 4096, 0))
    q.ring()


@test_on(Smmu, Gtu, "gtu-pci,addr=4")
def a_failed_translation_writes_an_smmu_event(m, g):
    works(g)
    q = g.queues[0]
    m.fill(EVENTS, 32, 0)
    m.translate(m.at(EVENTS))
    ask(g, q)
    wait("the event", lambda: m.load(EVENTS, 4))
    assert m.load(EVENTS + 4, 4) == 4 << 3, "the event names another stream"
    q.take().expect(DMA, operand=0)
    m.off()
    works_again(g)


def works_again(g):
    g.place()
    g.w32(RESET, RESET_KEY)
    works(g)


@test_arm64
def an_event_clears_bus_master():
    # the event's second word, stream number 0x20, overwrites the command register: memory and master are cleared
    with Smmu("gtu-pci,addr=4") as m:
        for _ in range(5):
            g = Gtu(m)
            g.w32(RESET, RESET_KEY)
            works(g)
            m.translate(m._config(g.where, 0))
            ask(g, g.queues[0])
            wait("the event", lambda: not m.config(g.where, 4, 2) & 6)
            assert m.config(g.where, 0, 4) == 0x47541234
            m.off()
            works_again(g)


@test_on(Smmu, Gtu, "gtu-pci,addr=4")
def an_event_clears_bus_master_during_a_register_access(m, g):
    # the same with a mailbox command instead of a step of the device, on its caller's stack
    works(g)
    m.translate(m._config(g.where, 0))
    # enabling a queue writes its status block
    for n, value in enumerate((1, 0, m.at(FRESH), m.at(FRESH + 0x10000), RING_LOG2 | RING_LOG2 << 8, NO_RING)):
        g.w64(ARG + 8 * n, value)
    g.w32(CMD, QUEUE_ENABLE)
    wait("the event", lambda: not m.config(g.where, 4, 2) & 6)
    m.off()
    works_again(g)


@test_arm64
def the_device_survives_smmu_events_in_its_registers():
    with Smmu("gtu-pci,addr=4") as m:
        for at in (0, RESET & ~31, CMD, 0x200, 0x8000):
            g = Gtu(m)
            g.w32(RESET, RESET_KEY)
            works(g)
            q = g.queues[0]
            m.translate(g.bars[0] + at)
            ask(g, q)
            q.take().expect(DMA, operand=0)
            m.off()
            works_again(g)
