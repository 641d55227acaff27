#!/usr/bin/env bash
# Recordings of a PMU with branch records and data addresses, which most test machines do not have:
# tests/unit/write_samples.c writes them. What perf prints of the same file is compared where perf is
# installed.
. "$(dirname "$0")/../tap.sh"
BUILDID_CACHE_OF_PERF=yes

WRITE=$BUILD/tests/unit/write-samples
PERF=$(command -v perf || true)
# No process has it: perf would look for the files in the mount namespace of one that does.
PID=5000007

# perf takes files of /tmp/perf-* for maps of JIT compilers.
FILES=$(mktemp -d "${TMPDIR:-/tmp}/branches-of-perf-bpf.XXXXXX")
tests_end() {
	rm -rf "$FILES"
}

# The same code at the same addresses everywhere: leaf at 0x401000, tree at 0x401015, _start at
# 0x401029.
build_shop() {
	[ "$(uname -m)" = x86_64 ] || skip "the program is one of x86-64"
	cat >"$FILES/shop.s" <<-'END'
		.text
		.globl leaf, tree, _start
		.type leaf, @function
		leaf:
		test $1, %dil
		je .Lend
		addl $3, n(%rip)
		.Lend:
		lea 0(,%rdi,8), %eax
		ret
		.size leaf, .-leaf
		.type tree, @function
		tree:
		push %rbx
		mov $5, %ebx
		.Lagain:
		mov %ebx, %edi
		call leaf
		sub $1, %ebx
		jne .Lagain
		pop %rbx
		ret
		.size tree, .-tree
		.type _start, @function
		_start:
		mov $0, %edi
		call tree
		vpxor %ymm1, %ymm2, %ymm3
		mov $60, %eax
		syscall
		.size _start, .-_start
		.bss
		n:	.skip 64
	END
	gcc -g -nostdlib -static -Wl,--build-id,-z,separate-code -o "$FILES/shop" "$FILES/shop.s" \
		2>gcc.err || skip "no assembler: $(cat gcc.err)"
	[ "$(nm "$FILES/shop" | awk '$3 == "tree" { print $1 }')" = 0000000000401015 ] ||
		skip "the linker places the program elsewhere"
}

# write FILE: a recording of the samples on standard input
write() {
	{
		echo 'event 0x987 0x8' # IP, TID, TIME, CPU, PERIOD, all branches
		echo "comm $PID shop"
		echo "map $PID 0x401000 0x1000 0x1000 $FILES/shop"
		cat
	} | "$WRITE" "$1"
}

same() {
	[ -n "$PERF" ] || return 0
	"$PERF" script -i "$@" >theirs 2>theirs.err || fail "perf script $*: $(cat theirs.err)"
	"$PERF_BPF" script -i "$@" >mine || fail "script $*"
	cmp theirs mine || fail "script $*: $(diff theirs mine | head -20)"
}

test_instructions_between_branches() {
	build_shop
	write b.data <<-END
		sample $PID 2000 0x401022 0x401014/0x401022/0x32 0x401004/0x40100d/0x31 0x40101d/0x401000/0x32 0x40102e/0x401015/1
		sample $PID 3000 0x401033 0x401028/0x401033/2 0x401025/0x40101b/0x102
		sample $PID 4000 0x40101b 0x40101d/0x40101b/0xd 0x40101d/0x401000/0x32
		sample $PID 5000 0xffffffff81000010 0x40101d/0xffffffff81000000/2 0x401028/0x40101b/0x32
		sample $PID 6000 0x401033 0x401015/0x401015/2
		sample $PID 7000 0x401022 0x401014/0x401022/2 0x10/0x20/2 0x401014/0x401022/2
		sample $PID 8000 0x1234
	END
	cat >wanted <<-'END'
		           401022 tree
			_start+5:
			000000000040102e	insn: e8 e2 ff ff ff          	# MISPRED
			tree:
			0000000000401015	insn: 53 
			0000000000401016	insn: bb 05 00 00 00 
			000000000040101b	insn: 89 df 
			000000000040101d	insn: e8 de ff ff ff          	# PRED 3 cycles [3] 1.33 IPC
			leaf:
			0000000000401000	insn: 40 f6 c7 01 
			0000000000401004	insn: 74 07                   	# MISPRED 3 cycles [6] 0.67 IPC
			000000000040100d	insn: 8d 04 fd 00 00 00 00 
			0000000000401014	insn: c3                      	# PRED 3 cycles [9] 0.67 IPC
			tree+13:
			0000000000401022	insn: 83 eb 01 

	END
	"$PERF_BPF" script -i b.data -F ip,sym,brstackinsn >got
	head -n 16 got | diff -w wanted - >difference || fail "$(cat difference)"
	assert_contains got "... not reaching sample ..."
	same b.data -F ip,sym,brstackinsn
	same b.data -F ip,sym,brstackinsnlen
	same b.data -F ip,sym,srccode,brstackinsn
	same b.data -F ip,sym,brstackinsn --max-blocks 1
	same b.data -F ip,sym,brstackinsn,ipc --max-blocks 2
	"$PERF_BPF" script -i b.data -F ip,sym,brstackinsn,srcline >got
	assert_contains got '# PRED 16 cycles [16]'
	grep -q "	tree:	shop.s:14$" got || fail "no line of the function: $(cat got)"
	grep -q "insn: 75 f4                   	 srcline: shop.s:20	# PRED" got ||
		fail "no line of the branch: $(cat got)"
}

