# SPDX-License-Identifier: MIT
"""A malicious or broken guest: random accesses of any size to the function's registers while it works."""
import random

from gtu import *
from machine import Machine
from suite import test
from test_iommu import CONTEXT_COMMAND, FAULTS, GLOBAL_COMMAND, INVALIDATE_IOTLB, ROOT_ADDRESS, UNIT
from test_life import batch, works

ACCESSES = 12000


def noise(g, seed, more=lambda r: None):
    """Random accesses, reproducible by seed. Message addresses and BARs stay below 4 GiB; memory is not protected."""
    r, m = random.Random(seed), g.m
    interesting = [0, 1, 0xff, 0x7fffffff, 0xffffffff, 0xffffffffffffffff, RINGS, TABLE, g.bars[0], g.bars[4], RESET_KEY]

    def value():
        return r.choice(interesting) if r.random() < 0.5 else r.getrandbits(64)

    for _ in range(ACCESSES):
        kind, size = r.random(), r.choice((1, 2, 4, 8))
        if kind < 0.45:
            at = g.bars[0] + (r.randrange(0x400) if r.random() < 0.5 else r.randrange(0x10000))
        elif kind < 0.6:
            # a plausible mailbox command
            for n in range(6):
                g.w64(ARG + 8 * n, r.choice((r.randrange(64), value())))
            g.w32(CMD, r.randrange(14))
            continue
        elif kind < 0.7:
            at = g.bars[2] + (r.randrange(256) << 16) + r.choice((0, 4, 8, 12, r.randrange(0x10000)))
        elif kind < 0.8:
            at = g.bars[4] + r.choice((0, SIZES[4] - 8, r.randrange(SIZES[4])))
        elif kind < 0.9:
            at = g.bars[1] + r.randrange(0x1000)
        else:
            more(r)
            at = 0x40 + r.randrange(0x60)
            m.set_config(g.where, at & -min(size, 4), min(size, 4), value() & (1 << 8 * min(size, 4)) - 1)
            continue
        if r.random() < 0.5:
            m.load(at, size)
        else:
            m.store(at, size, value() & (1 << 8 * size) - 1)


def survives(seed, devices, more=lambda g, r: None, after=lambda m: None):
    with Machine(*devices) as m:
        g = Gtu(m)
        g.msix()
        batch(g, g.start())
        noise(g, seed, lambda r: more(g, r))
        after(m)
        # a reset recovers the device from any state
        m.set_config(g.where, CAP_EXP + 8, 2, 1 << 15)
        g.place()
        assert g.r32(MAGIC) == 0x31555447
        works(g)


@test
def the_device_survives_random_accesses_during_jobs():
    for seed in (1, 2):
        survives(seed, ("gtu-pci,addr=4",))


@test
def the_device_survives_random_bar_and_command_writes():
    def more(g, r):
        bar = r.choice((0, 1, 2, 4))
        g.m.set_config(g.where, 4, 2, r.choice((0, 2, 4, 6, 6)))
        g.m.set_config(g.where, 0x10 + 4 * bar, 4, r.choice((0, 0xffffffff, g.bars[bar], g.bars[4] + 0x10000, 0x100000)))
        if r.random() < 0.5:
            g.place()
    for seed in (3, 4):
        survives(seed, ("gtu-pci,addr=4,map-aperture=on",), more)


@test
def the_device_survives_random_writes_to_the_iommu():
    def more(g, r):
        if r.random() < 0.9:
            return
        at = r.choice((GLOBAL_COMMAND, ROOT_ADDRESS, CONTEXT_COMMAND, FAULTS, 0x38, 0x3c, 0x40, INVALIDATE_IOTLB))
        g.m.store(UNIT + at, 4, r.choice((0, 1 << 31, 1 << 30, r.getrandbits(32))))
        g.m.set_config(g.where, 4, 2, 6)
    survives(5, ("intel-iommu,caching-mode=on", "gtu-pci,addr=4"), more, lambda m: m.store(UNIT + GLOBAL_COMMAND, 4, 0))
