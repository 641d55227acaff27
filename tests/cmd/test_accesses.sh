#!/usr/bin/env bash
# report --mem-mode: recordings of a PMU that samples accesses to memory, which most test machines do
# not have. tests/unit/write_samples.c writes them. What perf prints of the same file is compared
# where perf is installed.
. "$(dirname "$0")/../tap.sh"
BUILDID_CACHE_OF_PERF=yes

WRITE=$BUILD/tests/unit/write-samples
PERF=$(command -v perf || true)
# No process has it: perf would look for the files in the mount namespace of one that does.
PID=5000011

# perf takes files of /tmp/perf-* for maps of JIT compilers.
FILES=$(mktemp -d "${TMPDIR:-/tmp}/accesses-of-perf-bpf.XXXXXX")
tests_end() {
	rm -rf "$FILES"
}

# Loads that hit the L1, and a locked one that another core has changed, is blocked, and misses all
# TLBs.
HIT=0x28100142
REMOTE=0x20092801042

# read_row at 0x401000; table, of 128 bytes, at 0x402000
build_store() {
	[ "$(uname -m)" = x86_64 ] || skip "the program is one of x86-64"
	cat >"$FILES/store.s" <<-'END'
		.text
		.globl read_row
		.type read_row, @function
		read_row:
		mov table(%rip), %eax
		mov table+64(%rip), %eax
		ret
		.size read_row, .-read_row
		.data
		.globl table
		.type table, @object
		table:	.fill 128, 1, 7
		.size table, .-table
	END
	gcc -nostdlib -static -Wl,--build-id,-z,separate-code,-e,read_row -Wl,-Tdata=0x402000 \
		-o "$FILES/store" "$FILES/store.s" 2>gcc.err || skip "no assembler: $(cat gcc.err)"
	at=$(nm "$FILES/store" | awk '$3 == "table" { print $1 }')
	[ "$at" = 0000000000402000 ] || skip "the linker places the data elsewhere: $at"
	offset=$(readelf -SW "$FILES/store" | sed -n 's/.* \.data  *PROGBITS *[0-9a-f]* *\([0-9a-f]*\).*/0x\1/p')
}

# Weights are 100, 200 and 5 and no weight at all; the latencies of the instructions and until they
# are retired are in the upper halves.
write_accesses() {
	build_store
	"$WRITE" m.data <<-END
		event 0x14a818f 0 mem-loads
		comm $PID store
		map $PID 0x401000 0x1000 0x1000 $FILES/store
		data $PID 0x402000 0x1000 $offset $FILES/store
		sample $PID 1000 0x401000 addr=0x402004 weight=0x0002000300000064 data_src=$HIT phys_addr=0x1004 page=4096
		sample $PID 2000 0x401000 addr=0x402004 weight=0x00020003000000c8 data_src=$HIT phys_addr=0x1004 page=4096
		sample $PID 3000 0x401006 addr=0x402044 weight=5 data_src=$REMOTE phys_addr=0x200044 page=2097152 transaction=0x1700000016
		sample $PID 4000 0x401006 addr=0x7000 data_src=$HIT
	END
}

# rows [OPTION]...: as perf has them, with single blanks
rows() {
	"$PERF_BPF" report --stdio --mem-mode -i m.data "$@" 2>rows.err >rows.out ||
		fail "report --mem-mode $*: $(cat rows.err)"
	sed -n '/^ *[0-9.]*%/{s/  */ /g;s/^ //;s/ $//;p}' rows.out
}

same() {
	[ -n "$PERF" ] || return 0
	"$PERF" report --stdio --mem-mode -i m.data "$@" 2>theirs.err |
		grep '^ .*%\|^# [STO].*[a-z]' | tr -s ' ' | sed 's/ $//' >theirs
	"$PERF_BPF" report --stdio --mem-mode -i m.data "$@" 2>mine.err |
		grep '^ .*%\|^# [STO].*[a-z]' | tr -s ' ' | sed 's/ $//' >mine
	[ -s theirs ] || fail "perf report $*: $(cat theirs.err)"
	cmp theirs mine || fail "report --mem-mode $*: $(diff theirs mine)"
}