test_instructions_of_samples() {
	build_shop
	write i.data <<-END
		sample $PID 1 0x401022
		sample $PID 2 0x401033
		sample $PID 3 0x40103c
		sample $PID 4 0x401033
		sample $PID 5 0x403000
		sample $PID 6 0xffffffff81000010
	END
	cat >wanted <<-'END'
		           401022 tree ilen: 3 insn: 83 eb 01
		           401033 _start ilen: 4 insn: c5 ed ef d9
		           40103c _start ilen: 2 insn: 0f 05
		           401033 _start ilen: 4 insn: c5 ed ef d9
		           403000 [unknown] ilen: 0
		 ffffffff81000010 [unknown] ilen: 0
	END
	"$PERF_BPF" script -i i.data -F ip,sym,insn,insnlen >got
	diff -w wanted got >difference || fail "$(cat difference)"
	"$PERF_BPF" script -i i.data -F ip,insn,insnlen --json >got
	assert_contains got '"ip":"0x401022","insn_len":3,"insn":"83 eb 01"'
	"$BUILD/tests/unit/rewrite-perfdata" i.data - >i.pipe
	"$PERF_BPF" script -F ip,sym,insn,insnlen -i - <i.pipe >piped
	"$PERF_BPF" script -F ip,sym,insn,insnlen -i i.data >got
	cmp got piped || fail "from a pipe: $(diff got piped)"
	same i.data -F ip,sym,srccode
	"$PERF_BPF" script -i i.data -F ip,srccode >got
	assert_contains got "|19       sub \$1, %ebx"
	expect_status 1 "$PERF_BPF" script -i i.data -F srccode,sym
	assert_contains err "field 'srccode' needs field 'ip'"
	if "$PERF_BPF" script -i i.data -F ip,disasm >got 2>err; then
		grep -qE '401022		sub[a-z]* ' got || fail "no text: $(cat got)"
	else
		assert_contains err "built without capstone"
	fi
	# the file is another one
	printf 'nop\n' >other.s
	gcc -nostdlib -static -o "$FILES/shop" other.s 2>/dev/null
	"$PERF_BPF" script -i i.data -F ip,insnlen >got 2>err
	[ "$(grep -c 'ilen' got)" = 6 ] || fail "$(cat got)"
}

test_recordings_without_branches() {
	build_shop
	{
		echo 'event 0x7 0'
		echo "sample $PID 1 0x401022"
	} | "$WRITE" n.data
	expect_status 1 "$PERF_BPF" script -i n.data -F ip,brstackinsn
	assert_contains err "the instructions between branches need a recording of all branches"
}

# Of the report, what perf 6.1 and 7.2 print alike: the former calls each branch a sample. And not the
# types of branches: perf counts that of the first branch of a row for all of them.
without_tips() {
	sed -n '/^# Branch Stat/q; /^# Samples/d; /Tip:/d; /^#$/d; /^$/d; p'
}

