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
		share/bash-completion/completions/perf-bpf; do
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

run_tests
