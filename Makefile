# The front door; Meson does the work. See CONTRIBUTING.md.
BUILD ?= build

# PREFIX (default: /usr/local), LIBDIR (below it) and TESTS (auto, enabled, disabled) are kept
# by the build folder: to change them, give them again.
#
# Where the linker and pkg-config look on Debian, Meson knows only when dpkg-dev is installed.
ifneq ($(wildcard /etc/debian_version),)
MULTIARCH := $(shell $(CC) -print-multiarch 2>/dev/null)
endif
DEFAULT_LIBDIR = $(if $(MULTIARCH),lib/$(MULTIARCH))
OPTIONS = $(if $(PREFIX),-Dprefix=$(PREFIX)) $(if $(LIBDIR),-Dlibdir=$(LIBDIR)) \
	$(if $(TESTS),-Dtests=$(TESTS))
MESON_SETUP = $(check_meson) meson setup $(if $(LIBDIR),,$(DEFAULT_LIBDIR:%=-Dlibdir=%)) $(OPTIONS)
check_meson = for tool in meson ninja; do \
		command -v $$tool >/dev/null || { \
			echo "make: $$tool is not installed" >&2; \
			echo "hint: 'sudo make deps' installs what is missing" >&2; exit 1; }; \
	done;

# How many files are compiled at a time; without it, as many as there are CPUs.
JOBS ?=
NINJA = ninja $(if $(JOBS),-j$(JOBS))

all: $(BUILD)/build.ninja configured
	@$(NINJA) -C $(BUILD)

# The program alone: no library for other programs, no manual pages, no tests.
program: $(BUILD)/build.ninja configured
	@$(NINJA) -C $(BUILD) perf-bpf

# Options that are given for a folder that is there already.
configured: $(BUILD)/build.ninja
	@$(check_meson) if [ -n "$(strip $(OPTIONS))" ]; then meson configure $(BUILD) $(OPTIONS); fi

$(BUILD)/build.ninja:
	@$(MESON_SETUP) $(BUILD)

# The same code under the address and undefined-behaviour sanitizers. A finding ends the program:
# code that does not have to go on after one compiles in three quarters of the time.
SANITIZE = -Db_sanitize=address,undefined -Db_lundef=false
END_AT_FINDING = -fno-sanitize-recover=all

build-asan/build.ninja:
	@$(MESON_SETUP) build-asan $(SANITIZE) -Dc_args=$(END_AT_FINDING)

# The same by clang, for the fuzz targets; the unit tests run there, too.
# lld links them in half the time.
build-fuzz/build.ninja:
	@export CC=clang; if command -v ld.lld >/dev/null; then export CC_LD=lld; fi; \
	$(MESON_SETUP) build-fuzz $(SANITIZE) -Dfuzz=true \
		-Dc_args="-fsanitize=fuzzer-no-link $(END_AT_FINDING)" -Ddefault_library=static

# What make check runs of it is not optimized, as that takes more time than the tests; only the library
# is (meson.build), whose tests take longest.
build-clang/build.ninja:
	@export CC=clang; if command -v ld.lld >/dev/null; then export CC_LD=lld; fi; \
	$(MESON_SETUP) build-clang $(SANITIZE) -Dfuzz=true -Doptimization=0 -Ddebug=false \
		-Dc_args="-gline-tables-only -fsanitize=fuzzer-no-link $(END_AT_FINDING)" \
		-Ddefault_library=static

# With counters of lines and branches. They are in mapped files (%c), one for each program (%m), in which
# processes go on counting that may not open or write any file.
COUNTERS = -fprofile-instr-generate=$(CURDIR)/build-coverage/counters/%m%c.profraw

build-coverage/build.ninja:
	@export CC=clang; if command -v ld.lld >/dev/null; then export CC_LD=lld; fi; \
	$(MESON_SETUP) build-coverage -Doptimization=1 -Dc_link_args=$(COUNTERS) \
		-Dc_args="$(COUNTERS) -fcoverage-mapping -mllvm -runtime-counter-relocation"

coverage: build-coverage/build.ninja
	@$(NINJA) -C build-coverage
	@tests/coverage

asan: build-asan/build.ninja
	@$(NINJA) -C build-asan

fuzzers: build-fuzz/build.ninja
	@$(NINJA) -C build-fuzz fuzzers

# Of the rooms that read untrusted data.
unit-clang: build-clang/build.ninja
	@$(NINJA) -C build-clang unit-tests-of-parsers

fuzzers-quick: build-clang/build.ninja
	@$(NINJA) -C build-clang fuzzers

unit-clang-all: build-fuzz/build.ninja
	@$(NINJA) -C build-fuzz unit-tests

# Installs by apt what is missing; says so and does nothing when all is there.
deps:
	@tools/deps build test

demo:
	@tools/deps build demo
	@$(MAKE) --no-print-directory program
	@tools/demo $(BUILD)/perf-bpf

# What finds a fault in a change; 12 minutes on two CPUs are the aim. The last line is
# "N passed, N failed, N skipped"; before it stands what took how long.
check:
	@tools/deps build test
	@tests/run --make --guests "bullseye sid" --fuzz-seconds 5 checks unit unit-clang vm cmd fuzz-quick

# All of it: the commands under the sanitizers, too, every kernel, and arm64.
check-all:
	@tools/deps build test
	@ALLOCATIONS_STEP=1 PLANT_ALL=1 tests/run --make --strict --fuzz-seconds 45 checks unit unit-clang-all unit-asan cmd vm fuzz cmd-asan clone

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
ifeq ($(DESTDIR),)
	@cat $(BUILD)/meson-logs/install-log.txt >>$(BUILD)/installed.txt
	@$(LDCONFIG)
endif

uninstall:
	@tools/uninstall $(BUILD)
	@$(LDCONFIG)

# So that programs find the library at once.
LDCONFIG = if [ "$$(id -u)" = 0 ]; then PATH=$$PATH:/usr/sbin:/sbin ldconfig; fi

clean:
	rm -rf build build-*

.PHONY: all program configured uninstall asan coverage fuzzers fuzzers-quick unit-clang unit-clang-all deps demo check check-all check-debuginfo check-distros check-peers fuzz \
	bench deb dist install clean