same_report() {
	[ -n "$PERF" ] || return 0
	"$PERF" report --stdio -i "$@" 2>theirs.err | without_tips >theirs
	[ -s theirs ] || fail "perf report $*: $(cat theirs.err)"
	"$PERF_BPF" report --stdio -i "$@" | without_tips >mine || fail "report $*"
	cmp theirs mine || fail "report $*: $(diff theirs mine | head -20)"
}

test_report_of_branches() {
	build_shop
	write b.data <<-END
		sample $PID 2000 0x401022 0x401014/0x401022/0x32 0x401004/0x40100d/0x31 0x40101d/0x401000/0x32 0x40102e/0x401015/1
		sample $PID 3000 0x401033 0x401028/0x401033/2 0x401025/0x40101b/0x102
		sample $PID 4000 0x40101b 0x40101d/0x40101b/0xd 0x40101d/0x401000/0x32
		sample $PID 5000 0xffffffff81000010 0x40101d/0xffffffff81000000/2 0x401028/0x40101b/0x32
		sample $PID 6000 0x401033 0x401015/0x401015/2
		sample $PID 7000 0x401022 0x401014/0x401022/2 0x10/0x20/2 0x401014/0x401022/2
		sample $PID 8000 0x1234
	END
	"$PERF_BPF" report --stdio -i b.data >got
	cat >wanted <<-'END'
		# Samples: 6  of event 'cycles:u'
		# Event count (approx.): 14
		# Overhead  Command  Source Shared Object  Source Symbol           Target Symbol           Basic Block Cycles
		# ........  .......  ....................  ......................  ......................  ..................
		    14.29%  shop     shop                  [.] leaf                [.] tree                -
		    14.29%  shop     shop                  [.] tree                [.] leaf                3
		    14.29%  shop     shop                  [.] tree                [.] tree                -
		     7.14%  shop     [unknown]             [H] 0x0000000000000010  [H] 0x0000000000000020  -
		     7.14%  shop     shop                  [.] leaf                [.] leaf                3
		     7.14%  shop     shop                  [.] leaf                [.] tree                3
		     7.14%  shop     shop                  [.] tree                [.] tree                16
		     7.14%  shop     shop                  [.] tree                [.] tree                3
		     7.14%  shop     shop                  [.] tree                [.] _start              -
		     7.14%  shop     shop                  [.] tree                [H] 0xffffffff81000000  -
		     7.14%  shop     shop                  [.] _start              [.] tree                -
	END
	grep -A20 '^# Samples' got | sed '/^#$/d; /^$/d; s/ *$//' | diff wanted - >difference ||
		fail "$(cat difference)"
	"$PERF_BPF" report --stdio -q -i b.data -s mispredict,in_tx,abort --no-branch-stack 2>err &&
		fail "a key of branches without them"
	assert_contains err "use report --branch-stack"
	"$PERF_BPF" report --stdio -q -i b.data -s mispredict,in_tx,abort >got
	assert_equal "$(sed '/^$/d;s/ *$//;s/   */  /g' got)" "\
  78.57%  N  .  .
  14.29%  Y  .  .
  7.14%  Y  T  A"
	same_report b.data
	same_report b.data -v
	same_report b.data -n -U
	same_report b.data --hierarchy
	same_report b.data -s addr_from,addr_to -v
	same_report b.data -s dso_from,dso_to
	same_report b.data -s pid,cpu,time,weight
	same_report b.data -F overhead,sample,cycles,in_tx,abort
	same_report b.data --no-branch-stack -s sym,dso
	# a recording that does not say that it is of branches, as one of a pipe
	"$BUILD/tests/unit/rewrite-perfdata" b.data - >b.pipe
	"$PERF_BPF" report --stdio -b -i b.data >wanted
	"$PERF_BPF" report --stdio -b -i - <b.pipe >got
	diff wanted got >difference || fail "of a pipe: $(cat difference)"
	"$PERF_BPF" report --stdio -i - <b.pipe >got
	! grep -q "Source Symbol" got || fail "branches of a pipe: $(cat got)"
	"$PERF_BPF" report --json -i b.data -s symbol_from,cycles >got
	assert_contains got '"period":14'
	assert_contains got '"symbol_from":"tree","cycles":3,'
	write n.data <<-END
		sample $PID 1 0x401022 0x401014/0x401022/0x100002 0x401022/0x40101b/0x100002
	END
	"$PERF_BPF" report --stdio -i n.data >got
	grep -A20 'Statistics' got >types
	printf '%s\n' '# Branch Statistics:' '#' 'COND_FWD:  50.0%' 'COND_BWD:  50.0%' '    COND: 100.0%' |
		diff - types >difference || fail "$(cat difference)"
	{
		echo 'event 0x7 0'
		echo "sample $PID 1 0x401022"
	} | "$WRITE" n.data
	expect_status 2 "$PERF_BPF" report --stdio -i n.data -b
	assert_contains err "record with -b"
	expect_status 2 "$PERF_BPF" report --stdio -i n.data -s symbol_from
	assert_contains err "use report --branch-stack"
}

