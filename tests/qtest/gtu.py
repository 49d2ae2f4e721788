# SPDX-License-Identifier: MIT
"""Drives the device in a Machine as Documentation/hardware.md specifies: registers, mailbox, regions, queues, interrupts."""
import pathlib
import re
import struct

from machine import COMMAND, MASTER, MEMORY, Machine, Virt, pack, wait
from suite import test_on

(OK, OPCODE, RESERVED, PARAM, OPERAND, KEY, RIGHTS, BOUNDS, INDEX, OVERFLOW, DMA, ABSENT, LIMIT, WIDTH, STALLED,
 CANCELED) = range(16)
NAMES = ("OK OPCODE RESERVED PARAM OPERAND KEY RIGHTS BOUNDS INDEX OVERFLOW DMA ABSENT LIMIT WIDTH STALLED "
         "CANCELED").split()
NOP, COPY, FILL, SCU_BITMASK, SCU_ACCESS, IRU = 0x00, 0x01, 0x02, 0x10, 0x12, 0x20
MAGIC, VERSION, CAPS, UNITS, EPOCH, STATUS, RESET, SCRATCH = 0, 4, 8, 0x10, 0x14, 0x18, 0x1c, 0x20
ERROR, ERROR_INFO, VECTORS, STRIDE = 0x28, 0x30, 0x50, 0x58
ARG, CMD, MBOX, RESULT = 0x100, 0x140, 0x144, 0x148
RESET_KEY = 0x52455345
E_DMA, E_QUEUE, E_REGISTER = 1, 2, 4
(MB_NOP, CTX_ENABLE, CTX_DISABLE, INVALIDATE, QUEUE_ENABLE, QUEUE_DISABLE, QUEUE_RESET, QUEUE_STATE, EVENT_ENABLE,
 EVENT_DISABLE, QUEUE_CANCEL, QUEUE_SEEK, CTX_COUNTERS) = range(13)
DISABLED, ENABLED, TAIL_ERROR, HEAD_ERROR, DMA_ERROR = range(5)
READ, WRITE, APERTURE = 2, 4, 8
NO_RING = 0xffffffff

# Memory layout: addresses for the device and for each queue.
TABLE, MESSAGES, EVENTS, RINGS, SOURCE, TARGET = 0x100000, 0x110000, 0x120000, 0x200000, 0x1000000, 0x3000000
RING_BYTES = 0x20000
RING_LOG2 = 8
VIRT_BARS = {0: 0x3e000000, 1: 0x3e100000, 2: 0x20000000, 4: 0x10000000}
BARS = {0: 0xe0000000, 1: 0xe0100000, 2: 0xd0000000, 4: 0xc0000000}
SIZES = {0: 0x10000, 1: 0x1000, 2: 0x1000000, 4: 0x1000000}
CAP_EXP, CAP_MSIX = 0x40, 0x80


def numbers(pattern):
    """The numbers that hw.h defines, of the names that match."""
    header = pathlib.Path(__file__).parents[2] / "include/uapi/gtu/hw.h"
    found = re.findall(rf"^#define {pattern}\s+(\d+)\b", header.read_text(), re.M)
    assert found, f"hw.h defines no {pattern}"
    return [int(number) for number in found]


