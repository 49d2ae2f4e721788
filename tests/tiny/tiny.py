#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A second, minimal GTU: no units, one queue, NOP, COPY, FILL and FENCE. It was written from
Documentation/hardware.md alone, without code of the model, to test whether that document is complete. Its transport is
vfio-user, as of QEMU 10.1. It serves one machine, then ends; usage as for `gtu`:  tiny.py serve --socket PATH"""
import mmap, os, signal, socket, struct, sys, zlib

QUEUES, CONTEXTS, REGIONS_LOG2, RING_LOG2, VECTORS, EVENT_RINGS, STRIDE = 1, 4, 12, 12, 2, 1, 16
DOORBELLS, APERTURE, LATENCY = 0x10000, 0x1000, 200
CAPS = 1 << 0 | 1 << 2 | 1 << 6                 # REGIONS, LINEAR, LOGICAL_CYCLES
OK, OPCODE, RESERVED, PARAM, OPERAND, KEY, RIGHTS, BOUNDS, INDEX, OVERFLOW, DMA, ABSENT, LIMIT = range(13)
E_COMMAND, E_INDEX, E_STATE, E_ARG = 1, 2, 3, 4
UNIT_OPCODES = {0x10, 0x11, 0x12, 0x13, 0x14, 0x20, 0x30, 0x40}
M32, M64 = (1 << 32) - 1, (1 << 64) - 1


def device_tree():
    """Section 10: the root's properties; without units there are no nodes."""
    names, body = b"", struct.pack(">II", 1, 0)
    def prop(name, value):
        nonlocal names, body
        body += struct.pack(">III", 3, len(value), len(names)) + value + b"\0" * (-len(value) % 4)
        names += name.encode() + b"\0"
    prop("compatible", b"gtu,gtu-1\0")
    prop("#address-cells", struct.pack(">I", 1))
    prop("#size-cells", struct.pack(">I", 0))
    for name, value in (("version", 0x10001), ("contexts", CONTEXTS), ("queues", QUEUES), ("regions-log2", REGIONS_LOG2),
                        ("ring-log2", RING_LOG2), ("vectors", VECTORS), ("event-rings", EVENT_RINGS),
                        ("doorbell-stride-log2", STRIDE)):
        prop("gtu," + name, struct.pack(">I", value))
    prop("clock-frequency", struct.pack(">Q", 10**9))
    prop("gtu,aperture-bytes", struct.pack(">Q", APERTURE))
    body += struct.pack(">II", 2, 9)
    reserve, at = b"\0" * 16, 40 + 16
    return struct.pack(">10I", 0xd00dfeed, at + len(body) + len(names), at, at + len(body), 40, 17, 16, 0, len(names),
                       len(body)) + reserve + body + names


class Refused(Exception):
    """A job's error: status, operand, element, needed."""