# with_event SAMPLE_TYPE FILE: write with another event
with_event() {
	{
		echo "event $1 0x8"
		echo "comm $PID shop"
		echo "map $PID 0x401000 0x1000 0x1000 $FILES/shop"
		cat
	} | "$WRITE" "$2"
}

# Branches as frames of call chains; perf 6.1 has no columns for them.
test_branch_history() {
	build_shop
	write b.data <<-END
		sample $PID 2000 0x401022 0x401014/0x401022/0x32 0x401004/0x40100d/0x31 0x40101d/0x401000/0x32 0x40102e/0x401015/1
		sample $PID 3000 0x401033 0x401028/0x401033/2 0x401025/0x40101b/0x102
		sample $PID 4000 0x40101b 0x40101d/0x40101b/0xd 0x40101d/0x401000/0x32
		sample $PID 5000 0xffffffff81000010 0x40101d/0xffffffff81000000/2 0x401028/0x40101b/0x32
		sample $PID 7000 0x401022 0x401014/0x401022/2 0x10/0x20/2 0x401014/0x401022/2
		sample $PID 8000 0x1234
	END
	# the same branches again and again; the last repetition is cut off
	local round="0x401014/0x401022/0x32 0x401004/0x40100d/0x42 0x40101d/0x401000/0x32"
	write l.data <<-END
		sample $PID 2000 0x401022 $round 0x401025/0x40101b/0x52 $round 0x401025/0x40101b/0x52 $round 0x40102e/0x401015/0x12
		sample $PID 3000 0x401022 $round 0x401025/0x40101b/0x52 $round 0x401025/0x40101b/0x52 $round 0x40102e/0x401015/0x11
		sample $PID 4000 0x401022 $round 0x401025/0x40101b/0x52 0x401014/0x401022/0x32 0x401004/0x40100d/0x42
		sample $PID 5000 0x401022 0x401014/0x401022/0x32 0x401014/0x401022/0x32 0x401014/0x401022/0x32 0x40102e/0x401015/0x12
	END
	# with call chains, which the branches cover in part
	with_event 0x9a7 c.data <<-END
		sample $PID 2000 0x401010 chain=user,0x401010,0x401022,0x401033 0x401004/0x40100d/0x32 0x40101d/0x401000/0x32 0x40102e/0x401015/0x11
		sample $PID 2500 0x401010 chain=user,0x401010,0x401022,0x401033 0x401004/0x40100d/0x32 0x40101d/0x401000/0x32 0x40102e/0x401015/0x12
		sample $PID 3000 0x401020 chain=user,0x401020,0x401033,0x401033,0x401022,0x401033,0x401022 0x401025/0x40101b/0x52
		sample $PID 4000 0xffffffff81000010 chain=kernel,0xffffffff81000010,user,0x401010,0x401022,0x401033 0x40100d/0xffffffff81000000/2
		sample $PID 5000 0x401010 chain=user,0x401010,0x401022,0x401033
		sample $PID 6000 0x401033 chain=user,0x401033 0x401028/0x401033/2
	END
	# types of branches, which change the page, too
	write t.data <<-END
		sample $PID 1 0x401022 0x401014/0x401022/0x100002 0x401022/0x40101b/0x100002 0x40101d/0x401000/0x400002
		sample $PID 2 0x401022 0x401014/0x401022/0x100002 0x401022/0x40101b/0x100002 0x40101d/0x401000/0x600001 0x10/0x2020/0x500002
	END
	for data in b l c t; do
		for order in "" --no-children -G "--no-children -g caller" "-g callee"; do
			same_report $data.data --branch-history --no-inline -s srcline,symbol,dso $order
		done
	done
	# as perf 7.2 has it
	"$PERF_BPF" report --stdio -i l.data --branch-history --no-children | without_tips >got
	sed 's/ *$//' >wanted <<-'END'
		# To display the perf.data header info, please use --header/--header-only options.
		# Total Lost Samples: 0
		# Event count (approx.): 4
		# Overhead  Source:Line  Symbol    Shared Object  Predicted  Abort  Cycles  IPC   [IPC Coverage]
		# ........  ...........  ........  .............  .........  .....  ......  ....................
		   100.00%  shop.s:19    [.] tree  shop           47.8%      0      1       -      -
		            |
		            ---tree shop.s:19
	END
	head -n 8 got | sed 's/ *$//' | diff wanted - >difference || fail "$(cat difference)"
	assert_contains got "leaf shop.s:10 (cycles:3 iter:2 avg_cycles:15)"
	"$PERF_BPF" report --stdio -i t.data --branch-history --no-children >got
	assert_contains got "leaf shop.s:5 (CALL RET predicted:50.0%)"
	"$PERF_BPF" report --stdio -i c.data --branch-history >got
	assert_contains got "_start shop.s:28 (calltrace)"
	# without branches it is -g address
	{
		echo 'event 0xa7 0'
		echo "sample $PID 1 0x401022 chain=user,0x401022"
	} | "$WRITE" n.data
	"$PERF_BPF" report --stdio -i n.data --branch-history -s sym >got
	"$PERF_BPF" report --stdio -i n.data -g address -s sym | diff - got || fail "not -g address"
	{
		echo 'event 0x7 0'
		echo "sample $PID 1 0x401022"
	} | "$WRITE" n.data
	expect_status 2 "$PERF_BPF" report --stdio -i n.data --branch-history
	assert_contains err "--branch-history needs call chains"
	expect_status 2 "$PERF_BPF" report --stdio -i b.data --branch-history -b
	assert_contains err "--branch-history cannot be used with --branch-stack"
	expect_status 2 "$PERF_BPF" report --stdio -i b.data -s callchain_branch_cycles
	assert_contains err "unknown sort key"
}

