# SPDX-License-Identifier: MIT
"""A virtual machine driven without a guest: QEMU's qtest socket performs the CPU's accesses, QMP is its monitor.
Only the QEMU binary is needed: environment variables GTU_QEMU and, for arm64, GTU_QEMU_ARM64."""
import json, os, shutil, socket, struct, subprocess, tempfile, time

LIMIT = 60                              # timeout in seconds
RAM_BYTES = 128 << 20
MCH = (0, 0, 0)                         # q35's host bridge
ECAM = 0xb0000000
COMMAND, MEMORY, MASTER = 4, 2, 4


class Line:
    """A line-based socket to which QEMU connects."""

    def __init__(self, path):
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(1)
        self.listener.settimeout(LIMIT)
        self.pending = b""

    def accept(self, process):
        self.listener.settimeout(0.1)
        deadline = time.monotonic() + LIMIT
        while True:
            try:
                self.socket = self.listener.accept()[0]
                break
            except TimeoutError:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise Ended
        self.socket.settimeout(LIMIT)

    def send(self, line):
        try:
            self.socket.sendall(line.encode() + b"\n")
        except (BrokenPipeError, ConnectionResetError):
            raise Ended from None

    def receive(self):
        while b"\n" not in self.pending:
            try:
                data = self.socket.recv(65536)
            except ConnectionResetError:
                data = b""
            if not data:
                raise Ended
            self.pending += data
        line, self.pending = self.pending.split(b"\n", 1)
        return line

    def close(self):
        self.listener.close()
        if hasattr(self, "socket"):
            self.socket.close()


class Ended(Exception):
    """QEMU has exited; the text is its output."""


