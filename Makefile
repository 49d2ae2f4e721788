# SPDX-License-Identifier: MIT
#
# GTU, the graph traversal unit.
#
#   make            build/gtu, build/libgtu.so, build/libgtu.a (no root needed)
#   make run        the main job on real input; installs what is missing first
#   make test       every test; last line: N passed, N failed, N skipped
#   make lab-report  the papers' experiments in the laboratory, and Documentation/fidelity.md (an hour or two;
#                   continues where it was interrupted); SCALE=short: in build/lab-report-short, in a minute
#   make help       the rest
#   make install    DESTDIR= PREFIX=/usr/local LIBDIR=$PREFIX/lib SYSCONFDIR=/etc; packaging/install has more
#   make uninstall  with the same variables
#
# V=1 shows the commands. SAN=1 builds everything under AddressSanitizer and UndefinedBehaviorSanitizer in build/san.

.DEFAULT_GOAL := all
# `make guest SHELL=1` asks for a shell; the shell of recipes stays bash, also in other makefiles
ifeq ($(origin SHELL),command line)
SHELL_ASKED := $(SHELL)
MAKEOVERRIDES := $(filter-out SHELL=%,$(MAKEOVERRIDES))
endif
override SHELL := /bin/bash
MAKEFLAGS += --no-print-directory

CC ?= gcc
CLANG ?= clang
OPT ?= -O2
VERSION := 0.1.0
# date of the man pages
RELEASED := November 22, 2026
ABI := 1
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
JOBS ?= $(shell nproc)

ROOT := $(CURDIR)
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-5s %s\n' $(1) $(2))

ifdef SAN
B := build/san
# Undefined behavior traps: the tables that explain it in words are 8 MB, which the search for leaks reads at the end of
# each process (a third of the time of tests that start many). Variable tracking in sanitized code doubles the compile time.
SANFLAGS := -fno-var-tracking -fsanitize=address,undefined -fsanitize-undefined-trap-on-error -fno-omit-frame-pointer
SANITIZER := $(B)/obj/tests/sanitizer.o
# a third of the compile time of the tests and the tool; units and algorithms keep the optimization of users
$(B)/obj/tests/%.o $(B)/obj/tools/%.o: OPT = -O1
else
B := build
SANFLAGS :=
SANITIZER :=
endif

# Hardening: stack protector, checked string functions, control-flow protection, read-only relocations. Flags that
# the compiler or the C library lacks are left out; FORTIFY needs optimization, and would hide calls from the sanitizers.
# Documentation/performance.md has the cost; tests/cli/hardening.sh reads the result from the binaries.
HASH := \#
compiler_has = $(shell $(CC) -Werror $(1) -x c -c -o /dev/null /dev/null 2>/dev/null && echo '$(1)')
HARDEN := -fstack-protector-strong $(call compiler_has,-fcf-protection)
FORTIFY := $(shell printf '$(HASH)include <features.h>\n$(HASH)if __USE_FORTIFY_LEVEL < 3\n$(HASH)error\n$(HASH)endif\n' | \
	$(CC) -O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -x c -E - >/dev/null 2>&1 && echo 3 || echo 2)
ifeq ($(SAN)$(filter -O0,$(OPT)),)
HARDEN += -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$(FORTIFY)
endif
HARDEN_LD := -Wl,-z,relro -Wl,-z,now

LIBS := -lfdt -llzma -lz -lzstd -lexpat -lm -lpthread -ldl
CPPFLAGS += -Iinclude -I. -D_GNU_SOURCE -DGTU_VERSION='"$(VERSION)"'
CFLAGS += -std=gnu11 $(OPT) -g -Wall -Wextra -Wno-psabi -ffp-contract=off -fPIC -fno-strict-aliasing $(HARDEN) $(SANFLAGS)
LDFLAGS += $(HARDEN_LD) $(SANFLAGS)
# libpciaccess, if it is there: `gtu bringup` and `gtu doctor` find boards on the PCI bus with it.
PCIACCESS := $(shell printf '$(HASH)include <pciaccess.h>\nint main(void) { return pci_system_init(); }\n' | \
	$(CC) $(CPPFLAGS) $(LDFLAGS) -x c -o /dev/null - -lpciaccess 2>/dev/null && echo -lpciaccess)