test_cycles_of_blocks() {
	build_shop
	# two blocks with one end, the longer of which counts; a block whose start is not known; the
	# newest branch of the last sample has no cycles
	write b.data <<-END
		sample $PID 1000 0x401022 0x401014/0x401022/0x32 0x401004/0x40100d/0x11 0x40101d/0x401000/0x4b02
		sample $PID 2000 0x401022 0x401014/0x401022/0x102 0x40101d/0x401000/0x12
		sample $PID 3000 0x401022 0x401014/0x401022/2 0x401004/0x40100d/0x11
	END
	"$PERF_BPF" report --stdio --total-cycles -i b.data >got
	cat >wanted <<-'END'
		# Samples: 3  of event 'cycles:u'
		# Event count (approx.): 7
		# Sampled Cycles%  Sampled Cycles  Avg Cycles%  Avg Cycles [Program Block Range] Shared Object
		           98.36%            1.2K       98.36%         600 [shop.s:14 -> shop.s:18] shop
		            1.56%              19        1.48%           9 [shop.s:5 -> shop.s:10] shop
		            0.08%               1        0.16%           1 [shop.s:5 -> shop.s:6] shop
	END
	grep -A20 '^# Samples' got | grep -v '^# \.' | sed '/^#$/d; /^$/d; s/   *\([[s]\)/ \1/g; s/   *Shared/ Shared/; s/   *\[P/ [P/' |
		diff wanted - >difference || fail "$(cat difference)"
	"$PERF_BPF" report --json --total-cycles -i b.data >got
	assert_contains got '"symbol":"leaf","start":0,"end":20}'
	[ "$("$PERF_BPF" report --stdio -q --total-cycles --percent-limit 50 -i b.data |
		grep -c shop.s)" = 1 ] || fail "a limit leaves blocks below it"
	expect_status 2 "$PERF_BPF" report --stdio --total-cycles --folded -i b.data
	assert_contains err "--total-cycles cannot be used with"
	# of calls alone, where the code in between has other branches
	{
		echo 'event 0x987 0x10'
		echo "comm $PID shop"
		echo "map $PID 0x401000 0x1000 0x1000 $FILES/shop"
		echo "sample $PID 1 0x401022 0x401014/0x401022/0x32 0x40101d/0x401004/0x32"
	} | "$WRITE" c.data
	"$PERF_BPF" report --json --total-cycles -i c.data >got
	assert_contains got '"symbol":"leaf","start":0,"end":20}'
	{
		echo 'event 0x7 0'
		echo "sample $PID 1 0x401022"
	} | "$WRITE" n.data
	expect_status 2 "$PERF_BPF" report --stdio --total-cycles -i n.data
	assert_contains err "record with -b"
}