class Device:
    def __init__(self):
        self.memory, self.irq, self.tree = [], [None] * VECTORS, device_tree()
        self.aperture, self.msix, self.epoch = bytearray(APERTURE), bytearray(4096), 0
        for v in range(VECTORS):
            self.msix[16 * v + 12] = 1
        self.make_config()
        self.reset()

    # ---- Section 1: the function ----
    def make_config(self):
        c = self.config = bytearray(256)
        struct.pack_into("<HH", c, 0, 0x1234, 0x4754)
        struct.pack_into("<H", c, 6, 0x10)                      # capability list
        c[9:12] = b"\x00\x00\x12"
        struct.pack_into("<HH", c, 0x2c, 0x1234, 0x4754)
        c[0x18], c[0x20], c[0x34] = 4, 0xc, 0x40                # BARs 2 and 4: 64 bits; 4 prefetchable
        struct.pack_into("<BBHI", c, 0x40, 0x10, 0x80, 2, 1 << 28 | 1 << 15)    # Express endpoint, function-level reset
        struct.pack_into("<BBHII", c, 0x80, 0x11, 0, VECTORS - 1, 1, 0x801)     # MSI-X, in BAR 1

    def config_write(self, at, data):
        for i, byte in enumerate(data, at):
            if i in (4, 5, 0x3c, 0x83) or 0x10 <= i < 0x28:
                self.config[i] = byte
            elif i == 0x49 and byte & 0x80:
                self.reset()

    # ---- Section 11 ----
    def reset(self):
        self.epoch = self.epoch % M32 + 1
        self.scratch = self.error = self.error_info = self.cycles = self.status = self.latch = 0
        self.latch_at, self.limit, self.arg, self.result = None, 1 << 40, [0] * 6, [0] * 3
        self.contexts, self.queue, self.events = {}, None, None

    # ---- Memory ----
    def at(self, address, length, write=False):
        """A memoryview of host memory, or None."""
        for start, size, view in self.memory:
            if start <= address and address + length <= start + size and self.config[4] & 4:
                return view[address - start:address - start + length]
        return None

    def interrupt(self, vector):
        if self.irq[vector] is not None and self.config[4] & 4:
            os.write(self.irq[vector], struct.pack("<Q", 1))
        else:
            self.msix[0x800 + vector // 8] |= 1 << vector % 8

    def fail(self, bit, info):
        if not self.error:
            self.error_info = info
        if not self.error & bit:
            self.error |= bit
            self.interrupt(0)

    # ---- Sections 2 and 3: registers ----
    def register(self, at):
        """(value, whether it is 64 bits wide), or None."""
        q = self.queue
        busy = bool(q and not q["state"] > 1 and q["head"] != q["tail"])
        narrow = {0: 0x31555447, 4: 0x10001, 0x10: 0, 0x14: self.epoch, 0x18: 1 | busy << 1 | bool(self.error) << 2, 0x1c: 0,
                  0x28: self.error, 0x40: CONTEXTS, 0x44: QUEUES, 0x48: REGIONS_LOG2, 0x4c: RING_LOG2, 0x50: VECTORS,
                  0x54: EVENT_RINGS, 0x58: STRIDE, 0x80: 0x8000, 0x84: len(self.tree), 0x88: zlib.crc32(self.tree), 0x140: 0,
                  0x144: self.status, 0x200: 0}
        wide = {8: CAPS, 0x20: self.scratch, 0x30: self.error_info, 0x60: 10**9, 0x68: self.cycles, 0x70: APERTURE, 0x90: self.limit}
        wide.update({0x100 + 8 * n: v for n, v in enumerate(self.arg)})
        wide.update({0x148 + 8 * n: v for n, v in enumerate(self.result)})
        if 0x1000 <= at < 0x6000 and at % 0x1000 < 0x10 and at % 4 == 0:
            return 0, False                                     # section 9: no units
        return (narrow[at], False) if at in narrow else (wide[at], True) if at in wide else None

    def read(self, at, size):
        latched, self.latch_at = self.latch_at, None
        if at >= 0x8000:
            return int.from_bytes(self.tree[at - 0x8000:at - 0x8000 + size], "little")
        if size in (4, 8) and at % size == 0:
            if size == 4 and latched == at - 4:
                return self.latch
            r = self.register(at)
            if r and size == 4:
                if r[1]:
                    self.latch_at, self.latch = at, r[0] >> 32
                return r[0] & M32
            if r and r[1]:
                return r[0]
            r = self.register(at - 4) if size == 4 and at % 8 else None
            if r and r[1]:
                return r[0] >> 32
        self.fail(4, at)
        return 0

    def write(self, at, size, value):
        if size not in (4, 8) or at % size or at >= 0x8000:
            return self.fail(4, at)
        low = at & ~7
        def merged(old):
            return value if size == 8 else old & M32 | value << 32 if at & 4 else old & ~M32 & M64 | value
        if low == 0x20:
            self.scratch = merged(self.scratch)
        elif low == 0x90:
            self.limit = merged(self.limit)
        elif 0x100 <= low < 0x130:
            self.arg[(low - 0x100) // 8] = merged(self.arg[(low - 0x100) // 8])
        elif at == 0x1c and size == 4:
            if value == 0x52455345:
                self.reset()
        elif at == 0x28 and size == 4:
            self.error &= ~value
            if not self.error:
                self.error_info = 0
        elif at == 0x140 and size == 4:
            self.result = [0] * 3
            self.status = self.command(value, self.arg)
        elif at == 0x200 and size == 4:
            e = self.events
            if e and (value - e["head"]) & M32 <= (e["tail"] - e["head"]) & M32:
                e["head"] = value
                self.event()
            else:
                self.fail(4, at)
        elif not (self.register(at) and (size == 4 or self.register(at)[1]) or self.register(low) and self.register(low)[1]):
            self.fail(4, at)

    # ---- Section 4: the mailbox ----
    def command(self, command, arg):
        a, b, c, d, e, f = arg
        if command == 0:
            return 0
        if command in (1, 2, 3):
            if a >= CONTEXTS:
                return E_INDEX
            if command == 1:
                if b % 64 or c > REGIONS_LOG2 or d > 16:
                    return E_ARG
                if a in self.contexts:
                    return E_STATE
                self.contexts[a] = (b, c)
                return 0
            if a not in self.contexts:
                return E_STATE
            if command == 3:
                return E_INDEX if b >> self.contexts[a][1] else 0
            if self.queue and self.queue["context"] == a:
                self.queue = None
            del self.contexts[a]
            return 0
        if command == 4:
            if a >= QUEUES or b >= CONTEXTS or f not in (0, M32):
                return E_INDEX
            if c % 128 or d % 64 or e >> 16 or not 1 <= e & 255 <= RING_LOG2 or not 1 <= e >> 8 <= RING_LOG2:
                return E_ARG
            if self.queue or b not in self.contexts:
                return E_STATE
            self.start_queue({"context": b, "sq": c, "cq": d, "sq_log2": e & 255, "cq_log2": e >> 8, "ring": f})
            return 0
        if command in (5, 6, 7):
            q = self.queue
            if a >= QUEUES:
                return E_INDEX
            if command == 7:
                if q:
                    self.result = [q["head"] | q["tail"] << 32, q["done"] | q["taken"] << 32, q["state"]]
                return 0
            if not q:
                return E_STATE
            self.queue = None
            if command == 6:
                self.start_queue(q)
            return 0
        if command == 8:
            if a >= EVENT_RINGS or d >= VECTORS:
                return E_INDEX
            if b % 4 or not 1 <= c <= RING_LOG2:
                return E_ARG
            if self.events:
                return E_STATE
            self.events = {"at": b, "log2": c, "vector": d, "head": 0, "tail": 0}
            self.event()
            return 0
        if command == 9:
            if a >= EVENT_RINGS:
                return E_INDEX
            was, self.events = self.events, None
            return 0 if was else E_STATE
        return E_COMMAND

    def start_queue(self, q):
        self.queue = {**q, "head": 0, "tail": 0, "done": 0, "taken": 0, "state": 1, "arm": None, "due": False, "error": False, "low": 0}
        self.tell()

    # ---- Sections 6 and 8: queue, events ----
    def tell(self):
        q = self.queue
        view = self.at(q["cq"] + (64 << q["cq_log2"]), 64)
        if view:
            view[4:16] = struct.pack("<III", self.epoch, q["head"], q["done"])
            view[0:4] = struct.pack("<I", q["state"])

    def event(self):
        q, e = self.queue, self.events
        if not q or not (q["due"] or q["error"]) or q["ring"] == M32 or not e or (e["tail"] - e["head"]) & M32 >= 1 << e["log2"]:
            return
        view = self.at(e["at"] + 4 * (e["tail"] % (1 << e["log2"])), 4)
        if not view:
            return self.fail(1, e["at"])
        view[:] = struct.pack("<I", q["error"] << 30 | (not e["tail"] >> e["log2"] & 1) << 31)
        e["tail"] = e["tail"] + 1 & M32
        q["due"] = q["error"] = False
        self.interrupt(e["vector"])

    def queue_error(self, state):
        q = self.queue
        q["state"], q["error"] = state, True
        self.tell()
        self.event()
        self.fail(2, state << 32)

    def doorbell(self, at, size, value):
        q = self.queue
        if size < 4 or at % size:
            return self.fail(4, at)
        if not q or q["state"] != 1:
            return
        if at == 0 and size == 4:
            q["low"] = value
        elif at == 0 or at == 4 and size == 4:
            tail, taken = (value & M32, value >> 32) if size == 8 else (q["low"], value)
            if (tail - q["head"]) & M32 > 1 << q["sq_log2"] or (tail - q["tail"]) & M32 > 1 << q["sq_log2"]:
                return self.queue_error(2)
            if (taken - q["taken"]) & M32 > (q["done"] - q["taken"]) & M32:
                return self.queue_error(3)
            q["tail"], q["taken"] = tail, taken
            self.work()
        elif at == 8:
            q["arm"] = value
            self.armed()
        elif at != 0x10:
            self.fail(4, at)

    def armed(self):
        q = self.queue
        if q["arm"] is not None and 0 < (q["done"] - q["arm"]) & M32 < 1 << 31:
            q["arm"], q["due"] = None, True
            self.event()

    def work(self):
        q = self.queue
        while q["state"] == 1 and q["head"] != q["tail"] and (q["done"] - q["taken"]) & M32 < 1 << q["cq_log2"]:
            view = self.at(q["sq"] + 128 * (q["head"] % (1 << q["sq_log2"])), 128)
            if not view:
                self.fail(1, q["sq"])
                return self.queue_error(4)
            index, desc = q["head"], bytes(view)
            q["head"] = q["head"] + 1 & M32
            error, count, cycles = (OK, 0xff, 0, 0), 0, 1
            try:
                count, cycles = self.job(desc)
            except Refused as e:
                error = e.args
            self.cycles += cycles
            view = self.at(q["cq"] + 64 * (q["done"] % (1 << q["cq_log2"])), 64)
            if not view:
                self.fail(1, q["cq"])
                return self.queue_error(4)
            view[0:62] = struct.pack("<QQQQQQIHBBIH", struct.unpack_from("<Q", desc, 8)[0], count, error[3], cycles, 0, error[2], index, 0,
                                     error[1], 0, 0, error[0])
            view[62:64] = struct.pack("<H", not q["done"] >> q["cq_log2"] & 1)
            q["done"] = q["done"] + 1 & M32
            self.tell()
            self.armed()

    # ---- Section 6: descriptors ----
    def job(self, desc):
        opcode, zero, flags, param, _, imm, param2, limit = struct.unpack_from("<BBHIQQII", desc)
        operands = [struct.unpack_from("<IIQ", desc, 32 + 16 * i) for i in range(6)]
        limit = limit << 10 or self.limit
        if zero or flags & ~1:
            raise Refused(RESERVED, 0xff, 0, 0)
        if opcode > 3:
            raise Refused(ABSENT if opcode in UNIT_OPCODES else OPCODE, 0xff, 0, 0)
        if flags & 1:
            key, n, offset = operands[0]
            if not 1 <= n <= 16:
                raise Refused(OPERAND, 0, 0, 0)
            block = self.operand(0, (key, n, offset), 4, 1)
            self.surplus(operands, 1)
            data = self.load(block, 16 * n)
            operands = [struct.unpack_from("<IIQ", data, 16 * i) for i in range(n)]
        operands += [(0, 0, 0)] * (16 - len(operands))
        if param2 or imm and opcode != 2 or param & ~(3 if opcode in (1, 2) else 0):
            raise Refused(RESERVED, 0xff, 0, 0)
        if opcode in (0, 3):                    # with one queue, a FENCE has nothing to wait for
            self.surplus(operands, 0)
            return 0, 1
        width = param & 3
        if opcode == 1:
            source = self.operand(0, operands[0], width, 1)
        elif any(operands[0]):
            raise Refused(OPERAND, 0, 0, 0)
        target = self.operand(1, operands[1], width, 2)
        self.surplus(operands, 2)
        n = operands[0][1] if opcode == 1 else operands[1][1]
        if n > operands[1][1]:
            raise Refused(OVERFLOW, 1, operands[1][1], n)
        cycles = LATENCY + (n << width) // 32 + bool((n << width) % 32)
        if cycles > limit:
            raise Refused(LIMIT, 0xff, 0, 0)
        self.store(target, self.load(source, n << width) if opcode == 1 else imm.to_bytes(8, "little")[:1 << width] * n)
        return n, cycles

    @staticmethod
    def surplus(operands, first):
        for i, o in enumerate(operands[first:], first):
            if any(o):
                raise Refused(OPERAND, i, 0, 0)

    # ---- Section 5: regions ----
    def operand(self, place, operand, width, right):
        key, count, offset = operand
        if not key or offset & (1 << width) - 1 or count == M32:
            raise Refused(OPERAND, place, 0, 0)
        table, log2 = self.contexts[self.queue["context"]]
        slot = key & 0xffff
        if not key >> 16 or slot >> log2:
            raise Refused(KEY, place, 0, 0)
        view = self.at(table + 64 * slot, 64)
        if not view:
            raise Refused(DMA, place, 0, 0)
        is_key, flags, length, base, start = struct.unpack_from("<IIQQQ", view)
        levels, shift = flags >> 8 & 3, flags >> 16 & 63
        if is_key != key or not flags & 1 or not 12 <= shift <= 40 or start % 8 or \
           base % (4096 if levels else 8) or flags & 8 and (levels or base + start + length > APERTURE):
            raise Refused(KEY, place, 0, 0)
        if not flags >> 1 & right:
            raise Refused(RIGHTS, place, 0, 0)
        if offset + (count << width) > length:
            raise Refused(BOUNDS, place, 0, 0)
        return place, width, base, start + offset, levels, shift, flags & 8

    def pieces(self, where, length):
        """The memoryviews that make up an operand."""
        place, width, base, at, levels, shift, aperture = where
        done = 0
        while done < length:
            page, inside = (at + done) >> shift, (at + done) & (1 << shift) - 1
            n = min(length - done, (1 << shift) - inside)
            address = base
            for level in range(levels, 0, -1):
                entry = self.at(address + 8 * (page >> 9 * (level - 1) & 511), 8)
                if not entry:
                    raise Refused(DMA, place, done >> width, 0)
                address = struct.unpack("<Q", entry)[0]
                if address % (4096 if level > 1 else 1 << shift):
                    raise Refused(KEY, place, done >> width, 0)
            address += inside if levels else at + done
            view = memoryview(self.aperture)[address:address + n] if aperture else self.at(address, n)
            if not view:
                raise Refused(DMA, place, done >> width, 0)
            yield done, view
            done += n

    def load(self, where, length):
        return b"".join(bytes(view) for _, view in self.pieces(where, length))

    def store(self, where, data):
        for done, view in self.pieces(where, len(data)):
            view[:] = data[done:done + len(view)]


class Transport:
    """The vfio-user server: handles one message at a time."""
    SIZES = {0: 0x10000, 1: 0x1000, 2: DOORBELLS, 4: APERTURE, 7: 256}

    def __init__(self, sock):
        self.sock, self.device = sock, Device()

    def receive(self, n, fds):
        data = b""
        while len(data) < n:
            part, more, _, _ = socket.recv_fds(self.sock, n - len(data), 8)
            if not part:
                raise EOFError
            data, _ = data + part, fds.extend(more)
        return data

    def serve(self):
        while True:
            fds = []
            ident, command, size, flags, _ = struct.unpack("<HHIII", self.receive(16, fds))
            body = self.receive(size - 16, fds)
            try:
                reply, error = self.message(command, body, fds), 0
            except (KeyError, ValueError, struct.error):
                reply, error = b"", 22
            for fd in fds:
                os.close(fd)
            if not flags & 0x10:
                self.sock.sendall(struct.pack("<HHIII", ident, command, 16 + len(reply), 1 | bool(error) << 5, error) + reply)

    def message(self, command, body, fds):
        d = self.device
        if command == 1:
            return struct.pack("<HH", 0, 0) + b'{"capabilities":{"max_msg_fds":8,"max_data_xfer_size":1048576}}\0'
        if command == 2:
            _, flags, offset, address, size = struct.unpack("<IIQQQ", body)
            if fds:
                m = mmap.mmap(fds[0], size, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE, offset=offset)
                d.memory.append((address, size, memoryview(m)))
            return b""
        if command == 3:
            _, flags, address, size = struct.unpack("<IIQQ", body)
            d.memory = [m for m in d.memory if not (flags & 2 or address <= m[0] and m[0] + m[1] <= address + size)]
            return body
        if command == 4:
            return struct.pack("<IIII", 16, 3, 9, 5)            # can be reset, is PCI
        if command == 5:
            index = struct.unpack_from("<III", body)[2]
            return struct.pack("<IIIIQQ", 32, 3 if index in self.SIZES else 0, index, 0, self.SIZES.get(index, 0), 0)
        if command == 7:
            index = struct.unpack_from("<III", body)[2]
            return struct.pack("<IIII", 16, 9 if index == 2 else 0, index, VECTORS if index == 2 else 0)
        if command == 8:
            _, flags, index, start, count = struct.unpack_from("<IIIII", body)
            if index == 2 and (flags & 4 or flags & 1 and not count):
                for v in range(start, start + count) if count else range(VECTORS):
                    if d.irq[v] is not None:
                        os.close(d.irq[v])
                    d.irq[v] = fds.pop(0) if fds else None
                    if d.irq[v] is not None and d.msix[0x800 + v // 8] >> v % 8 & 1:
                        d.msix[0x800 + v // 8] &= ~(1 << v % 8)
                        d.interrupt(v)
            return b""
        if command == 9:
            offset, region, count = struct.unpack("<QII", body)
            return body + self.load(region, offset, count)
        if command == 10:
            offset, region, count = struct.unpack_from("<QII", body)
            self.store(region, offset, body[16:16 + count])
            return body[:16]
        if command == 13:
            d.make_config()
            d.reset()
            return b""
        raise KeyError(command)

    def load(self, region, at, n):
        d = self.device
        if at + n > self.SIZES[region]:
            raise ValueError
        if region == 0:
            return (d.read(at, n) & (1 << 8 * n) - 1).to_bytes(n, "little")
        return bytes({1: d.msix, 4: d.aperture, 7: d.config}[region][at:at + n]) if region != 2 else bytes(n)

    def store(self, region, at, data):
        d = self.device
        if at + len(data) > self.SIZES[region]:
            raise ValueError
        if region == 0:
            d.write(at, len(data), int.from_bytes(data, "little"))
        elif region == 2:
            d.doorbell(at, len(data), int.from_bytes(data, "little"))
        elif region == 7:
            d.config_write(at, data)
        else:
            (d.msix if region == 1 else d.aperture)[at:at + len(data)] = data


def main():
    path = sys.argv[sys.argv.index("--socket") + 1]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(1)
    try:
        Transport(listener.accept()[0]).serve()
    except EOFError:
        pass
    finally:
        os.unlink(path)


main()
