#!/usr/bin/env bash
# Our copy of the kernel's interface (lib/sys/uapi), the system's headers, and
# what <bpf/perf_bpf_uapi.h> adds to those say the same. SYSTEM names options by
# which the compiler finds other headers than those that are installed.
. "$(dirname "$0")/../tap.sh"

OWN=$SRC/lib/sys/uapi
SYSTEM=${SYSTEM:-}

# The enumerators and macros of numbers of one of our headers.
names() {
	cc -E -dM $SYSTEM -I"$OWN" -include "$OWN/linux/$1.h" -x c /dev/null |
		sed -n 's/^#define \([A-Z_]*\(BPF\|BTF\|PERF\)_[A-Z0-9_]*\) .*/\1/p' | sort -u >macros
	grep -oE '\b(BPF|BTF|PERF)_[A-Za-z0-9_]+\b' "$OWN/linux/$1.h" | sort -u >words
	grep -oE '^	((BPF|BTF|PERF)_[A-Za-z0-9_]+) =' "$OWN/linux/$1.h" | tr -d '	 =' |
		cat - <(comm -12 macros words) | sort -u |
		grep -vE '_H__|_OWN_UAPI|_IOC_|^BPF_HELPERS$|_(LINE_NUM|LINE_COL)$|^BTF_(INFO|INT|MEMBER)_[A-Z_]*$' || :
}

# values HEADER NAMES OPTION...: "NAME VALUE" of those that compile
values() {
	local header=$1 list=$2
	shift 2
	{
		printf '#include <stdio.h>\n#include <linux/%s.h>\n' "$header"
		[ "$header" != bpf ] || echo '#include <bpf/perf_bpf_uapi.h>'
		[ "$header" != btf ] || echo '#include <bpf/btf.h>'
		echo 'int main(void) {'
		sed 's/.*/printf("& %lld\\n", (long long)(&));/' "$list"
		echo '}'
	} >values.c
	cc -w "$@" $SYSTEM -I"$SRC/include" values.c -o values 2>errors || { cat errors; fail "values.c"; }
	./values
}

# Without BTF_MAX_*, the limits that 7.2 widened, and the number of attach types that are known.
same_values() {
	local header=$1
	names "$header" | grep -vE '^BTF_MAX_|^__MAX_BPF|_MAX$' >all
	[ "$(wc -l <all)" -gt "$2" ] || fail "only $(wc -l <all) names in $header.h"
	# What neither the system's header nor the public one has is not compared.
	{
		printf '#include <linux/%s.h>\n' "$header"
		[ "$header" != bpf ] || echo '#include <bpf/perf_bpf_uapi.h>'
		[ "$header" != btf ] || echo '#include <bpf/btf.h>'
		sed 's/.*/long long v_& = (long long)(&);/' all
	} >probe.c
	cc -w -fmax-errors=0 -fsyntax-only -fdiagnostics-color=never $SYSTEM -I"$SRC/include" probe.c 2>unknown || :
	sed -n "s/.*error: .\([A-Z_a-z0-9]*\). undeclared.*/\1/p" unknown | sort -u >lacking
	comm -23 all lacking >known
	values "$header" known -I"$OWN" >ours
	values "$header" known >theirs
	diff ours theirs || fail "$header.h differs"
	[ "$(wc -l <ours)" -gt "$2" ] || fail "only $(wc -l <ours) values of $header.h compared"
}

test_bpf_h_has_the_kernels_values() {
	same_values bpf 200
}
test_btf_h_has_the_kernels_values() {
	same_values btf 25
}
test_perf_event_h_has_the_kernels_values() {
	same_values perf_event 90
}


# The system's header may be older than the names, or not be there.
test_landlock_h_has_the_kernels_values() {
	echo '#include <linux/landlock.h>' >system.c
	cc $SYSTEM -E system.c >/dev/null 2>&1 || skip "the system has no <linux/landlock.h>"
	cc -E -dM -I"$OWN" system.c | sed -n 's/^#define \(LANDLOCK_[A-Z_0-9]*\) .*/\1/p' | sort >all
	cc -E -dM $SYSTEM system.c | sed -n 's/^#define \(LANDLOCK_[A-Z_0-9]*\) .*/\1/p' | sort >theirs
	comm -12 all theirs >known
	[ "$(wc -l <known)" -gt 12 ] || fail "only $(wc -l <known) names compared"
	values landlock known -I"$OWN" >ours
	values landlock known >theirs
	diff ours theirs || fail "landlock.h differs"
}

