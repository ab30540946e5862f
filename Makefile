# The verbs people type. Meson and Ninja do the work; tools/setup installs what they need.

BUILD ?= build
ASAN  ?= build-asan
VM    ?= build-vm
JOBS  ?= $(shell nproc)
# Groups of tests for `make test`; none means all.
TESTS ?=

# Builds directory $(1); silent unless it takes a while or fails.
compile = { test -x $(1)/sonde || echo 'building in $(1)/ ...' >&2; } && \
	{ ninja -C $(1) -j $(JOBS) >$(1)/ninja.log || { cat $(1)/ninja.log; exit 1; }; }
# No warnings here: gcc gives false ones for instrumented code, and the plain build has them all as errors.
# clang links a sanitizer's symbols into executables only, hence b_lundef.
SANITIZE = -Db_sanitize=address,undefined -Db_lundef=false -Dwerror=false -Dc_args=-w

.PHONY: help demo test test-long test-vm bench lint install clean build build-tests asan setup-build setup-test setup-vm setup-bench

help:
	@echo 'make demo     show what Sonde finds in example programs'
	@echo 'make test     run the whole test suite'
	@echo 'make test-long  run it with everything in every way, for hours'
	@echo 'make test-vm  build and test for the other architecture, emulated'
	@echo 'make bench    measure against the yardsticks and write docs/EVALUATION.md'
	@echo 'make lint     check layout and suspicious code'
	@echo 'make install  install (prefix=/usr/local, DESTDIR=)'
	@echo 'make clean    remove what was built'

demo: build
	@tools/demo $(BUILD)

test: setup-test
	@$(MAKE) --no-print-directory build-tests asan
	@tests/run --build $(BUILD) --asan $(ASAN) $(TESTS)

test-long: setup-test
	@$(MAKE) --no-print-directory build-tests asan
	@tests/run --long --build $(BUILD) --asan $(ASAN) $(TESTS)

test-vm: setup-vm
	@$(MAKE) --no-print-directory build-tests
	@tests/vm/test $(BUILD) $(VM)

bench: setup-bench
	@$(MAKE) --no-print-directory build
	@bench/run $(BUILD)

lint: setup-test
	@$(MAKE) --no-print-directory build
	@tools/lint $(BUILD) --analyze

install: build
	@$(if $(prefix),meson configure $(BUILD) -Dprefix=$(abspath $(prefix)))
	@DESTDIR=$(DESTDIR) meson install -C $(BUILD) --quiet

clean:
	rm -rf $(BUILD) $(ASAN) $(VM)

# As users have it; with the test programs where cmocka is there for them.
build: setup-build
	@tools/configure $(BUILD)
	@$(call compile,$(BUILD))

build-tests: setup-test
	@tools/configure $(BUILD) -Dtests=enabled
	@$(call compile,$(BUILD))

asan: setup-test
	@tools/configure $(ASAN) -Dtests=enabled $(SANITIZE)
	@$(call compile,$(ASAN))

setup-build:
	@tools/setup build

setup-test:
	@tools/setup build test

setup-vm:
	@tools/setup build test vm

setup-bench:
	@tools/setup build test bench
