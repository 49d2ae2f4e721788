# SPDX-License-Identifier: MIT
#
# Targets for guests: a stock QEMU with the device attached over vfio-user. Included by the Makefile.
#
#   make guest          a shell in a guest: the driver, the tool gtu, the driver's tests in /tests, lspci, vfio-pci. Commands
#                       may come over a pipe instead. Variables (Documentation/guest.md has a recipe for each):
#                       FAULT='lose-irq=3 stall=9000' injects faults, BUG=w1c a gateware bug: 'gtu serve --help',
#                       BOARD=queues=1,absent_units=iru a smaller board, KERNEL=distribution|6.12|7.2|debug|debug-6.12, IOMMU=1,
#                       TRANSPORT=vfio-user|qemu, SHELL=1 the console even if a pipe is the input, SHARE=DIR as
#                       /mnt/share, MEM=1G, DEVICES=1
#   make module         gtu.ko for KERNEL, in build/module or build/module-NAME
#   make guest-tools    a QEMU and KERNEL, under build/guest (downloaded or built once); guest-tools-all: every kernel
#   make guest-test     the driver's tests of `make test`; GUEST='PLAN...': some; guest-test-all: every plan
#   make arm64          user space for arm64, cross-compiled, in build/arm64
#   make fuzz-ioctl     an hour of fuzzing the driver's calls, with coverage (GTU_FUZZ_IOCTL= seconds)
#   make guest-graphs   every real graph through /dev/gtu0
#   make check-driver   static checks of the driver
#   make kernel-tree    copies driver, headers, selftests and documents into the kernel source tree KERNEL=DIR
#   make qemu           a QEMU with the device compiled in, build/guest/qemu-gtu-VERSION/run: from the source tree
#                       QEMU_SRC=DIR (7.2 or later; not modified), the Debian release QEMU_SUITE=trixie, or this
#                       machine's release; QEMU_TARGETS='x86_64-softmmu aarch64-softmmu'

KERNEL ?= distribution

.PHONY: guest-tools guest-tools-test guest-tools-all module guest-test guest-test-all guest-graphs guest

# $(call optional,COMMAND): also succeeds if a tool, a package, root or the network is missing (exit status 77). The tests
# that need COMMAND's result are then skipped and name it. Any other exit status is a failure.
optional = { { $(1); } || { rc=$$?; [ $$rc -eq 77 ]; }; }
# the packages for the kernel KERNEL and its guests, and no more
kernel_packages = packaging/need --optional module guest $(if $(filter arm64,$(KERNEL)),arm64 device-tree) \
	$(if $(filter debug%,$(KERNEL)),kernel)
# for the kernel in the shell variable `kernel`
tools_of_kernel = tests/guest/build/get-qemu.sh $$(! [ $$kernel = arm64 ] || echo arm64) && tests/guest/build/get-kernel.sh $$kernel

guest-tools:
	@$(kernel_packages)
	@kernel='$(KERNEL)'; $(tools_of_kernel)

# the kernels of `make test`, or of the plans GUEST, and existing QEMUs with the device compiled in: building one takes 4
# minutes
guest-tools-test:
	@packaging/need --optional $$(tests/guest/guest-test --packages $(GUEST))
	@failed=; for kernel in $(if $(GUEST),$$(tests/guest/guest-test --kernels $(GUEST)),distribution 6.12 arm64); do \
		$(call optional,$(tools_of_kernel)) || failed=1; done; \
	for target in x86_64-softmmu aarch64-softmmu; do \
		dir=$$(firmware-model/transport/qemu/build-qemu --targets $$target --name 2>/dev/null) && [ -x "$$dir/run" ] || \
			[ -n "$$GTU_ALL" ] || continue; \
		$(MAKE) qemu QEMU_TARGETS=$$target || failed=1; done; test -z "$$failed"

