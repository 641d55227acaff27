# The front door; Meson does the work. See CONTRIBUTING.md.
BUILD ?= build
PREFIX ?= /usr/local
MESON_SETUP = meson setup --prefix=$(PREFIX)

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD)

$(BUILD)/build.ninja:
	@$(MESON_SETUP) $(BUILD)

# The same code under the address and undefined-behaviour sanitizers.
build-asan/build.ninja:
	@$(MESON_SETUP) build-asan -Db_sanitize=address,undefined -Db_lundef=false

build-fuzz/build.ninja:
	@CC=clang $(MESON_SETUP) build-fuzz -Dfuzz=true -Db_lundef=false -Db_sanitize=address,undefined \
		-Dc_args=-fsanitize=fuzzer-no-link -Ddefault_library=static

asan: build-asan/build.ninja
	@ninja -C build-asan

fuzzers: build-fuzz/build.ninja
	@ninja -C build-fuzz

# Installs by apt what is missing; says so and does nothing when all is there.
deps:
	@tools/deps build test

demo:
	@tools/deps build demo
	@$(MAKE) --no-print-directory all
	@tools/demo $(BUILD)/perf-bpf

# Every test; the last line is "N passed, N failed, N skipped".
check:
	@tools/deps build test
	@$(MAKE) --no-print-directory all asan fuzzers
	@tests/run --fuzz-seconds 45 checks unit unit-asan cmd cmd-asan fuzz vm

check-peers: all
	@tools/deps build test peers
	@tests/run peers

# Probes of a kernel by its debug information, in QEMU; fetches 260 MB, once.
check-debuginfo: all
	@tools/deps build test debuginfo
	@tests/run debuginfo

# Built, installed, used and removed in bare roots of Debian 12, 13 and sid.
check-distros:
	@tools/deps distros
	@tests/run distros

# Fuzzes each target for FUZZ_SECONDS (600).
fuzz: fuzzers
	@tests/run --fuzz-seconds $(or $(FUZZ_SECONDS),600) --fuzz-seed $(or $(FUZZ_SEED),0) fuzz

bench: all
	@tools/deps build bench
	@bench/run

# The Debian packages, in build-deb/.
deb:
	@tools/make-deb

# The tarball of a release, in build/meson-dist/, from what is committed.
dist: $(BUILD)/build.ninja
	@meson dist -C $(BUILD) --no-tests --formats xztar

install: all
	@meson install -C $(BUILD)

clean:
	rm -rf build build-asan build-fuzz build-arm64 build-deb

.PHONY: all asan fuzzers deps demo check check-debuginfo check-distros check-peers fuzz bench deb dist install clean