# Of 4 samples of the same period, one while two threads ran, and one with a cgroup.
test_latencies() {
	build_shop
	{
		echo switches
		echo 'event 0x187 0'
		echo "comm $PID shop"
		echo "map $PID 0x401000 0x1000 0x1000 $FILES/shop"
		cat <<-END
			sample $PID 100 0x401022 period=1000 cpu=1
			in $PID 200
			namespaces $PID 250 4 0x1234
			sample $PID 300 0x401000 period=1000
			out $PID 400
			sample $PID 450 0x401033 period=1000
			out $PID 500
			sample $PID 600 0x401033 period=1000
		END
	} | "$WRITE" l.data
	"$PERF_BPF" report --stdio -i l.data -s sym,parallelism >got
	cat >wanted <<-'END'
		# Overhead   Latency  Symbol      Parallelism
		# ........  ........  ..........  ...........
		#
		    50.00%    57.14%  [.] _start            1
		    25.00%    28.57%  [.] tree              1
		    25.00%    14.29%  [.] leaf              2
	END
	grep -A10 '# Overhead' got | sed '/^$/d' | diff wanted - >difference || fail "$(cat difference)"
	"$PERF_BPF" report --stdio -q -i l.data --latency -s socket,cgroup_id >got
	cat >wanted <<-'END'
		    71.43%    75.00%    -001  4/0x1234
		    28.57%    25.00%    -001  0/0x0
	END
	sed '/^$/d;s/ *$//' got | diff wanted - >difference || fail "$(cat difference)"
	"$PERF_BPF" report --stdio -q -i l.data -F latency,sym --parallelism 2 >got
	assert_equal "$(sed '/^$/d;s/ *$//' got)" "    14.29%  [.] leaf"
	"$PERF_BPF" report --json -i l.data -F latency,parallelism >got
	assert_contains got '"latency":3000000,"latency_percent":85.7143,"parallelism":1'
	write w.data <<-END
		sample $PID 1 0x401022
	END
	for options in --latency "-s latency,sym" "-F parallelism" "--parallelism 2"; do
		# shellcheck disable=SC2086 # they are words
		expect_status 2 "$PERF_BPF" report --stdio -i w.data $options
		assert_contains err "record with --latency"
	done
	"$PERF_BPF" report --stdio -i w.data >got
	! grep -q Latency got || fail "latencies without switches: $(cat got)"
}