class Gtu:
    """The function at `where`, with its BARs mapped and decoded; `shift` separates the BARs of a second device."""

    def __init__(self, machine, where=(0, 4, 0), shift=0, master=True):
        bars = VIRT_BARS if machine.ram else BARS
        self.m, self.where, self.bars = machine, where, {n: base + shift for n, base in bars.items()}
        self.queues, self.regions, self.cookie = {}, 0, 0
        self.place(master)

    def place(self, master=True):
        for n, base in self.bars.items():
            self.m.set_config(self.where, 0x10 + 4 * n, 4, base)
            if n in (2, 4):
                self.m.set_config(self.where, 0x14 + 4 * n, 4, 0)
        self.command(MEMORY | (MASTER if master else 0))

    def command(self, bits):
        self.m.set_config(self.where, COMMAND, 2, bits)

    def r32(self, at):
        return self.m.load(self.bars[0] + at, 4)

    def r64(self, at):
        return self.m.load(self.bars[0] + at, 8)

    def w32(self, at, value):
        self.m.store(self.bars[0] + at, 4, value)

    def w64(self, at, value):
        self.m.store(self.bars[0] + at, 8, value)

    # ---- Mailbox ----
    def mailbox(self, command, *arguments):
        """Run a command; returns the status (0: success)."""
        for n, value in enumerate(arguments):
            self.w64(ARG + 8 * n, value)
        self.w32(CMD, command)
        wait("the mailbox", lambda: not self.r32(MBOX) >> 31)
        return self.r32(MBOX)

    def do(self, command, *arguments):
        status = self.mailbox(command, *arguments)
        assert not status, f"mailbox command {command} {arguments}: error {status}"

    def start(self, queues=1, event_ring=NO_RING):
        """Enable context 0 and its queues, with cleared rings."""
        self.m.fill(TABLE, 64 * 64, 0)
        self.do(CTX_ENABLE, 0, self.m.at(TABLE), 6, 1)
        self.queues = {}
        for number in range(queues):
            self.queues[number] = q = Queue(self, number, RINGS + number * RING_BYTES)
            q.clear()
            self.do(QUEUE_ENABLE, number, 0, self.m.at(q.sq), self.m.at(q.cq), RING_LOG2 | RING_LOG2 << 8, event_ring)
        return self.queues[0]

    # ---- Regions ----
    def region(self, base, length, rights=READ | WRITE, levels=0, offset=0, slot=None, generation=1):
        """Enter a region; returns its key."""
        if slot is None:
            slot, self.regions = self.regions, self.regions + 1
        key = generation << 16 | slot
        base = base if rights & APERTURE else self.m.at(base)
        self.m.write(TABLE + 64 * slot, pack("IIQQQ32x", key, 1 | rights | levels << 8 | 12 << 16, length, base, offset))
        return key

    # ---- Interrupts ----
    def msix(self, on=True, masked=False):
        """Each vector's message writes 0x100 + vector to its own word in memory."""
        for vector in range(self.r32(VECTORS)):
            entry = self.bars[1] + 16 * vector
            self.m.store(entry, 4, MESSAGES + 4 * vector)
            self.m.store(entry + 4, 4, 0)
            self.m.store(entry + 8, 4, 0x100 + vector)
            self.m.store(entry + 12, 4, 0)
        self.m.fill(MESSAGES, 4096, 0)
        self.m.set_config(self.where, CAP_MSIX + 2, 2, on << 15 | masked << 14)

    def mask(self, vector, masked):
        self.m.store(self.bars[1] + 16 * vector + 12, 4, masked)

    def pending(self, vector):
        return self.m.load(self.bars[1] + 0x800, 8) >> vector & 1

    def message(self, vector):
        return self.m.load(MESSAGES + 4 * vector, 4)


class Platform(Gtu):
    """The platform device: its address is a property, and it may access memory from the start."""

    def __init__(self, machine, registers=0x0cff0000, doorbells=0x0b000000, aperture=0x0d000000):
        self.m, self.bars = machine, {0: registers, 2: doorbells, 4: aperture}
        self.queues, self.regions, self.cookie = {}, 0, 0


PCI, PLATFORM = (Machine, Gtu, "gtu-pci,addr=4"), (Virt, Platform, "gtu-platform")
test_pci, test_platform = test_on(*PCI), test_on(*PLATFORM)


class Queue:
    def __init__(self, gtu, number, at):
        self.gtu, self.m, self.number, self.sq, self.cq = gtu, gtu.m, number, at, at + 0x10000
        self.tail = self.head = 0

    def clear(self):
        self.tail = self.head = 0
        self.m.fill(self.sq, RING_BYTES, 0)

    def put(self, opcode, *operands, param=0, flags=0, imm=0, param2=0, limit=0, reserved=0):
        """Write a descriptor to the ring without ringing the doorbell; operands are (key, count, offset)."""
        self.gtu.cookie += 1
        data = pack("BBHIQQII", opcode, reserved, flags, param, self.gtu.cookie, imm, param2, limit)
        for key, count, offset in operands:
            data += pack("IIQ", key, count, offset)
        self.m.write(self.sq + 128 * (self.tail & (1 << RING_LOG2) - 1), data.ljust(128, b"\0"))
        self.tail += 1
        return self.gtu.cookie

    @property
    def bell(self):
        return self.gtu.bars[2] + (self.number << 16)

    def ring(self):
        self.m.store(self.bell, 8, self.tail | self.head << 32)

    def completion(self, index):
        """Completion number `index` since the queue was enabled, or None."""
        at = self.cq + 64 * (index & (1 << RING_LOG2) - 1)
        c = Completion(self.m.read(at, 64))
        return c if c.phase == (~index >> RING_LOG2 & 1) else None

    def take(self):
        """Wait for the next completion."""
        c = wait(f"a completion of queue {self.number}", lambda: self.completion(self.head))
        self.head += 1
        return c

    def run(self, *arguments, **more):
        """Run one job; returns its completion."""
        cookie = self.put(*arguments, **more)
        self.ring()
        c = self.take()
        assert c.cookie == cookie, f"completion of job {c.cookie}, expected {cookie}"
        return c

    def state(self):
        self.gtu.do(QUEUE_STATE, self.number)
        return self.gtu.r64(RESULT + 16)

    def status_block(self):
        return struct.unpack("<IIII", self.m.read(self.cq + (64 << RING_LOG2), 16))


class Completion:
    def __init__(self, data):
        (self.cookie, self.count, self.needed, self.cycles, self.dropped, self.element, self.index, _, self.operand, _, _,
         self.status, self.phase) = struct.unpack("<QQQQQQIHBBIHH", data)

    def expect(self, status, **fields):
        assert self.status == status, f"status {NAMES[self.status]}, expected {NAMES[status]}"
        for name, value in fields.items():
            assert getattr(self, name) == value, f"{name} is {getattr(self, name):#x}, expected {value:#x}"
