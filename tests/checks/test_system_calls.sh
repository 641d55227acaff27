#!/usr/bin/env bash
# Rooms that are given bytes make no system call: what their objects take from libraries is in a
# list of functions that only compute.
. "$(dirname "$0")/../tap.sh"

ROOMS="lib/elf lib/btf lib/core lib/verifier disasm perf/event perf/data oneliner probe/def probe/fetch"
# Of these rooms, the files that hand the bytes to the others, or take them.
FILES="lib/elf/elf_open perf/data/writer oneliner/host"
# Memory, also of the thread; text, numbers, sorting; zstd; capstone.
COMPUTES='(malloc|calloc|realloc|reallocarray|free|qsort|bsearch|(v|as|vas)?s?n?printf|mem[a-z]*|st[rp][a-z]*'
COMPUTES+='|__ctype_[a-z]*_loc|__errno_location|to(lower|upper)|__[a-z0-9]+di2|__[a-z]*_chk|__stack_chk_fail'
COMPUTES+='|_GLOBAL_OFFSET_TABLE_|__tls_get_addr|ZSTD_[A-Za-z0-9]*|cs_[a-z_]*|abort|__assert_fail)$'
# btf__free() closes what the kernel returned for the BTF, as it does in libbpf.
EXCEPT="lib/btf/btf_object:close"

test_rooms_that_are_given_bytes_make_no_system_call() {
	nm -g --defined-only "$BUILD"/libperfbpf{-internal,-app}.a 2>nm.err |
		awk 'NF == 3 { print $3 }' | sort -u >ours
	[ "$(wc -l <ours)" -gt 1000 ] || fail "only $(wc -l <ours) functions of ours were found"
	local room file object
	for room in $ROOMS; do
		for file in "$SRC/$room"/*.c; do
			file=${file#"$SRC"/} file=${file%.c}
			case " $FILES " in *" $file "*) continue ;; esac
			object=$(ls "$BUILD"/libperfbpf{-internal,-app}.a.p/"${file//\//_}".c.o 2>/dev/null) ||
				[ -n "$object" ] || fail "$file.c has no object"
			nm -u "$object" | awk -v file="$file" '{ print file ":" $2 }'
		done
	done >taken
	[ "$(wc -l <taken)" -gt 500 ] || fail "only $(wc -l <taken) functions are taken"
	awk -F: 'NR == FNR { ours[$1]; next } !($2 in ours)' ours taken | grep -vxF "$EXCEPT" |
		grep -vE ":$COMPUTES" >calls || :
	[ ! -s calls ] || fail "these are given bytes, and call the system: $(tr '\n' ' ' <calls)"
}

run_tests