# Not of branches, but of what does not need the kernel, either.
test_a_file_for_each_event() {
	build_shop
	write e.data <<-END
		sample $PID 1 0x401022
		sample $PID 2 0x401033
	END
	mkdir -m 700 sub
	mv e.data sub
	ln -s ../sub/e.data sub/link.data
	echo old >victim
	ln -s "$PWD/victim" sub/e.data.cycles:u.dump
	"$PERF_BPF" script --per-event-dump -i sub/e.data -F ip,sym >got
	assert_equal "$(cat got)" "[ perf script: Wrote 0.000 MB sub/e.data.cycles:u.dump (2 samples) ]"
	"$PERF_BPF" script -i sub/e.data -F ip,sym >wanted
	cmp wanted sub/e.data.cycles:u.dump || fail "$(cat sub/e.data.cycles:u.dump)"
	[ "$(cat victim)" = old ] || fail "a link was written to"
	"$PERF_BPF" script --per-event-dump -i sub/link.data -F ip --show-mmap-events >got
	grep -q PERF_RECORD_MMAP2 got || fail "no other records: $(cat got)"
	[ "$(wc -l <sub/link.data.cycles:u.dump)" = 2 ] || fail "$(ls sub)"
	if [ -n "$PERF" ]; then
		rm sub/e.data.cycles:u.dump
		"$PERF" script --per-event-dump -i sub/e.data -F ip,sym >theirs 2>/dev/null
		assert_equal "$(cat theirs)" "[ perf script: Wrote 0.000 MB sub/e.data.cycles:u.dump (2 samples) ]"
		cmp wanted sub/e.data.cycles:u.dump || fail "perf: $(cat sub/e.data.cycles:u.dump)"
	fi
	(cd sub && "$BUILD/tests/unit/rewrite-perfdata" e.data - >e.pipe &&
		"$PERF_BPF" script --per-event-dump -F ip,sym -i - <e.pipe)
	cmp wanted sub/-.cycles:u.dump || fail "of a pipe: $(ls sub)"
	printf '%s\n' 'event 0x7 0 ../../x' "sample $PID 1 0x401022" | "$WRITE" sub/h.data
	"$PERF_BPF" script --per-event-dump -F ip -i sub/h.data >got
	assert_contains got "MB sub/h.data..._.._x.dump (1 samples)"
	[ "$(wc -l <sub/h.data..._.._x.dump)" = 1 ] || fail "$(ls sub)"
	expect_status 2 "$PERF_BPF" script --per-event-dump -D -i sub/e.data
	assert_contains err "--per-event-dump cannot be used with --dump-raw-trace"
	chmod 500 sub
	if [ "$(id -u)" != 0 ]; then
		expect_status 1 "$PERF_BPF" script --per-event-dump -i sub/e.data
	fi
	[ -z "$(find sub -name '.*' -type f)" ] || fail "files were left: $(ls -A sub)"
}

# The calls that have not returned, which the CPU keeps: they replace the chain of user space.
test_call_chains_of_branch_records() {
	build_shop
	{
		echo 'event 0x9a7 0x6801' # and call chains; branches of the call stack in user space
		echo "comm $PID shop"
		echo "map $PID 0x401000 0x1000 0x1000 $FILES/shop"
		echo "sample $PID 2000 0x401000 chain=user,0x401000,0x1234 0x40101d/0x401000/0 0x40102e/0x401015/0"
		# in the kernel, whose part of the chain stays
		echo "sample $PID 3000 0xffffffff81000010 chain=kernel,0xffffffff81000010,user,0x1234 0x40102e/0x401015/0"
		# without user space: as it is
		echo "sample $PID 5000 0xffffffff81000010 chain=kernel,0xffffffff81000010 0x40102e/0x401015/0"
	} | "$WRITE" l.data
	"$PERF_BPF" script -i l.data -F time,ip >lines
	tr -s ' \n\t' ' ' <lines >got
	assert_equal "$(cat got)" " 0.000002: 1000 101d 102e 0.000003: ffffffff81000010 1015 102e 0.000005: ffffffff81000010 "
	"$PERF_BPF" report -i l.data --stdio --no-children -F period,sym -g caller,0.5,callee --percent-limit 0 >out
	assert_contains out "_start"
	same l.data -F time,ip,sym
	# without records, it is as it was
	{
		echo 'event 0x9a7 0x6801'
		echo "comm $PID shop"
		echo "map $PID 0x401000 0x1000 0x1000 $FILES/shop"
		echo "sample $PID 4000 0x401022 chain=user,0x401022,0x401033"
	} | "$WRITE" n.data
	"$PERF_BPF" script -i n.data -F ip | tr -s ' \n\t' ' ' >got
	assert_equal "$(cat got)" " 1022 1033 "
	# all other branch records leave the chain as it is
	{
		echo 'event 0x9a7 0x8'
		echo "comm $PID shop"
		echo "map $PID 0x401000 0x1000 0x1000 $FILES/shop"
		echo "sample $PID 2000 0x401000 chain=user,0x401000,0x401022 0x40102e/0x401015/0"
	} | "$WRITE" b.data
	"$PERF_BPF" script -i b.data -F ip | tr -s ' \n\t' ' ' >got
	assert_equal "$(cat got)" " 1000 1022 "
}

run_tests