# continue with the others if one fails
guest-tools-all:
	@packaging/need --optional $$(tests/guest/guest-test --packages $$(tests/guest/guest-test --list-all))
	@failed=; for kernel in $$(tests/guest/build/get-kernel.sh --list); do \
		$(call optional,$(tools_of_kernel)) || failed=1; done; \
	for target in x86_64-softmmu aarch64-softmmu; do \
		$(MAKE) qemu QEMU_TARGETS=$$target || failed=1; done; test -z "$$failed"

module: guest-tools
	@tests/guest/build/build-module.sh --kernel '$(KERNEL)'

# The device's parts that are linked into QEMU.
MODEL_OBJ := $(filter $(B)/obj/firmware-model/%,$(LIB_OBJ)) $(B)/obj/firmware-model/transport/dma_table.o $(B)/obj/libruntime/device/error.o
$(B)/libgtu-model.a: $(MODEL_OBJ)
	@rm -f $@
	$(call say,AR,$@)
	$(Q)ar qcs $@ $^

QEMU_SRC ?=
QEMU_SUITE ?=
QEMU_TARGETS ?= x86_64-softmmu
.PHONY: qemu
qemu: build/libgtu-model.a
	@JOBS='$(JOBS)' firmware-model/transport/qemu/build-qemu $(if $(QEMU_SRC),--source '$(QEMU_SRC)') \
		$(if $(QEMU_SUITE),--suite '$(QEMU_SUITE)') --targets '$(QEMU_TARGETS)'

