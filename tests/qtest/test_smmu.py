# SPDX-License-Identifier: MIT
"""Behind arm64's IOMMU, which writes its events to where its user says: also to what decides over the device itself, while
the device waits for it. The machine must survive that, and what was asked for must have happened."""
from gtu import *
from machine import Virt, wait
from suite import test_arm64
from test_life import batch, works

UNIT = 0x09050000
CR0, CR0_ACK, TABLE_BASE, TABLE_CONFIG, EVENT_BASE = 0x20, 0x24, 0x80, 0x88, 0xa0
EVENT_PUT, EVENT_TAKEN = 0xa8, 0xac
SWITCH = 0x7f00000                      # of memory: an empty table of streams
FRESH = 0x6000000                       # of memory: nothing else here uses it, so the device has not asked for it


class Smmu(Virt):
    board = ("virt,gic-version=2,highmem=off,iommu=smmuv3",) + Virt.board[1:]

    def translate(self, events):
        """On from now on: every access is an event, written to `events`."""
        self.fill(SWITCH, 0x10000, 0)
        self.store(UNIT + TABLE_BASE, 8, self.at(SWITCH))
        self.store(UNIT + TABLE_CONFIG, 4, 16)
        self.store(UNIT + EVENT_BASE, 8, events)
        # as empty as before the first
        self.store(UNIT + EVENT_PUT, 4, 0)
        self.store(UNIT + EVENT_TAKEN, 4, 0)
        self.store(UNIT + CR0, 4, 1 | 1 << 2)
        assert self.load(UNIT + CR0_ACK, 4) & 5 == 5

    def off(self):
        self.store(UNIT + CR0, 4, 0)


def ask(g, q):
    """A job for which the IOMMU must be asked."""
    fresh, target = g.region(FRESH, 4096, READ), g.region(TARGET, 4096)
    q.put(COPY, (fresh, 4096, 0), (target, 4096, 0))
    q.ring()


@test_arm64
def events_come():
    with Smmu("gtu-pci,addr=4") as m:
        g = Gtu(m)
        works(g)
        q = g.queues[0]
        m.fill(EVENTS, 32, 0)
        m.translate(m.at(EVENTS))
        ask(g, q)
        wait("the event", lambda: m.load(EVENTS, 4))
        assert m.load(EVENTS + 4, 4) == 4 << 3, "an event of another stream"
        q.take().expect(DMA, operand=0)
        m.off()
        works_again(g)


def works_again(g):
    g.place()
    g.w32(RESET, RESET_KEY)
    works(g)


@test_arm64
def an_event_takes_bus_mastering():
    # the event's second word, the stream's number 0x20, becomes the command register: neither memory nor master
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


@test_arm64
def an_event_takes_bus_mastering_from_who_asks_by_a_register():
    # the same where no step of the device asks but a mailbox command does, on its caller's stack
    with Smmu("gtu-pci,addr=4") as m:
        g = Gtu(m)
        works(g)
        m.translate(m._config(g.where, 0))
        # a queue that is enabled has its status block written
        for n, value in enumerate((1, 0, m.at(FRESH), m.at(FRESH + 0x10000), RING_LOG2 | RING_LOG2 << 8, NO_RING)):
            g.w64(ARG + 8 * n, value)
        g.w32(CMD, QUEUE_ENABLE)
        wait("the event", lambda: not m.config(g.where, 4, 2) & 6)
        m.off()
        works_again(g)


@test_arm64
def events_to_the_device_itself():
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