# libruntime/mpi is a library of its own.
LIB_SRC := $(shell find firmware-model/device firmware-model/units libruntime -path libruntime/mpi -prune -o -name '*.c' -print)
# The laboratory is not part of the runtime: the tool and the tests link it in addition to libgtu.a.
LAB_SRC := $(shell find firmware-model/lab -name '*.c')
# GPU kernels, if nvcc is available (NVCC= on the command line disables them). They are embedded in the library.
NVCC ?= $(shell command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
CUDA := libruntime/backend/cuda
CUDA_FATBIN := build/cuda/kernels.fatbin
CUDA_SRC := $(wildcard $(CUDA)/kernels/*) $(CUDA)/kernels.h libruntime/graph/compressed.h libruntime/support/wide.h
ifneq ($(strip $(NVCC)),)
CUDA_MAJOR := $(shell $(NVCC) --version | sed -n 's/.*release \([0-9]*\)\..*/\1/p')
CUDA_FLAGS := -DGTU_CUDA_FATBIN='"$(CUDA_FATBIN)"' -DGTU_CUDA_MAJOR=$(CUDA_MAJOR)
endif

# libgtu-mpi.so, if MPI is there: ranks over MPI for mpirun.
MPICC ?= $(shell command -v mpicc)
MPI_LIB := $(if $(strip $(MPICC)),$(B)/libgtu-mpi.so)

# firmware-model/transport/qemu is compiled by QEMU.
TOOL_SRC := $(wildcard tools/*/*.c firmware-model/transport/*.c firmware-model/transport/vfio-user/*.c)
UNIT_SRC := $(wildcard tests/unit/*/test_*.c)
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
LIB_OBJ := $(LIB_SRC:%.c=$(B)/obj/%.o)
LAB_OBJ := $(LAB_SRC:%.c=$(B)/obj/%.o)
TOOL_OBJ := $(TOOL_SRC:%.c=$(B)/obj/%.o)
UNIT_BIN := $(patsubst %.c,$(B)/tests/%,$(notdir $(UNIT_SRC)))
FUZZ_BIN := $(FUZZ_SRC:tests/fuzz/%.c=build/fuzz/%)

.PHONY: all
all: $(B)/gtu $(B)/libgtu.so $(B)/libgtu.a $(B)/gtu.pc $(MPI_LIB)

# Once per build folder, check for the headers of required libraries, and report missing ones clearly.
HEADERS := libfdt.h lzma.h zlib.h zstd.h expat.h
$(B)/.headers:
	@mkdir -p $(@D)
	@printf '#include <%s>\n' $(HEADERS) | $(CC) $(CPPFLAGS) -fsyntax-only -x c - 2>/dev/null || { \
		echo "gtu: no C compiler, or a library's headers are missing: 'make deps' as root installs" >&2; \
		echo "     $$(packaging/need --list build)" >&2; exit 1; }
	@touch $@

# Everything is compiled again if the flags change: objects of different sanitizers do not link.
FLAGS := $(strip $(OPT) $(SANFLAGS))
$(B)/.flags: FORCE
	@mkdir -p $(@D)
	@echo '$(FLAGS)' | cmp -s - $@ || echo '$(FLAGS)' >$@

$(B)/obj/%.o: %.c $(B)/.flags | $(B)/.headers
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

ifneq ($(strip $(NVCC)),)
$(CUDA_FATBIN): $(CUDA_SRC)
	@mkdir -p $(@D)
	$(call say,NVCC,$(CUDA)/kernels/kernels.cu)
	$(Q)$(NVCC) -O3 -std=c++17 -fatbin -gencode arch=compute_90,code=sm_90 \
		-gencode arch=compute_80,code=compute_80 -I. -o $@.part $(CUDA)/kernels/kernels.cu
	@mv $@.part $@
$(B)/obj/$(CUDA)/kernels_blob.o: CPPFLAGS += $(CUDA_FLAGS)
$(B)/obj/$(CUDA)/kernels_blob.o: $(CUDA_FATBIN)
endif

# has the text of these headers
$(B)/obj/$(CUDA)/nvrtc.o: include/gtu/weave.h include/gtu/weave.cuh

$(B)/libgtu.a: $(LIB_OBJ)
	@rm -f $@
	$(call say,AR,$@)
	$(Q)$(AR) qcs $@ $^

$(B)/liblab.a: $(LAB_OBJ)
	@rm -f $@
	$(call say,AR,$@)
	$(Q)$(AR) qcs $@ $^

# compiled again when the library is installed or removed
$(B)/.pciaccess: FORCE
	@mkdir -p $(@D)
	@echo '$(PCIACCESS)' | cmp -s - $@ || echo '$(PCIACCESS)' >$@
.PHONY: FORCE
$(B)/obj/tools/support/pci_bus.o: CPPFLAGS += $(if $(PCIACCESS),-DGTU_PCIACCESS)
$(B)/obj/tools/support/pci_bus.o: $(B)/.pciaccess

# The tool without its verbs, which the tests link too.
$(B)/libtools.a: $(filter-out $(B)/obj/tools/cmd/%,$(TOOL_OBJ))
	@rm -f $@
	$(call say,AR,$@)
	$(Q)$(AR) qcs $@ $^

# The kernels of the laboratory, into which the compiler inlines all functions (LAB_INLINE), take it a third of the build's time:
# only where their speed counts.
ifneq ($(SAN)$(filter -O0 -O1,$(OPT)),)
$(B)/obj/firmware-model/lab/kernels/%.o: CPPFLAGS += -Dalways_inline=
endif

# The alignment of a tight loop changes its speed by up to 30%.
$(B)/obj/firmware-model/units/scu/scu_kern%.o: CFLAGS += -falign-loops=32

# the compiler's dependency files do not list .incbin files
$(B)/obj/tools/experiments/lab_report.o: $(wildcard tools/experiments/*.fidelity)
$(B)/obj/firmware-model/lab/engine/machines.o: $(wildcard firmware-model/machines/*.machine firmware-model/machines/*.parameters)

$(B)/libgtu.so: $(LIB_OBJ) libruntime/libgtu.map
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) -shared -Wl,-soname,libgtu.so.$(ABI) -Wl,--version-script=libruntime/libgtu.map \
		-Wl,--no-undefined -o $@.$(ABI) $(LIB_OBJ) $(LIBS)
	@ln -sf libgtu.so.$(ABI) $@

# the headers of MPI are found by its compiler
$(B)/obj/libruntime/mpi/%.o: libruntime/mpi/%.c $(B)/.flags | $(B)/.headers
	@mkdir -p $(@D)
	$(call say,MPICC,$<)
	$(Q)$(MPICC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@
$(B)/libgtu-mpi.so: $(B)/obj/libruntime/mpi/mpi_ranks.o libruntime/libgtu-mpi.map
	$(call say,LD,$@)
	$(Q)$(MPICC) $(LDFLAGS) -shared -Wl,-soname,libgtu-mpi.so.$(ABI) -Wl,--version-script=libruntime/libgtu-mpi.map \
		-Wl,--no-undefined -o $@.$(ABI) $< -lpthread
	@ln -sf libgtu-mpi.so.$(ABI) $@

$(B)/gtu: $(filter $(B)/obj/tools/cmd/%,$(TOOL_OBJ)) $(SANITIZER) $(B)/libtools.a $(B)/liblab.a $(B)/libgtu.a
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(PCIACCESS) $(LIBS)

# build/tests/test_x from tests/unit/FOLDER/test_x.c
$(foreach s,$(UNIT_SRC),$(eval $(B)/tests/$(basename $(notdir $s)): $(B)/obj/$(s:.c=.o)))
$(UNIT_BIN): $(B)/obj/tests/unit/harness.o $(SANITIZER) $(B)/libtools.a $(B)/liblab.a $(B)/libgtu.a
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(PCIACCESS) $(LIBS)

$(B)/gtu.pc: packaging/gtu.pc.in Makefile
	@mkdir -p $(@D)
	$(Q)sed -e 's|@PREFIX@|$(PREFIX)|;s|@LIBDIR@|$(LIBDIR)|;s|@VERSION@|$(VERSION)|;s|@LIBS@|$(LIBS)|' $< >$@

# Generated from --help, the public headers, the driver and the hand-written parts in Documentation/man.
.PHONY: man
man: $(B)/man/.made
$(B)/man/.made: $(B)/gtu $(wildcard Documentation/man/* include/gtu/*.h include/uapi/gtu/*.h driver/*.c) \
		Documentation/ABI/sysfs-class-gtu Makefile
	$(call say,MAN,$(B)/man)
	$(Q)Documentation/man/make-man $(B)/gtu $(B)/man '$(RELEASED)'
	@touch $@

# Completions for bash and zsh, generated from the tool's own output.
.PHONY: completion
completion: $(B)/completion/.made
$(B)/completion/.made: $(B)/gtu $(wildcard packaging/completion/*)
	$(call say,GEN,$(B)/completion)
	$(Q)packaging/completion/make-completion $(B)/gtu $(B)/completion
	@touch $@

# CUDA driver stubs: one without a GPU, and one that lacks a function. Not sanitized, because they are loaded by dlopen().
FAKE_CUDA := build/tests/fake/libcuda.so.1 build/tests/fake/libcuda-old.so.1
# A CUDA driver stub whose kernels run on the CPU, if a C++ compiler is available.
CXX ?= g++
ifneq ($(shell command -v $(CXX)),)
FAKE_CUDA += build/tests/fake/libcuda-cpu.so.1
endif
CPU_KERNEL := extern "C" __global__ void( __launch_bounds__\([^)]*\))? [A-Za-z0-9_]+\(
CPU_FLAGS := -Iinclude -I. -std=c++17 -Wall -Wextra -Wno-unknown-pragmas \
	-fno-strict-aliasing -fPIC -fno-semantic-interposition
TEST_CUDA := $(wildcard tests/cuda/*.cu)
TEST_CUDA_HEADERS := $(wildcard include/gtu/*.cuh tests/cuda/*.h) include/gtu/weave.h include/uapi/gtu/hw.h
build/tests/fake/kernels.list: $(CUDA_SRC) $(TEST_CUDA) $(TEST_CUDA_HEADERS)
	@mkdir -p $(@D)
	$(Q)printf '#include "%s"\n' $(CUDA)/kernels/kernels.cu $(TEST_CUDA) | $(CXX) -E -P $(CPU_FLAGS) -x c++ - | \
		tr '\n\t' '  ' | tr -s ' ' | \
		grep -oE '$(CPU_KERNEL)' | sed -E 's/.* ([A-Za-z0-9_]+)\($$/KERNEL(\1)/' >$@.part
	@mv $@.part $@
build/tests/fake/kernels_cpu.o: tests/fake/kernels_cpu.cpp tests/fake/cuda_cpu.h build/tests/fake/kernels.list
	$(call say,CXX,$<)
	$(Q)$(CXX) $(CPU_FLAGS) -O2 -g -U_FORTIFY_SOURCE \
		-DKERNELS_LIST='"$(CURDIR)/build/tests/fake/kernels.list"' -c $< -o $@
build/tests/fake/libcuda-cpu.so.1: tests/fake/libcuda.c tests/fake/fake_cuda.h $(CUDA)/api.h \
		build/tests/fake/kernels_cpu.o
	$(call say,LD,$@)
	$(Q)$(CC) $(CPPFLAGS) -DFAKE_CPU -O1 -g -Wall -Wextra -fPIC -c -o $(@D)/libcuda-cpu.o $<
	$(Q)$(CXX) -shared -Wl,-Bsymbolic -o $@ $(@D)/libcuda-cpu.o build/tests/fake/kernels_cpu.o
build/tests/fake/%.so.1: tests/fake/libcuda.c tests/fake/fake_cuda.h $(CUDA)/api.h
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(CPPFLAGS) -O1 -Wall -Wextra -fPIC -shared $(if $(findstring old,$@),-DFAKE_OLD) -o $@ $<

# NVRTC stubs: one that records its calls, and one that lacks a function.
FAKE_NVRTC := build/tests/fake/libnvrtc.so build/tests/fake/libnvrtc-old.so
$(FAKE_NVRTC): tests/fake/libnvrtc.c tests/fake/fake_nvrtc.h
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(CPPFLAGS) -O1 -Wall -Wextra -fPIC -shared $(if $(findstring old,$@),-DFAKE_OLD) -o $@ $<

# NCCL stubs: one that checks its calls, and one that lacks a function.
FAKE_NCCL := build/tests/fake/libnccl.so.2 build/tests/fake/libnccl-old.so.2
$(FAKE_NCCL): tests/fake/libnccl.c tests/fake/fake_nccl.h tests/fake/fake_cuda.h $(CUDA)/nccl.h
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(CPPFLAGS) -O1 -Wall -Wextra -fPIC -shared $(if $(findstring old,$@),-DFAKE_OLD) -o $@ $<

.PHONY: fake-drivers
fake-drivers: $(FAKE_CUDA) $(FAKE_NVRTC) $(FAKE_NCCL)

# Kernels that tests load if there is a GPU.
ifneq ($(strip $(NVCC)),)
TEST_FATBIN := $(TEST_CUDA:tests/cuda/%.cu=build/tests/%.fatbin)
build/tests/%.fatbin: tests/cuda/%.cu $(TEST_CUDA_HEADERS)
	@mkdir -p $(@D)
	$(call say,NVCC,$<)
	$(Q)$(NVCC) -O3 -std=c++17 -fatbin -gencode arch=compute_90,code=sm_90 \
		-gencode arch=compute_80,code=compute_80 -Iinclude -I. -o $@ $<
endif

# files that these tests open at run time
$(addprefix $(B)/tests/,test_cuda test_gpu test_gpu_cpu test_gpu_limits test_gpu_pagerank test_bench_ranks test_records test_listings test_aperture test_weave_gpu test_gpu_ranks test_gpu_ranks_limits): | $(FAKE_CUDA) $(TEST_FATBIN)
$(B)/tests/test_gpu_ranks $(B)/tests/test_gpu_ranks_limits: | $(FAKE_NCCL)
$(B)/tests/test_weave_compile: | $(FAKE_NVRTC)

.PHONY: unit-tests
unit-tests: $(UNIT_BIN) fake-drivers $(TEST_FATBIN)

# Each libFuzzer target compiles the library's sources again, with coverage, in one command.
FUZZFLAGS := -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined
build/fuzz/obj/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CLANG,$<)
	$(Q)$(CLANG) $(CPPFLAGS) -std=gnu11 -O1 -g -ffp-contract=off -fno-strict-aliasing \
		-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -MMD -MP -c $< -o $@
build/fuzz/libgtu.a: $(LIB_SRC:%.c=build/fuzz/obj/%.o)
	@rm -f $@
	$(call say,AR,$@)
	$(Q)$(AR) qcs $@ $^
build/fuzz/%: build/fuzz/obj/tests/fuzz/%.o build/fuzz/libgtu.a
	$(call say,LD,$@)
	$(Q)$(CLANG) $(FUZZFLAGS) -o $@ $^ $(LIBS)
# Fuzzers that also use the tool's sources.
FUZZ_BRINGUP := $(filter-out %_pci.c %_vfio.c,$(wildcard tools/bringup/*.c)) \
	$(wildcard firmware-model/transport/*.c) $(addprefix tools/support/,cli.c fdt_blob.c html.c json.c svg.c atomic_file.c)
build/fuzz/fuzz_bringup: build/fuzz/obj/tests/fuzz/fuzz_bringup.o $(FUZZ_BRINGUP:%.c=build/fuzz/obj/%.o) build/fuzz/libgtu.a
	$(call say,LD,$@)
	$(Q)$(CLANG) $(FUZZFLAGS) -o $@ $^ $(LIBS)
FUZZ_VFIO_USER := $(wildcard firmware-model/transport/*.c firmware-model/transport/vfio-user/*.c)
build/fuzz/fuzz_vfio_user: build/fuzz/obj/tests/fuzz/fuzz_vfio_user.o $(FUZZ_VFIO_USER:%.c=build/fuzz/obj/%.o) build/fuzz/libgtu.a
	$(call say,LD,$@)
	$(Q)$(CLANG) $(FUZZFLAGS) -o $@ $^ $(LIBS)
FUZZ_JSON := tests/fuzz/fuzz_json.c $(addprefix tools/support/,json_read.c json.c)
build/fuzz/fuzz_json: $(FUZZ_JSON:%.c=build/fuzz/obj/%.o) build/fuzz/libgtu.a
	$(call say,LD,$@)
	$(Q)$(CLANG) $(FUZZFLAGS) -o $@ $^ $(LIBS)
.PHONY: fuzzers
fuzzers: $(FUZZ_BIN)

# COUNT random descriptors of the unit test, with progress. SAN=1: under the sanitizers.
.PHONY: fuzz-descriptors
fuzz-descriptors: $(B)/tests/test_hostile
	@GTU_HOSTILE_JOBS='$(or $(COUNT),10000000)' GTU_SEED='$(or $(SEED),1)' $(B)/tests/test_hostile random_descriptors

# ---- Targets for users -----------------------------------------------------------------------

.PHONY: help deps test test-quick fresh-test run install lab-report
help:
	@sed -n '3,/^$$/s/^#  \?//p' Makefile
	@echo "make run GRAPH=file SOURCE=id ALGO=bfs|sssp|pr|cc|bc|gc|kc|cdlp|lcc UNIT=none|scu|scu-basic|iru|peg|weaver"
	@echo "make test TESTS='unit/test_x cli'   groups or names: unit san cli fuzz valgrind guest"
	@echo "make test-quick                     unit and cli tests without the slow ones, in less than 3 minutes"
	@echo "make fresh-test SUITE=trixie        make run and make test in an empty Debian (bookworm or trixie), as root;"
	@echo "                                    AS_USER=1: as a user in it; EACH=1: without each group of packages, too"
	@echo "make deps | unit-tests | fuzzers | fake-drivers   packages; test programs; libFuzzer programs; simulated GPUs"
	@echo "make fuzz-descriptors COUNT=1e8     random descriptors on the model, between guard pages"
	@echo "make man                            the man pages, in build/man: man -l build/man/man1/gtu.1"
	@echo "make deb | deb-test                 Debian packages, in build/deb; they are installed into an empty Debian"
	@echo "make completion                     completion for bash and zsh, in build/completion"
	@echo "make kselftest                      the driver's tests as static programs"
	@if [ -f tests/guest/guest.mk ]; then sed -n 's/^#   \( *\)/\1/p' tests/guest/guest.mk; fi

deps:
	@packaging/need build
	@packaging/need --optional pci

# tests/run installs and builds the requirements of the chosen tests. Tests that need a missing package are skipped.
test: deps
	@V='$(V)' JOBS='$(JOBS)' CLANG='$(CLANG)' tests/run $(TESTS)

test-quick: deps
	@V='$(V)' JOBS='$(JOBS)' tests/run --quick

# Runs both commands of the README in an empty Debian; needs root and a network.
fresh-test:
	@packaging/fresh-test $(if $(AS_USER),--user) $(if $(EACH),--each) '$(or $(SUITE),bookworm)'

run: deps
	@$(MAKE) $(if $(V),,-s) -j$(JOBS) all
	@GRAPH='$(GRAPH)' SOURCE='$(SOURCE)' ALGO='$(ALGO)' UNIT='$(UNIT)' tools/support/first-run

# Runs are kept while their sources are the same, and the machine and parameters, which gtu compares; the files that only
# write the page are left out.
LAB_SOURCES := include firmware-model/lab firmware-model/units libruntime/graph libruntime/support \
	tools/experiments tools/reference tools/report ':!tools/experiments/*.fidelity' ':!tools/experiments/lab_report.c' \
	':!tools/report/fidelity.c' ':!tools/report/*html.c' ':!tools/report/lab_plot.c'
LAB_FOLDER := build/lab-report$(if $(filter short,$(SCALE)),-short)
LAB_PAPERS := emogi iru scu graphpeg sparseweaver
lab-report: all
	@commit=$$(git log -1 --format=%h -- $(LAB_SOURCES) 2>/dev/null); \
	changed=$$(git status --porcelain -- $(LAB_SOURCES) 2>/dev/null); \
	[ -z "$$changed" ] || commit+=" with changes $$({ git diff HEAD -- $(LAB_SOURCES); echo "$$changed"; } | sha1sum | head -c 12)"; \
	mkdir -p $(LAB_FOLDER); \
	$(B)/gtu lab report $(LAB_FOLDER) --commit "$${commit:-gtu $(VERSION)}" \
		$(if $(filter short,$(SCALE)),--short,--complete --output Documentation/fidelity.md) || failed=$$?; \
	$(B)/gtu report $(LAB_PAPERS:%=$(LAB_FOLDER)/%.json) -o $(LAB_FOLDER)/fidelity.html; \
	exit $${failed:-0}

INSTALL_WORDS := DESTDIR PREFIX LIBDIR SYSCONFDIR MANDIR DOCDIR UDEVDIR SYSUSERSDIR BASHDIR ZSHDIR PYTHONDIR B ABI
.PHONY: uninstall
install: all man completion
	@$(MAKE) -B $(B)/gtu.pc
	$(Q)$(foreach w,$(INSTALL_WORDS),$(w)='$($(w))') packaging/install install
# removes the files that this build would install
uninstall: man completion
	$(Q)$(foreach w,$(INSTALL_WORDS),$(w)='$($(w))') packaging/install uninstall

# Debian packages, in build/deb; deb-test installs, upgrades and removes them in an empty Debian (SUITE=trixie: 13).
.PHONY: deb deb-test
deb: deps
	@packaging/need packages mpi lintian
	@packaging/make-deb
	@lintian --fail-on error,warning build/deb/*.changes

deb-test:
	@packaging/deb-test build/deb

# Targets for virtual machines: guest, guest-test and others.
-include tests/guest/guest.mk

.SECONDARY:
-include $(shell find $(B)/obj build/fuzz/obj -type f -name '*.d' 2>/dev/null)
