#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tests the errors of make qemu: each is reported in one sentence before any download or build.
# Needs no build.
. "${0%/*}/tap.bash"

build=$root/firmware-model/transport/qemu/build-qemu
fake() {
	mkdir -p "$1"/{hw,configs/devices} && touch "$1"/{configure,hw/Kconfig,hw/meson.build} && echo "$2" >"$1/VERSION"
}
mkdir plain && fake old 6.2.0 && fake strange newest && fake good 10.0.2 && fake half 10.0.2 && rm half/hw/Kconfig

fails_with 1 "build-qemu refuses a folder that does not exist" "there is no folder '.*/none' to take QEMU's source from" "$build" --source "$work/none"
fails_with 1 "build-qemu refuses a folder without QEMU" "plain is not a QEMU source tree: it has no configure$" "$build" --source plain
fails_with 1 "build-qemu refuses half of a source tree" "it has no hw/Kconfig$" "$build" --source half
fails_with 1 "build-qemu refuses a version that is too old" "old is QEMU 6.2.0; the device is written for 7.2 and later" "$build" --source old
fails_with 1 "build-qemu refuses a tree without a valid version" "'newest' in VERSION is not a version" "$build" --source strange
exits 1 "build-qemu refuses an unknown target" "$build" --source good --targets 'x86_64-softmmu riscv64-softmmu'
says "build-qemu lists the available targets" "no target 'riscv64-softmmu': QEMU_TARGETS can have aarch64-softmmu x86_64-softmmu"
fails_with 1 "build-qemu refuses an empty list of targets" "QEMU_TARGETS names no target" "$build" --source good --targets ' '
fails_with 1 "build-qemu refuses two sources of QEMU" "QEMU_SRC and QEMU_SUITE" "$build" --source good --suite trixie
fails_with 1 "build-qemu refuses an invalid name of a release" "'../etc' is not the name of a Debian release" "$build" --suite ../etc
prints "build-qemu has a folder for each version" "/qemu-gtu-10.0.2$" "$build" --source good --name
prints "build-qemu has a folder for each list of targets" "/qemu-gtu-10.0.2-x86_64-aarch64$" "$build" --source good --targets 'x86_64-softmmu aarch64-softmmu' --name

# a machine without the packages and with a user who is not root
mkdir bin
printf '#!/bin/sh\nexit 1\n' | tee bin/dpkg-query >bin/sudo
printf '#!/bin/sh\n[ "$1" = -u ] && echo 1000 || echo user\n' >bin/id
chmod +x bin/*
exits 1 "build-qemu fails if packages are missing" env -u GTU_WITHOUT PATH="$work/bin:$PATH" "$build" --source good
says "build-qemu names the missing packages for root" "packages are missing, and this user cannot become root. As root: apt-get install .*ninja-build"

# a tree that the user cannot write to
needs setpriv
given "only root can be another user" test "$(id -u)" -eq 0
mkdir -p tree/build && cp -r "$root"/{firmware-model,packaging} tree/ && mkdir tree/tests &&
	cp -r "$root/tests/guest" tree/tests/ && chmod -R go+rX "$work" && mkdir -p tree/build/guest
exits 1 "build-qemu refuses a build folder that the user cannot write to" env HOME="$work" setpriv --reuid=65534 --regid=65534 --clear-groups \
	tree/firmware-model/transport/qemu/build-qemu --source good
says "build-qemu names the folder that it cannot write to" "cannot write to .*/tree/build/guest"
always
finish