test_accesses_count_as_their_weights() {
	write_accesses
	assert_equal "$(rows -s local_weight,mem,local_ins_lat)" "65.36% 200 L1 hit 3
32.68% 100 L1 hit 3
1.63% 5 Local RAM hit 0
0.33% 0 L1 hit 0"
	assert_contains rows.out "# Total weight : 306"
	assert_contains rows.out "# Sort order   : local_weight,mem,local_ins_lat"
}

test_what_is_accessed() {
	write_accesses
	assert_equal "$(rows -s symbol_daddr,dso_daddr | sed 's/ - -//')" "98.04% [.] table+0x4 store
1.63% [.] table+0x44 store
0.33% [.] 0x0000000000007000 [unknown]"
	assert_equal "$(rows -s dcacheline)" "98.04% [.] table+0x0
1.63% [.] table+0x40
0.33% [X] 0x0000000000007000"
	assert_equal "$(rows -s phys_daddr,data_page_size)" "98.04% [.] 0x0000000000001004 4K
1.63% [.] 0x0000000000200044 2M
0.33% [.] 0000000000000000 N/A"
	assert_equal "$(rows -s symbol_iaddr,dso | sed 's/ - -//')" "98.04% [.] read_row store
1.96% [.] read_row store"
}

test_what_became_of_the_access() {
	write_accesses
	assert_equal "$(rows -s snoop,tlb,locked,blocked)" "98.37% None L1 hit No N/A
1.63% HitM Walker miss Yes Data"
	assert_equal "$(rows -s local_retire_lat,retire_lat)" "98.04% 2 4
1.96% 0 0"
	assert_equal "$(rows -s p_stage_cyc)" "98.04% 4
1.96% 0"
	assert_equal "$(rows -s transaction)" "98.37%
1.63% TX SYNC RETRY :17"
	"$PERF_BPF" script -i m.data -F retire_lat,ins_lat | tr -s ' ' >got
	assert_equal "$(cat got)" " 3 2
 3 2
 0 0
 0 0"
	"$PERF_BPF" script -i m.data -F retire_lat --json | head -n 1 >got
	assert_contains got '"retire_lat":2'
}

# Of the keys that perf 6.1 does not have on x86 (those of the latency until an instruction is
# retired) nothing is compared.
test_the_same_as_perf() {
	write_accesses
	for keys in local_weight,mem,weight snoop,tlb,locked,blocked symbol_daddr,dso_daddr \
		symbol_iaddr,phys_daddr data_page_size,transaction mem,sym comm,tlb; do
		same -s "$keys"
	done
	same -n -F overhead,mem,period
}

test_other_outputs() {
	write_accesses
	"$PERF_BPF" report --json --mem-mode -i m.data -s mem,symbol_daddr,phys_daddr >got.json
	assert_contains got.json '"unit":"weight"'
	assert_contains got.json '"L1 hit"'
	"$PERF_BPF" report --mem-mode --csv -i m.data -s tlb,locked >got.csv
	assert_contains got.csv "mem-loads,5,Walker miss,Yes,1"
}

test_what_is_refused() {
	write_accesses
	if "$PERF_BPF" report --stdio -i m.data -s comm,mem 2>err; then
		fail "keys of accesses without --mem-mode"
	fi
	assert_contains err "'mem' is of accesses to memory"
	assert_contains err "report --mem-mode"
	if "$PERF_BPF" report --stdio --mem-mode -b -i m.data 2>err; then
		fail "--mem-mode with --branch-stack"
	fi
	assert_contains err "--mem-mode cannot be used with --branch-stack"
	echo "event 0x187 0" | "$WRITE" none.data
	if "$PERF_BPF" report --stdio --mem-mode -i none.data 2>err; then
		fail "a recording without accesses"
	fi
	assert_contains err "--mem-mode needs accesses to memory, and the recording has none"
	assert_contains err "record with -d"
}

run_tests
