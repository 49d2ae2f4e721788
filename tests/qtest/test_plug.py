# SPDX-License-Identifier: MIT
"""Hot-plug behind a root port, through the monitor and the slot's registers, as a guest would do."""
import time

from gtu import *
from machine import Machine, wait
from suite import test
from test_iommu import GLOBAL_COMMAND, UNIT, Iommu
from test_life import BATCH, PIECE, batch, works

PORT, INSIDE = (0, 5, 0), (1, 0, 0)
SLOT_CONTROL, ON, OFF = 0x18, 0x100, 0x700     # power indicator and power


def machine(*before):
    # native PCI Express hot-plug, not ACPI's
    m = Machine(*before, "pcie-root-port,id=root1,addr=5,chassis=1",
                options=("-global", "ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off"))
    m.set_config(PORT, 0x18, 4, 0x00010100)             # buses 0, 1, 1
    m.set_config(PORT, 0x20, 4, 0xe010d000)             # 0xd0000000 to 0xe01fffff
    m.set_config(PORT, 0x24, 4, 0xc7f0c000)             # prefetchable: 0xc0000000 to 0xc7ffffff
    m.set_config(PORT, 0x28, 4, 0)
    m.set_config(PORT, 0x2c, 4, 0)
    m.set_config(PORT, 4, 2, 6)
    return m


def power(m, what):
    m.set_config(PORT, m.capability(PORT, 0x10) + SLOT_CONTROL, 2, what)


def plug(m, **properties):
    m.monitor("device_add", driver="gtu-pci", id="unit", bus="root1", **properties)
    power(m, ON)
    wait("the function", lambda: m.config(INSIDE, 0, 4) == 0x47541234)
    return Gtu(m, INSIDE)


def unplug(m):
    m.events.clear()
    m.monitor("device_del", id="unit")
    power(m, OFF)
    wait("the end of the function", lambda: m.config(INSIDE, 0, 4) == 0xffffffff)
    wait("the monitor's event", lambda: m.monitor("query-status") and [e for e in m.events if e["event"] == "DEVICE_DELETED"])


@test
def a_device_can_be_plugged_and_unplugged_repeatedly():
    with machine() as m:
        for i in range(10):
            g = plug(m, map_aperture=bool(i & 1))
            assert g.r32(MAGIC) == 0x31555447
            works(g)
            unplug(m)


@test
def unplugging_stops_dma_of_a_running_job():
    with machine() as m:
        for _ in range(3):
            g = plug(m)
            q = g.start()
            batch(g, q)
            unplug(m)
            m.fill(TARGET, PIECE, 0x11)
            done = sum(q.completion(i) is not None for i in range(BATCH))
            assert done < BATCH, "the batch ended too early for this to tell anything"
            time.sleep(0.02)
            assert m.read(TARGET, 1 << 20) == b"\x11" * (1 << 20), "the unplugged device wrote to memory"
            assert done == sum(q.completion(i) is not None for i in range(BATCH))


@test
def unplugging_behind_an_iommu_stops_dma():
    with machine("intel-iommu,caching-mode=on") as m:
        for _ in range(3):
            g = plug(m)
            iommu = Iommu(m)
            for at, length, rights in ((0, 0x700000, 3), (SOURCE, PIECE, 1), (TARGET, PIECE, 3)):
                iommu.map(at, at, length, rights)
            iommu.on()
            q = g.start()
            batch(g, q)
            # every page needs a new translation
            iommu.forget()
            unplug(m)
            assert not all(q.completion(i) for i in range(BATCH)), "the batch ended too early for this to tell anything"
            m.fill(TARGET, PIECE, 0x11)
            time.sleep(0.02)
            assert m.read(TARGET, 1 << 20) == b"\x11" * (1 << 20), "the unplugged device wrote to memory"
            m.store(UNIT + GLOBAL_COMMAND, 4, 0)


@test
def migration_is_possible_after_unplug():
    with machine() as m:
        plug(m)
        unplug(m)
        m.monitor("migrate", uri="exec:cat >/dev/null")
        state = wait("the end of the migration", lambda: (lambda s: s in ("completed", "failed") and s)(
            m.monitor("query-migrate")["status"]))
        assert state == "completed"


@test
def an_injected_aer_error_is_logged():
    with machine() as m:
        plug(m)
        assert m.extended(INSIDE, 0x104) == 0, "an error is logged before one occurred"
        m.monitor("human-monitor-command", command_line="pcie_aer_inject_error unit UNSUP")
        assert m.extended(INSIDE, 0x104) == 1 << 20, "an unsupported request is not in the function's log"
