#!/usr/bin/env bash
# What `make install` puts where, and that a program can be built on it.
. "$(dirname "$0")/../tap.sh"

# Installs below ./root; the prefix is that of the build.
install_all() {
	command -v meson >/dev/null || skip "meson is not installed"
	DESTDIR=$PWD/root meson install --no-rebuild -C "$BUILD" >log 2>&1 ||
		{ cat log; fail "meson install failed"; }
	prefix=$(cd root && find . -name perf-bpf -path '*/bin/*' | sed 's,^\.\(.*\)/bin/perf-bpf$,\1,')
	root=$PWD/root$prefix
}

test_everything_has_its_place() {
	install_all
	for file in bin/perf-bpf include/perfbpf/bpf/libbpf.h include/perfbpf/bpf/bpf_helpers.h \
		share/man/man1/perf-bpf.1 share/man/man1/perf-bpf-record.1 \
		share/man/man3/libperfbpf.3 share/man/man5/perf-bpf-data.5 \
		share/bash-completion/completions/perf-bpf lib/sysusers.d/perf-bpf.conf \
		lib/systemd/system/perf-bpf.socket lib/systemd/system/perf-bpf.service; do
		[ -f "$root/$file" ] || { find root; fail "$file is missing"; }
	done
	find root -path '*/bash-completion/completions/perf' -o -path '*/bash_completion.d/perf-bpf' |
		grep -q . || fail "no completion of perf bpf"
	"$root/bin/perf-bpf" --version >/dev/null
	ls "$root"/lib*/libperfbpf.a "$root"/lib*/*/libperfbpf.a 2>/dev/null | grep -q . || fail "no libperfbpf.a"
	ls "$root"/lib*/libperfbpf.so "$root"/lib*/*/libperfbpf.so 2>/dev/null | grep -q . || fail "no libperfbpf.so"
}

test_the_manual_is_found_where_it_is_installed() {
	install_all
	command -v man >/dev/null || skip "man is not installed"
	MANPATH=$root/share/man "$root/bin/perf-bpf" help record >page 2>/dev/null </dev/null
	assert_contains page "PERF-BPF-RECORD(1)"
}

test_a_program_written_for_libbpf_builds_on_it() {
	install_all
	command -v pkg-config >/dev/null || skip "pkg-config is not installed"
	cat >program.c <<-'END'
		#include <bpf/bpf.h>
		#include <bpf/btf.h>
		#include <bpf/libbpf.h>
		#include <errno.h>
		#include <stdio.h>

		static int quiet(enum libbpf_print_level level, const char *fmt, va_list ap)
		{
			return 0;
		}

		int main(int argc, char **argv)
		{
			struct bpf_program *prog;
			struct bpf_map *map;

			libbpf_set_print(quiet);
			struct bpf_object *obj = bpf_object__open_file("/no/such/object.o", NULL);
			if (obj || errno != ENOENT)
				return 1;
			if (argc < 2) {
				puts("opened nothing, as it should");
				return 0;
			}
			obj = bpf_object__open_file(argv[1], NULL);
			if (!obj)
				return 2;
			bpf_object__for_each_program(prog, obj)
				printf("program %s\n", bpf_program__name(prog));
			bpf_object__for_each_map(map, obj)
				printf("map %s\n", bpf_map__name(map));
			bpf_object__close(obj);
			return 0;
		}
	END
	pc=$(dirname "$(find "$root" -name libperfbpf.pc)")
	lib=$(dirname "$(find "$root" -name libperfbpf.so)")
	export PKG_CONFIG_PATH=$pc PKG_CONFIG_SYSROOT_DIR=$PWD/root
	flags=$(pkg-config --cflags libperfbpf)
	cc -Wall -Werror -o shared program.c $flags $(pkg-config --libs libperfbpf)
	LD_LIBRARY_PATH=$lib ./shared >out
	assert_contains out "opened nothing"
	cc -Wall -Werror -o static program.c $flags "$lib/libperfbpf.a" -lelf -lz
	./static >out
	assert_contains out "opened nothing"
	clang -target bpf -O2 -g -idirafter /usr/include/"$(uname -m)"-linux-gnu $flags \
		-c -o filter.o -x c - <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		int kept;
		SEC("tp/sched/sched_switch")
		int keep(void *ctx)
		{
			return ++kept & 1;
		}
		char LICENSE[] SEC("license") = "Dual BSD/GPL";
	END
	LD_LIBRARY_PATH=$lib ./shared filter.o >out
	assert_contains out "program keep"
	assert_contains out "map filter.bss"
}

# option NAME: the value of an option of ./b
option() {
	meson introspect b --buildoptions |
		python3 -c 'import json, sys; print(*[o["value"] for o in json.load(sys.stdin) if o["name"] == sys.argv[1]])' "$1"
}

test_make_heeds_its_options_later_too() {
	local lib=lib
	command -v meson >/dev/null || skip "meson is not installed"
	[ ! -e /etc/debian_version ] || lib=lib/$(cc -print-multiarch)
	# As where nothing tells Meson the folder's name.
	mkdir bin
	printf '#!/bin/sh\nexit 1\n' >bin/dpkg-architecture
	chmod +x bin/dpkg-architecture
	PATH=$PWD/bin:$PATH make -s -C "$SRC" BUILD="$PWD/b" configured TESTS=disabled >log
	assert_contains log "no (-Dtests=disabled)"
	assert_equal "$(option prefix)" /usr/local
	[ $lib = lib ] || assert_equal "$(option libdir)" "$lib"
	make -s -C "$SRC" BUILD="$PWD/b" configured PREFIX=/opt/perf-bpf
	assert_equal "$(option prefix) $(option tests)" "/opt/perf-bpf disabled"
	# What was given stays until something else is.
	make -s -C "$SRC" BUILD="$PWD/b" configured
	assert_equal "$(option prefix)" /opt/perf-bpf
}

test_make_without_meson_says_what_to_do() {
	mkdir bin
	for tool in sh make cc; do
		ln -s "$(command -v $tool)" bin/$tool
	done
	! PATH=$PWD/bin make -C "$SRC" BUILD="$PWD/b" >out 2>err || fail "make succeeded"
	assert_contains err "meson is not installed"
	assert_contains err "sudo make deps"
}

test_uninstall_removes_what_was_installed() {
	mkdir -p b p/lib p/share/perf-bpf others
	touch p/lib/libperfbpf.so.0 p/share/perf-bpf/file p/lib/other
	ln -s libperfbpf.so.0 p/lib/libperfbpf.so
	printf '%s\n' "# List of files" "$PWD/p/lib/libperfbpf.so.0" "$PWD/p/lib/libperfbpf.so" \
		"$PWD/p/share/perf-bpf/file" "$PWD/p/share/perf-bpf" "$PWD/p/share" "$PWD/p/lib" >b/installed.txt
	"$SRC/tools/uninstall" b
	assert_equal "$(find p | sort | tr '\n' ' ')" "p p/lib p/lib/other "
	expect_status 1 "$SRC/tools/uninstall" b
	assert_contains err "nothing was installed"
}

run_tests
