# SPDX-License-Identifier: MIT
#
# Guests: a stock QEMU with the device attached over vfio-user. Included by the Makefile.
#
#   make guest-tools   a QEMU and a kernel, under build/guest (loaded once)
#   make module        build/module/gtu.ko for that kernel
#   make guest-test    boot, and run the kernel door's tests
#   make guest         a shell in a guest: driver loaded, the tool, SHARE= as /mnt/share; MEM=, IOMMU=1

# Debian's names of what guests need; module: headers and what building against them takes.
GUEST_PACKAGES := make linux-headers-amd64 kmod cpio busybox-static gzip

SHARE ?= $(ROOT)/build/guest/share
MEM ?= 1G

.PHONY: guest-packages guest-tools module guest-test guest
guest-packages:
	@packaging/need $(GUEST_PACKAGES)

guest-tools: guest-packages
	@tests/guest/get-qemu.sh
	@tests/guest/get-kernel.sh

module: guest-tools
	@tests/guest/build-module.sh

build/guest/pci_probe: tests/guest/pci_probe.c include/gtu/hw.h
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) -Iinclude -D_GNU_SOURCE -std=gnu11 -O2 -Wall -Wextra -o $@ $<

KSELFTEST_BIN := $(patsubst tests/kselftest/gtu/%.c,build/kselftest/%,$(wildcard tests/kselftest/gtu/*_test.c))
build/kselftest/%: tests/kselftest/gtu/%.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CPPFLAGS) -Iinclude/uapi -Itests/kselftest -std=gnu11 -O2 -g -Wall -MMD -MP -o $@ $< -lpthread

# What cannot be had (no network, no root) makes the test a skip that says so, not a failure.
# The device runs under the sanitizers, what is in the guest does not.
guest-test: build/gtu build/guest/pci_probe $(KSELFTEST_BIN)
	@$(MAKE) SAN=1 build/san/gtu >&2
	@$(MAKE) guest-tools >&2 || true
	@tests/guest/guest-test build/gtu build/san/gtu

guest: $(B)/gtu module
	@mkdir -p '$(SHARE)'
	@tests/guest/run.sh --shell --name shell --gtu $(B)/gtu --mem $(MEM) $(if $(IOMMU),--iommu) \
		--share '$(SHARE)' --module build/module/gtu.ko --file $(B)/gtu:/usr/bin/gtu

# these tests drive the tool over its socket
$(B)/tests/test_vfio_user $(B)/tests/test_serve: | $(B)/gtu