# Each member of ours that the system's header has is where that has it.
test_members_have_the_kernels_places() {
	local kind header type
	for header in bpf btf perf_event; do
		sed -n 's/^\(struct\|union\) \([a-z0-9_]*\) {.*/\1 \2/p' "$OWN/linux/$header.h" >types
		{
			printf '#include <stdio.h>\n#include <stddef.h>\n#include <linux/%s.h>\nint main(void) {\n' $header
			while read -r kind type; do
				sed -n "/^$kind $type {/,/^}/p" "$OWN/linux/$header.h" |
					sed -n 's/^\t*[a-z_0-9]* \([a-z_0-9]*\)\(\[.*\]\)\?;.*/\1/p' | sort -u |
					grep -v __reserved |
					sed "s/.*/printf(\"$type.& %zu\\\\n\", offsetof($kind $type, &));/"
			done <types
			echo 'return 0; }'
		} >all.c
		cc -fsyntax-only -fmax-errors=0 -fdiagnostics-color=never -I"$OWN" all.c 2>wrong || :
		# Members of unnamed structs' own structs have no place of their own.
		sed -n 's/^all.c:\([0-9]*\):.*error.*/\1d/p' wrong | sort -u >delete
		sed -i -f delete all.c
		cc -fsyntax-only -fmax-errors=0 -fdiagnostics-color=never $SYSTEM all.c 2>wrong || :
		sed -n 's/^all.c:\([0-9]*\):.*error.*/\1d/p' wrong | sort -u >delete
		sed -i -f delete all.c
		cc -I"$OWN" all.c -o a && ./a >ours
		cc $SYSTEM all.c -o a && ./a >theirs
		[ -s ours ] || fail "nothing of $header.h compared"
		diff ours theirs || fail "$header.h"
	done
}

# A client names what is newer than its headers, whichever are included first.
client() {
	cat <<-'END'
		#include <stdio.h>
		int main(void)
		{
			struct btf_enum64 e = {.val_lo32 = 1, .val_hi32 = 2};
			struct btf_decl_tag tag = {.component_idx = -1};
			enum bpf_map_type type = BPF_MAP_TYPE_CGRP_STORAGE;
			enum bpf_attach_type attach = BPF_TRACE_UPROBE_SESSION;
			enum bpf_link_type link = BPF_LINK_TYPE_SOCKMAP;

			if (type == BPF_MAP_TYPE_USER_RINGBUF || type == BPF_MAP_TYPE_ARENA)
				return 1;
			printf("%d %d %d %d %d %llx %d %x\n", type, attach, link, BPF_PROG_TYPE_NETFILTER,
			       BTF_KIND_ENUM64, (unsigned long long)btf_enum64_value(&e),
			       tag.component_idx, BPF_F_LINK);
			return 0;
		}
	END
}
test_a_client_knows_the_newest_names() {
	local compiler language first
	for language in c c++; do
		for first in '<linux/bpf.h>' '<bpf/libbpf.h>' '<linux/btf.h>' '<bpf/btf.h>' '<bpf/bpf.h>'; do
			{
				printf '#include %s\n' "$first" '<bpf/bpf.h>' '<bpf/btf.h>' '<bpf/libbpf.h>' \
					'<linux/bpf.h>' '<linux/btf.h>'
				client
			} >client
			compiler=cc
			[ $language = c ] || compiler=c++
			command -v $compiler >/dev/null || continue
			$compiler -Wall -Werror -x $language $SYSTEM -I"$SRC/include" client -o a ||
				fail "$language, $first first"
			assert_equal "$(./a)" "32 57 14 32 19 200000001 -1 2000"
		done
	done
}

test_a_bpf_program_knows_the_newest_names() {
	command -v clang >/dev/null || skip "clang is not installed"
	cat >prog.bpf.c <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		struct {
			__uint(type, BPF_MAP_TYPE_CGRP_STORAGE);
			__uint(map_flags, BPF_F_NO_PREALLOC);
			__type(key, int);
			__type(value, long);
		} kept SEC(".maps");
	END
	compile_bpf prog.bpf.c prog.o -Wall -Werror $SYSTEM
	"$PERF_BPF" btf dump file prog.o >dump
	assert_contains dump "nr_elems=32"
}

# The numbers are in two files.
test_helpers_have_one_number() {
	cat >helpers.c <<-'END'
		#include <linux/bpf.h>
		#include <stdio.h>
		#define X(name) printf("%d bpf_%s\n", BPF_FUNC_##name, #name);
		int main(void)
		{
			BPF_HELPERS(X)
			return 0;
		}
	END
	cc -I"$OWN" helpers.c -o helpers
	./helpers >ours
	sed -n 's/^\([0-9]*\) .*\b\(bpf_[a-z0-9_]*\)(.*/\1 \2/p' "$SRC/tools/helpers.txt" | diff ours -
}

run_tests
