# SPDX-License-Identifier: MIT
#
# GTU, the graph traversal unit.
#
#   make            build/gtu, build/libgtu.so, build/libgtu.a (no root needed)
#   make run        the main job on real input; installs what is missing first
#   make test       every test; last line: N passed, N failed, N skipped
#   make help       the rest
#
# SAN=1 builds everything under AddressSanitizer and UndefinedBehaviorSanitizer in build/san.

.DEFAULT_GOAL := all
SHELL := /bin/bash
MAKEFLAGS += --no-print-directory

CC ?= gcc
CLANG ?= clang
PKG_CONFIG ?= pkg-config
OPT ?= -O2
VERSION := 0.1.0
ABI := 0

ROOT := $(CURDIR)
ifdef SAN
B := build/san
SANFLAGS := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
else
B := build
SANFLAGS :=
endif

LIBS := -lfdt -llzma -lz -lzstd -lexpat -lm -lpthread
CPPFLAGS += -Iinclude -Ifirmware-model -Ilibruntime -D_GNU_SOURCE -DGTU_VERSION='"$(VERSION)"'
CFLAGS += -std=gnu11 $(OPT) -g -Wall -Wextra -ffp-contract=off -fPIC -fno-strict-aliasing $(SANFLAGS)
LDFLAGS += $(SANFLAGS)

LIB_SRC := $(wildcard firmware-model/*.c libruntime/*.c libruntime/*/*.c)
TOOL_SRC := $(wildcard tools/*.c)
UNIT_SRC := $(wildcard tests/unit/test_*.c)
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
LIB_OBJ := $(LIB_SRC:%.c=$(B)/obj/%.o)
TOOL_OBJ := $(TOOL_SRC:%.c=$(B)/obj/%.o)
UNIT_BIN := $(UNIT_SRC:tests/unit/%.c=$(B)/tests/%)
FUZZ_BIN := $(FUZZ_SRC:tests/fuzz/%.c=build/fuzz/%)

.PHONY: all
all: $(B)/gtu $(B)/libgtu.so $(B)/libgtu.a $(B)/gtu.pc

$(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

$(B)/libgtu.a: $(LIB_OBJ)
	@rm -f $@
	ar rcs $@ $^

$(B)/libgtu.so: $(LIB_OBJ) libruntime/libgtu.map
	$(CC) $(LDFLAGS) -shared -Wl,-soname,libgtu.so.$(ABI) -Wl,--version-script=libruntime/libgtu.map \
		-Wl,--no-undefined -o $@.$(ABI) $(LIB_OBJ) $(LIBS)
	@ln -sf libgtu.so.$(ABI) $@

$(B)/gtu: $(TOOL_OBJ) $(B)/libgtu.a
	$(CC) $(LDFLAGS) -o $@ $(TOOL_OBJ) $(B)/libgtu.a $(LIBS)

$(B)/tests/%: $(B)/obj/tests/unit/%.o $(B)/obj/tests/unit/harness.o $(B)/libgtu.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(LIBS)

.PHONY: unit-tests
unit-tests: $(UNIT_BIN)

# libFuzzer builds the library's sources again, with coverage, in one go per target.
FUZZFLAGS := -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined
build/fuzz/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CLANG) $(CPPFLAGS) -std=gnu11 -O1 -g -ffp-contract=off -fno-strict-aliasing \
		-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -MMD -MP -c $< -o $@
build/fuzz/libgtu.a: $(LIB_SRC:%.c=build/fuzz/obj/%.o)
	@rm -f $@
	ar rcs $@ $^
build/fuzz/%: build/fuzz/obj/tests/fuzz/%.o build/fuzz/libgtu.a
	$(CLANG) $(FUZZFLAGS) -o $@ $^ $(LIBS)
.PHONY: fuzzers
fuzzers: $(FUZZ_BIN)

.SECONDARY:
-include $(shell find build -name '*.d' 2>/dev/null)