class Machine:
    """A q35 machine with 128 MiB and the given -device options; `options` are further QEMU options. Test addresses are
    relative to the start of memory, `ram`."""
    program, board, ram = "GTU_QEMU", ("q35",), 0

    def __init__(self, *devices, options=()):
        self.events = []                # monitor events received so far
        self.folder = tempfile.mkdtemp(prefix="gtu-qtest-")
        self.qtest, self.qmp = Line(os.path.join(self.folder, "qtest")), Line(os.path.join(self.folder, "qmp"))
        command = [os.environ[self.program], "-machine", *self.board, "-accel", "qtest", "-m", "128M", "-nodefaults", "-display",
                   "none", "-qtest", f"unix:{self.folder}/qtest", "-qtest-log", "/dev/null", "-chardev",
                   f"socket,id=qmp,path={self.folder}/qmp", "-mon", "chardev=qmp,mode=control", *self.firmware(), *options]
        for device in devices:
            command += ["-device", device]
        self.log = open(os.path.join(self.folder, "log"), "w+")
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        try:
            self.qtest.accept(self.process)
            self.qmp.accept(self.process)
            self.qmp.receive()
            self.monitor("qmp_capabilities")
        except BaseException as e:
            self.process.kill()
            self.process.wait()
            said = self.said()
            self.forget()
            if isinstance(e, Ended):
                raise Ended(said.strip()) from None
            raise

    def firmware(self):
        bios = os.path.join(self.folder, "bios")
        with open(bios, "wb") as f:
            f.write(bytes(65536))
        return "-bios", bios

    def at(self, address):
        """Convert a memory offset to a physical address; other addresses stay as they are."""
        return address + self.ram if address < RAM_BYTES else address

    def __enter__(self):
        return self

    def __exit__(self, *what):
        self.close()

    def said(self):
        """QEMU's output so far."""
        self.log.seek(0)
        return self.log.read()

    def forget(self):
        self.qtest.close()
        self.qmp.close()
        self.log.close()
        shutil.rmtree(self.folder)

    def close(self):
        """Quit QEMU through the monitor, so that the device is torn down; checks its exit status and output."""
        try:
            self.monitor("quit")
        except Ended:
            pass
        try:
            status = self.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError("QEMU does not exit")
        finally:
            text = self.said()
            self.forget()
        if status:
            raise AssertionError(f"QEMU exited with status {status}: {text}")
        return status

    # ---- The monitor ----
    def monitor(self, command, **arguments):
        """Run a monitor command; returns its result or raises Refused with QEMU's message."""
        message = {"execute": command, "arguments": {k.replace("_", "-"): v for k, v in arguments.items()}}
        self.qmp.send(json.dumps(message))
        while True:
            answer = json.loads(self.qmp.receive())
            if "event" in answer:
                self.events.append(answer)
            if "error" in answer:
                raise Refused(answer["error"]["desc"])
            if "return" in answer:
                return answer["return"]

    # ---- CPU accesses ----
    def _ask(self, line):
        self.qtest.send(line)
        while True:
            answer = self.qtest.receive().decode().split()
            if answer[0] == "IRQ":
                continue
            assert answer[0] == "OK", f"qtest: {line[:60]}: {' '.join(answer)}"
            return int(answer[1], 0) if len(answer) > 1 and len(answer[1]) < 20 else answer[-1]

    def together(self, *lines):
        """Run several qtest commands with no main-loop iteration between them."""
        self.qtest.send("\n".join(lines))
        for _ in lines:
            while self.qtest.receive().startswith(b"IRQ"):
                pass

    def load(self, address, size):
        """Read 1, 2, 4 or 8 bytes in one access."""
        return self._ask(f"read{'bwlq'[size.bit_length() - 1]} {self.at(address):#x}")

    def store(self, address, size, value):
        self._ask(f"write{'bwlq'[size.bit_length() - 1]} {self.at(address):#x} {value:#x}")

    def read(self, address, length):
        """Read bytes of memory."""
        data, address = b"", self.at(address)
        while length:
            n = min(length, 65536)
            self.qtest.send(f"read {address:#x} {n:#x}")
            data += bytes.fromhex(self.qtest.receive().decode().split()[1][2:])
            address, length = address + n, length - n
        return data

    def write(self, address, data):
        address = self.at(address)
        for i in range(0, len(data), 32768):
            part = data[i:i + 32768]
            self._ask(f"write {address + i:#x} {len(part):#x} 0x{part.hex()}")

    def fill(self, address, length, byte):
        self._ask(f"memset {self.at(address):#x} {length:#x} {byte:#x}")

    # ---- PCI configuration space: bus, slot, function ----
    def _select(self, where, at):
        bus, slot, function = where
        self._ask(f"outl 0xcf8 {1 << 31 | bus << 16 | slot << 11 | function << 8 | at & 0xfc:#x}")
        return 0xcfc + (at & 3)

    def config(self, where, at, size):
        port = self._select(where, at)
        return self._ask(f"in{'bwl'[size.bit_length() - 1]} {port:#x}")

    def set_config(self, where, at, size, value):
        port = self._select(where, at)
        self._ask(f"out{'bwl'[size.bit_length() - 1]} {port:#x} {value:#x}")

    def capability(self, where, number):
        """The offset of a capability."""
        at = self.config(where, 0x34, 1)
        while at and self.config(where, at, 1) != number:
            at = self.config(where, at + 1, 1)
        assert at, f"no capability {number:#x}"
        return at

    def extended(self, where, at):
        """Read a word of extended configuration space (beyond 256 bytes) through ECAM."""
        bus, slot, function = where
        self.set_config(MCH, 0x60, 4, ECAM | 1)
        return self.load(ECAM + (bus << 20 | slot << 15 | function << 12) + at, 4)


class Virt(Machine):
    """The arm64 `virt` machine with one CPU and a GICv2; its configuration space is memory-mapped."""
    program, board, ram = "GTU_QEMU_ARM64", ("virt,gic-version=2,highmem=off", "-cpu", "cortex-a72"), 0x40000000
    ecam = 0x3f000000

    def firmware(self):
        return ()

    def _config(self, where, at):
        bus, slot, function = where
        return self.ecam + (bus << 20 | slot << 15 | function << 12) + at

    def config(self, where, at, size):
        return self.load(self._config(where, at), size)

    def set_config(self, where, at, size, value):
        self.store(self._config(where, at), size, value)


class Refused(AssertionError):
    """The monitor rejected a command; the text is its message."""


def wait(what, condition):
    """Wait until the condition is true; returns its value. Fails after LIMIT seconds."""
    deadline = time.monotonic() + LIMIT
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"timeout: {what}"
        time.sleep(0.001)


def pack(fmt, *values):
    return struct.pack("<" + fmt, *values)
