# SPDX-License-Identifier: BSD-2-Clause
# What a newcomer types, in a bare root of Debian: sourced by test_NAME.sh, which
# then calls `steps NAME`. Each step builds on those before it, and what it took is in
# ${XDG_CACHE_HOME:-~/.cache}/perf-bpf/distros/NAME.log.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/root.sh"

# step COMMAND...: in the root; its output goes to the log, and here if it fails.
step() {
	local started=$SECONDS status=0
	"$@" >step 2>&1 || status=$?
	{
		cat step
		echo "=== $((SECONDS - started)) s, status $status: ${*: -1}"
	} >>"$log"
	[ $status = 0 ] || { root_why step; fail "'${*: -1}' ended with $status"; }
}

needs() {
	[ -e "$root/../$1" ] || fail "'$1' did not come about"
}
done_with() {
	touch "$root/../$1"
}

# Everything below the prefix, and what the linker and man know.
installed_files() {
	root_run 'find /usr/local /etc/ld.so.conf.d ! -path "*/__pycache__*" | sort'
}

test_1_clone_without_tools() {
	root_begin "$NAME"
	: >"$log"
	root_clone
	step root_user 'git clone -q /src.git perf-bpf'
	# make itself says what to do.
	root_user 'cd perf-bpf && make' >out 2>&1 && fail "make did something without Meson"
	assert_contains out "sudo make deps"
	done_with cloned
}

# Loads BPF programs into this machine's kernel. Others who do so wait for their turn.
test_2_demo() {
	needs cloned
	step root_user 'cd perf-bpf && sudo tools/deps build demo'
	step root_user 'cd perf-bpf && sudo make program'
	! grep -E 'warning:' step >warnings || { cat warnings; fail "warnings"; }
	installed_files >before
	exec 8>"${KERNEL_LOCK:-$distros_cache/kernel.lock}"
	flock 8
	step root_user 'cd perf-bpf && sudo make demo'
	exec 8>&-
	assert_contains step "Of 15 writes by dd, the 5 of 1234 bytes were kept."
	step root_user 'cd perf-bpf && sudo make'
	! grep -E 'warning:' step >warnings || { cat warnings; fail "warnings"; }
	done_with built
}

# The tests that need neither privilege nor more packages; the others say what they miss.
test_3_quick_tests() {
	needs built
	step root_user 'cd perf-bpf && tests/run unit'
	tail -n 1 step
	step root_user 'cd perf-bpf && tests/run --only "uapi" checks'
	tail -n 1 step
}

test_4_install() {
	needs built
	installed_files >"$root/../before"
	step root_user 'cd perf-bpf && sudo make install'
	root_run 'perf-bpf --version; man=/usr/local/share/man/man1/perf-bpf.1; test -s $man'
	# Where the linker and pkg-config look.
	root_run 'ldconfig -p' | grep libperfbpf || fail "ldconfig does not know the library"
	root_run 'pkg-config --modversion libperfbpf'
	done_with installed
}

test_5_program_linked_and_run() {
	needs installed
	cat >"$root/home/user/client.c" <<-'END'
		#include <bpf/bpf.h>
		#include <bpf/btf.h>
		#include <bpf/libbpf.h>
		#include <stdio.h>

		int main(void)
		{
			struct btf *btf = btf__new_empty();
			struct btf_enum64 *values;
			int id = btf__add_enum64(btf, "wide", 8, false);

			if (id < 0 || btf__add_enum64_value(btf, "most", 1ULL << 40))
				return 1;
			values = btf_enum64(btf__type_by_id(btf, id));
			printf("%s %d %llx\n", libbpf_bpf_map_type_str(BPF_MAP_TYPE_CGRP_STORAGE),
			       BPF_MAP_TYPE_USER_RINGBUF, (unsigned long long)btf_enum64_value(values));
			btf__free(btf);
			return 0;
		}
	END
	step root_user 'cc -Wall -Werror client.c -o client $(pkg-config --cflags --libs libperfbpf) && ./client'
	assert_contains step "cgrp_storage 31 10000000000"
}

test_6_uninstall_leaves_nothing() {
	needs installed
	step root_user 'cd perf-bpf && sudo make uninstall'
	installed_files >after
	diff "$root/../before" after
	! root_run 'ldconfig -p' | grep libperfbpf || fail "ldconfig still knows the library"
}

# The same folder, for another prefix.
test_7_prefix_is_heeded() {
	needs built
	step root_user 'cd perf-bpf && sudo make install PREFIX=/usr'
	root_run 'test -x /usr/bin/perf-bpf -a ! -e /usr/local/bin/perf-bpf'
	root_run 'pkg-config --variable=prefix libperfbpf' | grep -qx /usr || fail "libperfbpf.pc"
	step root_user 'cd perf-bpf && sudo make uninstall'
	root_run 'test ! -e /usr/bin/perf-bpf'
	! root_run 'find / -xdev -name "*perfbpf*" ! -path "/home/*" ! -path "/src.git/*" ! -path "/proc/*"' | grep . ||
		fail "files were left behind"
}

steps() {
	NAME=$1
	log=$distros_cache/$NAME.log
	run_tests
}