build/fuzz_ioctl: $(wildcard tests/fuzz-ioctl/*.[ch]) tests/kselftest/gtu/gtu_ioctls.h include/uapi/gtu/gtu.h include/uapi/gtu/hw.h \
		include/gtu/splitmix64.h libruntime/support/clock.h
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) -Iinclude -I. -std=gnu11 -O1 -g -Wall -Wextra -static -pthread -o $@ $(filter %.c,$^)

# Fuzzes the driver's calls for an hour; the corpus is in build/guest/test-fuzz/share.
.PHONY: fuzz-ioctl
fuzz-ioctl: build/gtu build/fuzz_ioctl
	@$(MAKE) SAN=1 build/san/gtu >&2
	@GTU_ALL=1 GTU_FUZZ_IOCTL=$${GTU_FUZZ_IOCTL:-3600} tests/guest/guest-test fuzz

build/forked: tests/guest/programs/forked.c build/libgtu.a
	$(call say,CC,$@)
	$(Q)$(CC) -Iinclude -D_GNU_SOURCE -std=gnu11 -O2 -Wall -Wextra -o $@ $^ $(LIBS)

# User space for arm64, in build/arm64: a warning is an error, except that a library's new version deprecates a function.
# Optimized less, to be compiled in less time for guests, which emulate it: ARM64_OPT=-O2 for a board. By -O1 gcc warns of
# variables that are set.
ARM64_OPT ?= -O1 -Wno-maybe-uninitialized
CROSS := aarch64-linux-gnu-
CROSS_TREE := $(ROOT)/build/guest/cross-arm64
.PHONY: arm64
arm64:
	@command -v $(CROSS)gcc >/dev/null || { \
		echo "gtu: $(CROSS)gcc is missing (apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross)" >&2; exit 1; }
	@tests/guest/build/get-cross.sh
	@CPPFLAGS='-isystem $(CROSS_TREE)/include' LDFLAGS='-L$(CROSS_TREE)/lib -Wl,-rpath-link,$(CROSS_TREE)/lib' \
		CFLAGS='-Werror -Wno-error=deprecated-declarations' \
		$(MAKE) SAN= B=build/arm64 CC=$(CROSS)gcc AR=$(CROSS)ar NVCC= OPT='$(ARM64_OPT)' all build/arm64/wire
	@CFLAGS=-Werror $(MAKE) -s -C tests/kselftest/gtu CC=$(CROSS)gcc OUT=$(ROOT)/build/arm64/kselftest GTU_INCLUDE=$(ROOT)/include
build/arm64/wire: tests/guest/programs/wire.c include/uapi/gtu/hw.h
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) -Iinclude -D_GNU_SOURCE -std=gnu11 -O2 -Wall -Wextra -Werror -static -o $@ $<

# The driver's tests as static programs; also as 32-bit programs if gcc supports -m32: all, or those that the plans GUEST run.
M32 := $(if $(if $(GUEST),$(filter %-32 all-compiled-in,$(GUEST)),all),,M32="$$(sed -n 's/^compat="\(.*\)"/\1/p' tests/guest/plans/plans.sh)")
.PHONY: kselftest
kselftest:
	@$(MAKE) -s -C tests/kselftest/gtu >&2
	@if echo 'int main(void){return 0;}' | $(CC) -m32 -static -x c -o /dev/null - 2>/dev/null; then \
		$(MAKE) -s -C tests/kselftest/gtu m32 $(M32) >&2; fi

# A program that does not compile is a failure. Without a cross compiler or its libraries the arm64 plans are skipped.
# The device runs under the sanitizers, the programs in the guest do not. With GUEST, only programs of these plans.
GUEST_ARM64 = $(if $(GUEST),$(filter arm64,$(shell tests/guest/guest-test --packages $(GUEST))),all)
.PHONY: guest-programs
guest-programs: build/gtu build/forked build/fuzz_ioctl build/tests/test_aperture kselftest
	@$(MAKE) SAN=1 build/san/gtu >&2
	@if [ -z '$(GUEST_ARM64)' ]; then :; elif ! command -v $(CROSS)gcc >/dev/null; then echo "guest: no programs for arm64: $(CROSS)gcc is missing" >&2; \
	elif tests/guest/build/get-cross.sh; then $(MAKE) arm64 >&2; else [ $$? -eq 77 ]; fi

# the kernels of the plans GUEST, before minutes of compiling; a kernel that would be built must exist
plan_kernels = kernels=$$(tests/guest/guest-test --kernels $(GUEST)) || exit 1; for kernel in $$kernels; do case $$kernel in \
	debug*) tests/guest/build/get-kernel.sh --check $$kernel || { echo "gtu: a plan of '$(GUEST)' needs the kernel $$kernel;" \
		"'make guest-tools KERNEL=$$kernel' builds it (10 minutes of two processors)" >&2; exit 1; } ;; \
	*) $(MAKE) guest-tools KERNEL=$$kernel || exit 1 ;; \
	esac; done

guest-test:
	@{ $(if $(GUEST),$(plan_kernels),$(MAKE) guest-tools-test); } >&2
	@$(MAKE) guest-programs >&2
	@tests/guest/guest-test $(GUEST)

guest-test-all:
	@$(MAKE) guest-tools-all guest-programs >&2
	@tests/guest/guest-test $$(tests/guest/guest-test --list-all)

guest-graphs:
	@$(MAKE) guest-test GUEST=all-graphs

.PHONY: check-driver kernel-tree
check-driver:
	@packaging/need --optional check-driver coccinelle arm64 multilib
	@tests/guest/check-driver

kernel-tree:
	@packaging/kernel-tree '$(if $(filter file,$(origin KERNEL)),,$(KERNEL))'

# standard output has only what the guest prints
guest:
	@$(MAKE) -j$(JOBS) $(B)/gtu >&2
	@GTU='$(B)/gtu' SHELL_INSIDE='$(SHELL_ASKED)' tests/guest/start --check
	@$(MAKE) module >&2
	@$(MAKE) -s -C tests/kselftest/gtu >&2
	@GTU='$(B)/gtu' SHELL_INSIDE='$(SHELL_ASKED)' tests/guest/start

# these tests use the tool over its socket
$(B)/tests/test_vfio_user $(B)/tests/test_serve: | $(B)/gtu
