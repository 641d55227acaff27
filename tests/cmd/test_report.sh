#!/usr/bin/env bash
# report: on recordings of linux-perf, line by line what perf report --stdio prints.
. "$(dirname "$0")/../tap.sh"
# perf reads the build-id cache in the user's home, and so do we here.
BUILDID_CACHE_OF_PERF=yes

TRACEFS=/sys/kernel/tracing
PERF=$(command -v perf || true)
# Not /tmp/perf-…: perf takes such a path for the names of a JIT.
FILES=$(mktemp -d "${TMPDIR:-/tmp}/report-of-perf-bpf.XXXXXX")
tests_end() {
	rm -rf "$FILES"
}

need_perf() {
	[ -n "$PERF" ] || skip "linux-perf is not installed"
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	[ -d $TRACEFS/events ] || mount -t tracefs nodev $TRACEFS 2>/dev/null || true
	[ -d $TRACEFS/events ] || skip "tracefs cannot be mounted"
	[ -x "$FILES/rbpf_work" ] || make_workload
}

# A process that computes, faults pages in, writes, forks, and becomes another
# by exec. It is built without the C library: every frame has a frame pointer,
# so that no chain ends in garbage, of which perf makes entries more than once.
make_workload() {
	cat >"$FILES/work.c" <<-'END'
		static long sys(long n, long a, long b, long c, long d, long e, long f)
		{
		#if defined(__x86_64__)
			register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
			__asm__ volatile("syscall" : "+a"(n) : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8),
					 "r"(r9) : "rcx", "r11", "memory");
			return n;
		#else
		#error "no system calls for this processor"
		#endif
		}
		static volatile unsigned sink;
		static char page[1 << 22];
		#define FN __attribute__((noinline))
		FN static void spin(unsigned n) { for (unsigned i = 0; i < n; i++) sink = sink * 31 + i; }
		FN static void touch(unsigned n) { for (unsigned i = 0; i < n; i++) page[(i * 4096) & ((1 << 22) - 1)]++; sink++; }
		FN static void fresh(void)
		{
			volatile char *p = (char *)sys(9, 0, 1 << 20, 3, 0x22, -1, 0);
			for (int i = 0; i < 256; i++)
				p[i * 4096] = 1;
			sys(11, (long)p, 1 << 20, 0, 0, 0, 0);
			sink++;
		}
		FN static void say(long fd, int n) { for (int i = 0; i < n; i++) sys(1, fd, (long)page, i & 63, 0, 0, 0); sink++; }
		FN static void deeper(int n, unsigned s);
		FN static void left(int n, unsigned s) { spin(s & 1023); deeper(n, s); sink++; }
		FN static void right(int n, unsigned s) { touch(s & 255); deeper(n, s); sink++; }
		FN static void deeper(int n, unsigned s)
		{
			if (!n)
				spin(3000);
			else if (s >> n & 1)
				left(n - 1, s);
			else
				right(n - 1, s);
			sink++;
		}
		FN static void work(unsigned seed, int rounds)
		{
			long fd = sys(2, (long)"/dev/null", 1, 0, 0, 0, 0);
			for (int i = 0; i < rounds; i++) {
				seed = seed * 1103515245 + 12345;
				deeper(seed >> 16 & 7, seed >> 8);
				if (!(i & 63))
					fresh();
				if (!(i & 15))
					say(fd, 8);
			}
			sink++;
		}
		FN static void child(char **argv, char **envp, long argc, int i)
		{
			char *next[] = {"rbpf_other", "x", 0};
			work(i + 7, 300);
			if (i == 1)
				sys(59, (long)argv[0], (long)next, (long)envp, 0, 0, 0);
			sys(60, 0, 0, 0, 0, 0, 0);
		}
		__attribute__((used)) FN void begin(long *sp)
		{
			long argc = *sp;
			char **argv = (char **)(sp + 1), **envp = argv + argc + 1;
			if (argc > 1)
				sys(157, 15, (long)"rbpf_other", 0, 0, 0, 0);
			for (int i = 0; argc == 1 && i < 3; i++)
				if (!sys(57, 0, 0, 0, 0, 0, 0))
					child(argv, envp, argc, i);
			work(argc, 900);
			for (int i = 0; argc == 1 && i < 3; i++)
				sys(61, -1, 0, 0, 0, 0, 0);
			sys(60, 0, 0, 0, 0, 0, 0);
		}
		__asm__(".globl _start\n.type _start,@function\n_start: xor %ebp,%ebp\nmov %rsp,%rdi\n"
			"and $-16,%rsp\ncall begin\nhlt\n.size _start,.-_start\n");
	END
	gcc -g -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -fno-stack-protector \
		-static -nostdlib -nostartfiles -o "$FILES/rbpf_work" "$FILES/work.c" 2>"$FILES/cc.err" ||
		skip "the workload does not build here: $(head -n 1 "$FILES/cc.err")"
}

# record NAME OPTION...: a recording of the workload, made once
record() {
	local name=$1
	shift
	[ -e "$FILES/$name" ] ||
		"$PERF" record -q -N -o "$FILES/$name" "$@" -- "$FILES/rbpf_work" 2>record.err ||
		fail "perf record $*: $(cat record.err)"
}

# same NAME OPTION...: both print the same, but for perf's tip at the end and blank
# comments, and for "(inlined)" at "[...]", the sum of what is not shown: perf takes that
# from memory it never wrote (init_rem_hits() of tools/perf/ui/stdio/hist.c, 6.1), so that
# it comes and goes. perf 6.1 does not show inlined functions in chains of frame pointers.
same() {
	local name=$1 mine=0
	shift
	set -- --no-inline "$@"
	"$PERF" report --stdio -i "$FILES/$name" "$@" 2>theirs.err </dev/null |
		sed '/^# (.*)$/,$d; /^#$/d; s/\[\.\.\.\] (inlined)/[...]/' >theirs
	"$PERF_BPF" report -i "$FILES/$name" "$@" 2>mine.err </dev/null >mine.all || mine=$?
	[ $mine = 0 ] || fail "report $*: ended with $mine: $(cat mine.err)"
	sed '/^#$/d' mine.all >mine
	# With -v perf prints the temporary file that it copied the vdso to.
	if grep -q '/tmp/perf-vdso' theirs; then
		sed -i '/perf-vdso/d' theirs
		sed -i '/\[vdso\]/d' mine
	fi
	[ "$(wc -l <theirs)" -gt 3 ] || fail "perf report $*: printed nothing: $(cat theirs.err)"
	[ -z "${LINELESS-}" ] || sed -Ei "$LINELESS" theirs mine
	if ! cmp -s theirs mine; then
		diff theirs mine | head -20 | sed 's/^/# /'
		fail "report $*: differs from perf report in $(diff theirs mine | grep -c '^[<>]') lines"
	fi
}

# By a period: the kernel lowers its limit of frequencies where perf interrupts take long.
CLOCK=(-e cpu-clock -c 250000 -g)
CPU=cpu-clock/period=250000,name=cpu-clock/ FAULTS=page-faults/period=3,name=page-faults/
GROUP="minor-faults/period=3,name=minor-faults/,{$CPU,$FAULTS}"

# Lines of the source, and offsets where there are none, as in the kernel.
test_lines_of_addresses() {
	need_perf
	command -v addr2line >/dev/null || skip "perf needs addr2line (binutils) for lines"
	record clock "${CLOCK[@]}"
	for options in "-g address" "-g caller,address,0" "--no-children -g flat,address" \
		"-g fractal,0,callee,address" "-g folded,address,0" "-g graph,address -v"; do
		# perf takes the file of what has no line (assembly) from the symbol table
		LINELESS='s/_start (work\.c:0|\+[0-9]+)/_start/' same clock $options
		grep -q ' work\.c:[1-9][0-9]*' mine || fail "$options: no lines"
		grep -q ' +[1-9][0-9]*' mine || fail "$options: no offsets"
	done
	same clock -g caller
	! grep -q 'work\.c:' mine || fail "functions have lines"
}

# An image at the addresses of the running kernel: the functions of a recording, with a line for
# each 8 bytes of them.
kernel_image() { # NAME: of the recording; makes ./vmlinux
	"$PERF" script -i "$FILES/$1" -F ip 2>/dev/null | sed -n 's/^[[:space:]]*\(f[0-9a-f]\{15\}\).*/\1/p' |
		sort -u >addresses
	[ -s addresses ] || skip "the recording has no addresses of the kernel"
	python3 - <<-'END'
		from bisect import bisect_right
		symbols = sorted((int(a, 16), name) for a, kind, name, *module in
		                 map(str.split, open("/proc/kallsyms")) if not module and kind in "tTwW")
		base, = (a for a, name in symbols if name == "_text")
		starts = sorted({a for a, name in symbols})
		names = dict(symbols)
		wanted = {bisect_right(starts, int(a, 16)) - 1 for a in open("addresses")}
		with open("vmlinux.s", "w") as out:
		    print('.file 1 "kernel.c"\n.text\n.globl _text\n_text:', file=out)
		    line, at = 0, base
		    for i in sorted(wanted & set(range(len(starts) - 1))):
		        start, size = starts[i], starts[i + 1] - starts[i]
		        name = f"{names[start]}.of_{i}" # several may have one name
		        print(f".skip {start - at:#x}\n.type {name}, @function\n{name}:", file=out)
		        for n in range(0, size, 8):
		            line += 1
		            print(f".loc 1 {line}\n.rept {min(8, size - n)}\nnop\n.endr", file=out)
		        print(f".size {name}, . - {name}", file=out)
		        at = start + size
		open("base", "w").write(f"{base:#x}")
	END
	gcc -g -c -o vmlinux.o vmlinux.s &&
		ld -nostdlib -Ttext="$(cat base)" -e "$(cat base)" --build-id="0x$(build_id_of_kernel)" -o vmlinux vmlinux.o ||
		skip "the image of the kernel does not link here"
}

build_id_of_kernel() {
	readelf -n /sys/kernel/notes 2>/dev/null | sed -n 's/.*Build ID: //p' | grep . ||
		python3 -c '
import struct
data, at = open("/sys/kernel/notes", "rb").read(), 0
while at + 12 <= len(data):
    n, d, kind = struct.unpack_from("3I", data, at)
    end = at + 12 + (n + 3 & ~3)
    if kind == 3 and data[at + 12:at + 15] == b"GNU":
        print(data[end:end + d].hex())
    at = end + (d + 3 & ~3)'
}

# With debug information of the kernel its addresses have lines too.
test_lines_of_the_kernel() {
	need_perf
	command -v addr2line >/dev/null || skip "perf needs addr2line (binutils) for lines"
	record clock "${CLOCK[@]}"
	kernel_image clock
	for options in "-g address" "-g flat,address" "-g folded,address,0"; do
		LINELESS='s/_start (work\.c:0|\+[0-9]+)/_start/' same clock -k vmlinux $options
		grep -q ' kernel\.c:[1-9][0-9]*' mine || fail "$options: no lines of the kernel"
	done
}

test_flat_profile_is_perfs() {
	need_perf
	record flat -e cpu-clock -c 250000
	same flat
	same flat -n --show-total-period
	same flat -v
	same flat --show-cpu-utilization
}

test_call_trees_are_perfs() {
	need_perf
	record clock "${CLOCK[@]}"
	assert_contains "$FILES/work.c" deeper
	same clock
	grep -q -- '--deeper$' mine || fail "no tree in the report"
	same clock --no-children
	same clock --no-children -G
	same clock -g graph,0.5,callee
	same clock -g fractal,1
	same clock -g flat
	same clock -g folded,0,callee
	same clock -g period
	same clock -g count,2
	same clock -g none
	same clock --max-stack 3
}

test_sort_keys_and_columns_are_perfs() {
	need_perf
	record clock "${CLOCK[@]}"
	for keys in comm dso sym comm,dso dso,sym comm,dso,symbol pid cpu time +cpu overhead,comm \
		symbol_size sym,symbol_size; do
		same clock -s $keys
	done
	same clock -F overhead,comm,sym,sample
	same clock -F +period
	same clock -s parent -p 'left|right'
	same clock -x -p 'left|right' -s comm,dso,sym
	same clock -t ,
	same clock -w 12,8,7
}

test_times_are_perfs() {
	need_perf
	record flat -e cpu-clock -c 250000
	for opts in --ns "--time-quantum 1ms" "--time-quantum 500us --ns" "--time-quantum 1s" \
		"--time-quantum 1500000"; do
		same flat -s time $opts
	done
	for wrong in 0 0ms ms 1h -1ms 1.5ms; do
		expect_status 2 "$PERF_BPF" report -i "$FILES/flat" --time-quantum=$wrong
		assert_contains err "--time-quantum: '$wrong' is not a time"
	done
}

# The events of this machine have no weights: rows are those of 0. Of the kernel perf 6.1 has another
# size than that of its code.
test_numbers_of_samples_are_perfs() {
	need_perf
	record numbers -e cpu-clock -c 250000 -W --code-page-size
	for keys in addr addr,sym weight local_weight,sym weight,ins_lat,local_ins_lat \
		code_page_size,sym dso,code_page_size,weight; do
		same numbers -s $keys
	done
	record users -e cpu-clock:u -c 250000
	same users -s dso_size
	same users -s comm,dso_size,dso
}

# A key that perf 6.1 does not have: the model is what perf script says of each sample.
test_digits_of_commands() {
	need_perf
	for name in job1-a job22-a job333-b 4job4; do
		cp "$FILES/rbpf_work" $name
		echo ./$name
	done >work.sh
	"$PERF" record -q -N -o jobs -e page-faults -c 100 -- bash work.sh 2>record.err ||
		fail "perf record: $(cat record.err)"
	"$PERF" script -F comm -i jobs 2>/dev/null </dev/null |
		awk '{ gsub(/[0-9]+/, "<N>"); n[$1]++ } END { for (k in n) print n[k], k }' | sort >want
	"$PERF_BPF" report -i jobs -F sample,comm_nodigit -s comm_nodigit --percent-limit 0 \
		2>/dev/null >report
	assert_contains report "CommandNoDigit"
	awk '/^ +[0-9]/ { print $1, $2 }' report | sort | diff want - || fail "other rows"
	grep -q ' job<N>-a$' want || fail "jobs have no samples"
}

# With the caller first, perf drops the callers instead of the callees: here they are dropped alike,
# so that the rows are those of the other order.
test_callees_are_ignored() {
	need_perf
	record clock "${CLOCK[@]}"
	same clock --no-children --ignore-callees '^(left|right)$'
	grep -q ' left *$' mine || fail "left has no row"
	same clock --children -g callee --ignore-callees 'deeper'
	same clock --no-children --ignore-callees 'no such function'
	same clock --no-children -g none --ignore-callees 'no such function'
	# The model is script's chains: a sample at the first or last instruction of a function has no
	# frame of its caller, so that there may be no work in it.
	"$PERF_BPF" script --json --no-inline -i "$FILES/clock" -F ip,sym >script
	for order in callee caller; do
		"$PERF_BPF" report -i "$FILES/clock" --ignore-callees '^work$' -g $order >report
		grep ' *[0-9.]*%.*%' report >$order || fail "$order: no rows"
		"$PERF_BPF" report --json --no-inline -i "$FILES/clock" --ignore-callees '^work$' -g $order -s sym >json
		python3 - <<-'END' || fail "$order: other callees are ignored"
			import collections, json
			names = "work", "deeper", "left", "right", "spin", "touch", "fresh", "say"
			want, got = collections.Counter(), collections.Counter()
			for s in map(json.loads, open("script")):
			    if s["type"] == "sample":
			        chain = [f.get("sym") for f in s["chain"]]
			        want["work" if "work" in chain else chain[0]] += 1
			table, = (r for r in map(json.loads, open("json")) if r["kind"] == "table")
			for row in table["rows"]:
			    got[row["symbol"]] += row["sample"]
			print([(name, want[name], got[name]) for name in names])
			assert want["work"] and all(want[name] == got[name] for name in names)
		END
	done
	sort callee | diff - <(sort caller) || fail "the rows depend on the order of the chains"
	expect_status 2 "$PERF_BPF" report -i "$FILES/clock" --ignore-callees '('
	assert_contains err "--ignore-callees: '('"
	record flat -e cpu-clock -c 250000
	expect_status 2 "$PERF_BPF" report -i "$FILES/flat" --ignore-callees work
	assert_contains err "--ignore-callees needs call chains"
}

# rows FILE: the table's rows without their padding, which perf chooses by the field's type
rows() {
	sed '/^#/d; s/^ *//; s/ *$//; s/  */ /g; /^$/d' "$1" | LC_ALL=C sort
}

test_fields_of_tracepoints_are_keys() {
	need_perf
	record fields -e syscalls:sys_exit_write -e raw_syscalls:sys_enter
	for keys in ret id,comm ret,id sys_exit_write.ret raw_syscalls:sys_enter.id/raw; do
		"$PERF" report --stdio -i "$FILES/fields" -s $keys >theirs 2>/dev/null </dev/null
		"$PERF_BPF" report -i "$FILES/fields" -s $keys >mine </dev/null
		rows theirs >theirs.rows
		rows mine >mine.rows
		[ "$(wc -l <mine.rows)" -ge 3 ] || fail "-s $keys: printed nothing"
		diff theirs.rows mine.rows | sed 's/^/# /'
		cmp -s theirs.rows mine.rows || fail "-s $keys: rows differ from perf report's"
	done
	# numbers in their order, where shares are the same
	"$PERF_BPF" report -i "$FILES/fields" -s ret/raw -t, >mine </dev/null
	assert_equal "$(grep -c '^# Overhead,ret' mine)" 1
	expect_status 2 "$PERF_BPF" report -i "$FILES/fields" -s rett
	assert_contains err "unknown sort key 'rett'"
	assert_contains err "did you mean 'ret'"
	expect_status 2 "$PERF_BPF" report -i "$FILES/fields" -s raw_syscalls:sys_exit.ret
	assert_contains err "unknown sort key"
}

# same_rows NAME OPTION...: rows and columns are perf's
same_rows() {
	"$PERF" report --stdio -i "$FILES/$1" "${@:2}" >theirs 2>/dev/null </dev/null
	"$PERF_BPF" report -i "$FILES/$1" "${@:2}" >mine </dev/null || fail "${*:2}: $?"
	rows theirs >theirs.rows
	rows mine >mine.rows
	[ "$(wc -l <mine.rows)" -ge 2 ] || fail "${*:2}: printed nothing"
	diff theirs.rows mine.rows | sed 's/^/# /'
	cmp -s theirs.rows mine.rows || fail "${*:2}: rows differ from perf report's"
	diff <(grep '^# Overhead' theirs | tr -s ' ') <(grep '^# Overhead' mine | tr -s ' ') ||
		fail "${*:2}: other columns"
}

# All fields of each event as keys, and fields as they are stored.
test_raw_trace() {
	need_perf
	record raw -e syscalls:sys_exit_write -e syscalls:sys_enter_write
	for how in --raw-trace "-s trace --raw-trace" "-s ret,comm --raw-trace" "-s trace_fields/raw" \
		"-s syscalls:sys_enter_write.*/raw" "-s comm,sys_exit_write.*/raw"; do
		same_rows raw $how
	done
	record named -e sched:sched_process_exec -e sched:sched_process_exit
	for how in "-s comm,trace_fields" "-s sched_process_exit.*" --raw-trace; do
		same_rows named $how
	done
	# each event has the names of its own
	"$PERF_BPF" report -i "$FILES/raw" --raw-trace --json >json </dev/null
	python3 - json <<-'END' || fail "$(head -c 2000 json)"
		import json, sys
		tables = [t for t in map(json.loads, open(sys.argv[1])) if t["kind"] == "table"]
		names = [[c["name"] for c in t["columns"]] for t in tables]
		assert names == [["overhead", "__syscall_nr/raw", "ret/raw", "sample"],
			["overhead", "__syscall_nr/raw", "fd/raw", "buf/raw", "count/raw", "sample"]], names
	END
	# nothing changes where there are no tracepoints
	record plain -e cpu-clock -c 1000000
	"$PERF_BPF" report -i "$FILES/plain" >mine </dev/null
	"$PERF_BPF" report -i "$FILES/plain" --raw-trace </dev/null | diff mine - || fail "not the same"
}

# An event without call chains has those of the other, whose samples are beside its own. The rings have
# room for all of both, whenever perf reads: it would lose more of one event than of the other.
test_reference_call_graph() {
	need_perf
	"$PERF" record -q -N -m 16M -o "$FILES/ref" -c 1 -e page-faults/call-graph=fp/ \
		-e minor-faults/call-graph=no/ -- "$FILES/rbpf_work" x 2>record.err || fail "$(cat record.err)"
	# perf shows no chains of functions that have samples of their own
	same ref --show-ref-call-graph -g none
	grep -q "event 'minor-faults/call-graph=no/', show reference callgraph$" mine || fail "$(cat mine)"
	same ref --show-ref-call-graph -s comm,sym -g none
	# both events have the same chains
	for children in --children --no-children; do
		"$PERF_BPF" report -i "$FILES/ref" $children -s sym --show-ref-call-graph >both
		sed -n "/of event 'page-faults/,/^# Samples.*minor/p" both | grep -v '^#' | grep . >first
		sed -n "/of event 'minor-faults/,\$p" both | grep -v '^#' | grep . >second
		grep -q -- '--deeper' first || fail "$(cat both)"
		diff first second || fail "$children: the chains are others"
	done
	"$PERF_BPF" report -i "$FILES/ref" --no-children -s sym >both
	! sed -n "/of event 'minor-faults/,\$p" both | grep -- '--' || fail "there are chains"
	# each thread has its own; a sample before the first chain has none
	"$PERF" record -q -N -m 16M -o "$FILES/refs" -c 1 -e page-faults/call-graph=fp/ \
		-e minor-faults/call-graph=no/ -- "$FILES/rbpf_work" 2>record.err || fail "$(cat record.err)"
	"$PERF_BPF" report -i "$FILES/refs" --no-children -s sym --show-ref-call-graph >both
	sed -n "/of event 'page-faults/,/^# Samples.*minor/p" both | grep -v '^#' | grep -v '^$' >first.rows
	sed -n "/of event 'minor-faults/,\$p" both | grep -v '^#' | grep -v '^$' | diff first.rows - ||
		fail "the chains are those of other threads"
	record flat -e cpu-clock -c 250000
	expect_status 2 "$PERF_BPF" report -i "$FILES/flat" --show-ref-call-graph
	assert_contains err "--show-ref-call-graph needs call chains"
}

test_filters_are_perfs() {
	need_perf
	record clock "${CLOCK[@]}"
	same clock -c rbpf_work
	same clock -c rbpf_work,rbpf_other
	# with children, perf 6.1 counts other samples in rows of callers
	same clock -d rbpf_work --no-children
	same clock -S spin --no-children
	same clock -S spin,touch --percentage relative --no-children
	same clock --percent-limit 3
	same clock -U
	same clock -q
	# TEXT is for the name of each entry, not for those that it called
	for opts in spin "spin --no-children" "spin --percentage relative" "--symbol-filter ft" \
		"--symbol-filter ft -g none -c rbpf_work"; do
		same clock $opts
	done
	# -x without -p: by perf's pattern for parents, which nothing here matches
	same clock -x
	same clock -x -s comm --no-children
	same clock -x -s parent,comm
}

test_several_events_forks_and_exec_are_perfs() {
	need_perf
	record multi -g -e cpu-clock -e page-faults -e syscalls:sys_enter_write
	same multi
	same multi --no-children
	same multi -s comm,sym -g none
	# the address behind a function is that of a sample of the row's own process
	same multi -v
	same multi --no-group
	same multi
	grep -q "of event 'page-faults'" mine || fail "an event is missing"
	grep -q '^ .*rbpf_other' mine || fail "the process after exec is missing"
}

test_tracepoints_are_perfs() {
	need_perf
	record trace -e syscalls:sys_enter_write -e sched:sched_process_fork
	same trace
	grep -q 'count: 0x' mine || fail "the fields are missing"
	same trace -s comm,trace
	same trace -s comm,dso,sym
}

# Without BPF programs of others, which the file lists when they are loaded just then.
test_header_is_perfs() {
	need_perf
	"$PERF" record -q -N --no-bpf-event -o "$FILES/head" -e cpu-clock -c 250000 \
		-- "$FILES/rbpf_work" 2>record.err || fail "perf record: $(cat record.err)"
	same head --header
	same head --header-only
	same head --header-only -I
}

# perf reads from our recordings what the machine is.
test_recorded_topology() {
	need_perf
	"$PERF_BPF" record -q -N -o "$FILES/topology" -- true
	"$PERF_BPF" report -i "$FILES/topology" --header-only -I | grep -E '^# (sibling|CPU|node|  ?L)' >mine
	"$PERF" report -i "$FILES/topology" --header-only -I 2>/dev/null | grep -E '^# (sibling|CPU|node|  ?L)' >theirs
	grep -q '^# sibling threads : ' theirs || fail "perf finds no threads"
	grep -q '^# CPU 0: Core ID ' theirs || fail "perf finds no CPU 0"
	diff theirs mine || fail "not as perf has it"
}

# A record that is too short for its type is named with its place, as perf 7.2 does.
test_short_record_is_named() {
	need_perf
	"$PERF_BPF" record -q -N -o short -- true
	place=$("$PERF_BPF" report -D -i short 2>/dev/null | awk '/PERF_RECORD_MMAP2/ { print $2; exit }')
	python3 - short "$place" <<-'END'
		import struct, sys
		with open(sys.argv[1], "r+b") as f:
		    f.seek(int(sys.argv[2], 16) + 6)
		    f.write(struct.pack("=H", 16))
	END
	expect_status 1 "$PERF_BPF" report -i short
	assert_contains err "at offset $place: MMAP2 (10): "
}

# A column for each event of a group; rows that only one of them has, too.
test_groups_are_perfs() {
	need_perf
	record group -e "$GROUP" -g
	same group
	grep -q "of events 'anon group { cpu-clock, page-faults }'" mine || fail "no group"
	same group --no-group
	grep -q "of events 'cpu-clock'" mine || fail "the leader's table is not as perf has it"
	for words in "-s comm -g none" "-n --show-total-period --no-children -g none" \
		"-w 4,5,6 -g none" "-t, -g none" "--percent-limit 1 -g caller"; do
		same group $words
	done
	same group -v
	record reads -e "{$CPU,task-clock,page-faults}:S"
	same reads
	same reads --percentage relative --comms rbpf_other
	record single -e "$CPU,$FAULTS"
	same single --group
	grep -q "of events 'cpu-clock, page-faults'" mine || fail "no group was made"
}

# By the shares of another event of the group; a member that there is not leaves the leader alone.
test_groups_by_another_event() {
	need_perf
	record group -e "$GROUP" -g
	for words in "0 -s comm" "1 -s sym" "1 -s comm,dso" "2 -s comm"; do
		same group --no-children -g none --group-sort-idx $words
	done
	# the event outside the group has a table of its own
	"$PERF_BPF" report -i "$FILES/group" --no-children -g none -s sym --group-sort-idx 1 -t, |
		awk '/^# Samples/ { group = /anon group/ } group && /^ *[0-9]/ { print $2 }' >shares
	sort -c -g -r shares || fail "the rows are not in the order of the second event"
	[ "$(sort -u shares | wc -l)" -gt 1 ] || fail "the second event has one share only"
}

# The samples of one socket: each machine has one with the number 0.
test_samples_of_a_socket() {
	need_perf
	record sockets -e "$CPU" --sample-cpu
	same sockets --socket-filter 0 -s comm,socket
	grep -q '^# Processor Socket: 0' mine || fail "the head does not name the socket"
	"$PERF_BPF" report -i "$FILES/sockets" --socket-filter 200 -q >mine
	if grep % mine; then
		fail "samples of a socket that there is not"
	fi
	if "$PERF_BPF" report -i "$FILES/sockets" --socket-filter x 2>err; then
		fail "a socket that is not a number"
	fi
	assert_contains err "--socket-filter: 'x' is not a number"
}

# Options of perf that change nothing here.
test_accepted_options() {
	need_perf
	record flat -e cpu-clock -c 250000
	"$PERF_BPF" report -i "$FILES/flat" >wanted
	"$PERF_BPF" report -i "$FILES/flat" -m --stdio-color never --asm-raw -M intel --no-source >got
	cmp wanted got || fail "what is accepted changes the report"
	same flat --ignore-vmlinux -s sym
	if "$PERF_BPF" report -i "$FILES/flat" --stdio-color always 2>err; then
		fail "text with colors"
	fi
	assert_contains err "--stdio-color: text has no colors"
	"$PERF_BPF" script -i "$FILES/flat" --merge-callchains -F ip >got || fail "script"
	"$PERF_BPF" record --dry-run --num-thread-synthesize 2 -o none -- true || fail "record"
	if "$PERF_BPF" top --num-thread-synthesize 0 2>err; then
		fail "top without threads"
	fi
	assert_contains err "--num-thread-synthesize: '0' is not a number from 1 on"
}

# Newer types of records are counted too: none of them is in a recording of this perf.
test_numbers_of_records_are_perfs() {
	need_perf
	record flat -e cpu-clock -c 250000
	record group -e "$GROUP" -g
	for name in flat group; do
		same $name --stats
		same $name --stats -c rbpf_work
		"$PERF" report --stats --no-skip-empty -i "$FILES/$name" >theirs 2>theirs.err
		"$PERF_BPF" report --stats --no-skip-empty -i "$FILES/$name" | sed '/COMPRESSED2/d' >mine
		diff theirs mine >diff.out || { cat diff.out; fail "--no-skip-empty differs"; }
		grep -q 'LOST events: *0' mine || fail "types without records are missing"
	done
	expect_status 2 "$PERF_BPF" report --stats --json -i "$FILES/flat"
	assert_contains err "--stats cannot be used with --json"
}

# perf 6.1 has children in the order of a hash table.
test_tasks_are_perfs() {
	need_perf
	record flat -e cpu-clock -c 250000
	record group -e "$GROUP" -g
	for name in flat group; do
		for what in --tasks --mmaps; do
			"$PERF" report $what -i "$FILES/$name" 2>theirs.err </dev/null | sort >theirs
			"$PERF_BPF" report $what -i "$FILES/$name" >mine.all
			sort mine.all >mine
			[ "$(wc -l <theirs)" -gt 3 ] || fail "perf printed nothing: $(cat theirs.err)"
			diff theirs mine >diff.out || { cat diff.out; fail "$what of $name differs"; }
			assert_equal "$(head -1 mine.all)" "#      pid      tid     ppid  comm"
		done
	done
	expect_status 0 "$PERF_BPF" report --tasks --header -i "$FILES/flat"
	assert_contains out "# hostname"
	expect_status 2 "$PERF_BPF" report --mmaps --csv -i "$FILES/flat"
	assert_contains err "--mmaps cannot be used with"
}

# perf writes its list without ends of lines.
test_counts_of_threads_are_perfs() {
	need_perf
	record counts -s -e cpu-clock,page-faults
	"$PERF_BPF" record -q -s -o "$FILES/ours" -e cpu-clock,page-faults sh -c 'ls -l / >out; true'
	for name in counts ours; do
		for style in normal raw; do
			"$PERF" report --stdio -T --pretty $style -i "$FILES/$name" 2>theirs.err \
				</dev/null >theirs.all
			echo >>theirs.all
			sed -n '/^#  *PID/,$p' theirs.all | tr -s ' \n' '\n\n' >theirs
			"$PERF_BPF" report -T --pretty $style -i "$FILES/$name" |
				sed -n '/^#  *PID/,$p' >mine.all
			tr -s ' \n' '\n\n' <mine.all >mine
			[ "$(wc -l <theirs)" -gt 6 ] || fail "perf printed nothing: $(cat theirs.err)"
			cmp -s theirs mine || fail "$style of $name differs: $(diff theirs mine)"
		done
	done
	record flat -e cpu-clock -c 250000
	expect_status 0 "$PERF_BPF" report -T -i "$FILES/flat"
	assert_contains err "has no counts of threads; record --stat writes them"
	expect_status 2 "$PERF_BPF" report -T --json -i "$FILES/flat"
	assert_contains err "--threads cannot be used with --json"
	expect_status 2 "$PERF_BPF" report -T --pretty nice -i "$FILES/flat"
	assert_contains err "'nice' is neither normal nor raw"
}

test_hierarchies_are_perfs() {
	need_perf
	record flat -e cpu-clock -c 250000
	record clock "${CLOCK[@]}"
	record group -e "$GROUP" -g
	for name in flat clock group; do
		for keys in comm dso,sym comm,dso,sym '{comm,dso},sym' pid,cpu +cpu overhead,comm \
			comm,overhead symbol time,comm; do
			same $name --hierarchy -s "$keys"
		done
		same $name --hierarchy
		same $name --hierarchy -t, -n -s comm,dso
		same $name --hierarchy -w 4,5 --show-total-period --show-cpu-utilization
		same $name --hierarchy -v -s dso,sym
	done
	# a command is shown, and none of its objects has as much
	"$PERF_BPF" report --json --hierarchy -i "$FILES/clock" >out
	local limit=$(python3 - out <<-'END'
		import json, sys

		table = next(r for r in map(json.loads, open(sys.argv[1])) if r["kind"] == "table")
		most = {level: max(row["overhead"] for row in table["rows"] if row["level"] == level)
		        for level in (1, 2)}
		assert most[2] < most[1], most
		print("%.2f" % ((most[1] + most[2]) / 2 / table["period"] * 100))
	END
	)
	same clock --hierarchy --percent-limit "$limit" -g none
	grep -q "^ *no entry >= $limit%\$" mine || fail "nothing says that rows are hidden"
	same clock --hierarchy -c rbpf_work
	grep -q 'Command / Shared Object' mine || fail "the level of commands is missing"
	same clock --hierarchy -c rbpf_work --percentage relative -g caller -s comm,dso
	same clock --hierarchy -s comm,sym -g folded
	same clock --hierarchy -s parent,sym -p 'left|right' -x
	same clock --hierarchy -G -s sym
	same group --hierarchy --no-group -s comm,dso
}

# Rows of the lower levels are parts of those of the upper ones, also when a filter hides samples.
test_hierarchies_as_data() {
	need_perf
	record clock "${CLOCK[@]}"
	for opts in "" "-d rbpf_work" "-S spin,touch"; do
		"$PERF_BPF" report --json --hierarchy $opts -i "$FILES/clock" >out
		python3 - out <<-'END' || fail "--hierarchy --json $opts: the rows do not add up"
			import json, sys

			table = next(r for r in map(json.loads, open(sys.argv[1])) if r["kind"] == "table")
			rows, keys = table["rows"], ["comm", "dso", "symbol"]
			sums = {}
			for row in rows:
			    path = tuple(row[key] for key in keys[:row["level"]])
			    assert all(row[key] is None for key in keys[row["level"]:]), row
			    sums[path[:-1]] = sums.get(path[:-1], 0) + row["overhead"]
			assert sums[()] == table["shown_period"], sums[()]
			for row in rows:
			    path = tuple(row[key] for key in keys[:row["level"]])
			    assert row["level"] == 3 or sums[path] == row["overhead"], row
			assert {row["level"] for row in rows} == {1, 2, 3}
		END
	done
	expect_status 2 "$PERF_BPF" report --hierarchy -F comm -i "$FILES/clock"
	assert_contains err "--hierarchy and --fields cannot be used together"
}

test_groups_as_data() {
	need_perf
	record group -e "$GROUP" -g
	"$PERF_BPF" report --json -i "$FILES/group" >out
	python3 - out <<-'END' || fail "the table of the group is wrong"
		import json, sys

		def once(pairs):
		    assert len(dict(pairs)) == len(pairs), pairs
		    return dict(pairs)

		results = [json.loads(line, object_pairs_hook=once) for line in open(sys.argv[1])]
		tables = [r for r in results if r["kind"] == "table"]
		stacks = {r["event"]: r for r in results if r["kind"] == "stacks"}
		assert [t["event"] for t in tables] == [
		    "minor-faults", "anon group { cpu-clock, page-faults }"], tables
		for event in tables[1]["events"]:
		    name = event["event"]
		    total = sum(row[name + ":overhead"] for row in tables[1]["rows"])
		    percent = sum(row[name + ":overhead_percent"] for row in tables[1]["rows"])
		    assert total == event["period"] == stacks[name]["total"], name
		    assert abs(percent - 100) < 0.1, (name, percent)
	END
	"$PERF_BPF" report --csv -i "$FILES/group" -s comm >out
	assert_contains out ",cpu-clock:overhead,page-faults:overhead,comm"
	"$PERF_BPF" report --csv --no-group -i "$FILES/group" -s comm >out
	grep -q cpu-clock: out && fail "there is still a group"
	true
}

test_pipe_is_read() {
	need_perf
	"$PERF" record -q -N -o - -e cpu-clock -c 250000 -g -- "$FILES/rbpf_work" >"$FILES/piped" 2>/dev/null
	# Without a list of build ids at its head, chains of one weight in two binaries come in the
	# order of perf's memory.
	"$PERF_BPF" report --no-inline -g folded -i - <"$FILES/piped" | sed '/^#$/d' | sort >mine
	"$PERF" report --stdio -g folded -i - <"$FILES/piped" 2>/dev/null |
		sed '/^# (.*)$/,$d; /^#$/d' | sort >theirs
	grep -q ';deeper;' theirs || fail "perf printed no chains"
	diff theirs mine >diff.out || { head -20 diff.out; fail "differs from perf report"; }
	grep -q deeper mine || fail "no symbols"
}

test_kernel_symbols_only_of_the_recorded_kernel() {
	need_perf
	record clock "${CLOCK[@]}"
	# The kernel's build-id in the file is changed: nothing on this machine has it.
	id=$(od -An -tx1 -v /sys/kernel/notes | tr -d ' \n' | sed 's/.*474e5500\(.\{40\}\).*/\1/')
	python3 - "$FILES/clock" "$(od -An -tx1 -v /sys/kernel/notes | tr -d ' \n')" <<-'END' || skip "the recording has no build-id of the kernel"
		import sys
		notes = bytes.fromhex(sys.argv[2])
		at = notes.find(b"\x03\0\0\0GNU\0")
		ident = notes[at + 8:at + 28]
		data = open(sys.argv[1], "rb").read()
		if at < 0 or ident not in data:
		    sys.exit(1)
		open("other", "wb").write(data.replace(ident, bytes(b ^ 0x55 for b in ident)))
	END
	"$PERF_BPF" report -i other -s dso,sym -g none >out 2>err
	assert_contains err "kernel addresses are shown without symbols"
	grep -q '\[kernel.kallsyms\] *\[k\] 0xffff' out || fail "kernel addresses are named by another kernel"
	"$PERF_BPF" report -i other --kallsyms /proc/kallsyms -s dso,sym -g none >out 2>err
	grep -q '\[kernel.kallsyms\] *\[k\] [a-z_]' out || fail "--kallsyms was not used"
}

test_errors_say_what_to_do() {
	expect_status 1 "$PERF_BPF" report -i no_such_file
	assert_contains err "no_such_file"
	assert_contains err "No such file or directory"
	assert_contains err "hint: "
	assert_contains err "record"
	need_perf
	record flat -e cpu-clock -c 250000
	expect_status 2 "$PERF_BPF" report -i "$FILES/flat" -s comm,symbl
	assert_contains err "unknown sort key 'symbl'"
	assert_contains err "did you mean 'symbol'"
	assert_contains err "dso, symbol"
	expect_status 2 "$PERF_BPF" report -i "$FILES/flat" -g graph
	assert_contains err "has none"
	assert_contains err "record with -g"
	expect_status 2 "$PERF_BPF" report -i "$FILES/flat" -g garbage
	assert_contains err "'garbage'"
	expect_status 2 "$PERF_BPF" report -i "$FILES/flat" --time 5
	assert_contains err "START,STOP"
	head -c 3000 "$FILES/flat" >cut
	status=0
	"$PERF_BPF" report -i cut >out 2>err || status=$?
	[ $status = 0 ] || [ $status = 1 ] || fail "a cut file ended with $status"
	status=0
	"$PERF_BPF" report -i "$FILES/flat" >/dev/full 2>err || status=$?
	[ $status = 1 ] || fail "a full disk ended it with $status"
	assert_contains err "No space left on device"
	echo rubbish >rubbish
	expect_status 1 "$PERF_BPF" report -i rubbish
	assert_contains err rubbish
}

# A recording of our own, in which a BPF program burns most of the time.
test_bpf_programs_have_names() {
	need_perf
	cat >heavy.bpf.c <<-'END'
		#include "vmlinux.h"
		#include <bpf/bpf_helpers.h>
		char LICENSE[] SEC("license") = "Dual BSD/GPL";
		volatile unsigned long total;
		SEC("raw_tp/sys_enter")
		int rbpf_heavy(void *ctx)
		{
			unsigned long s = bpf_ktime_get_ns();
			if ((__u32)bpf_get_current_pid_tgid() == 0)
				return 0;
			for (int i = 0; i < 2000; i++)
				s = s * 31 + (s >> 7);
			total += s;
			return 0;
		}
	END
	"$PERF_BPF" record -q -N -e cpu-clock -c 250000 -g --object heavy.bpf.c -o "$FILES/bpf" \
		-- dd if=/dev/zero of=/dev/null bs=1 count=20000 status=none >record.out 2>&1 ||
		fail "perf-bpf record: $(cat record.out)"
	same bpf
	same bpf --no-children
	grep -q '\[k\] bpf_prog_[0-9a-f]*_rbpf_heavy$' mine || fail "the program is not in the report"
	same bpf --no-children -v -g none
}

# Cut and flipped recordings: a report or an error, never a crash or a hang.
test_damaged_recordings_are_no_danger() {
	need_perf
	"$PERF" record -q -N -e page-faults -c 40 -g -o small -- "$FILES/rbpf_work" x 2>record.err ||
		fail "perf record: $(cat record.err)"
	head -n 2000 /proc/kallsyms >kallsyms
	python3 - "$PERF_BPF" small >log <<-'END' || { tail -n 20 log; fail "it did not survive"; }
		import subprocess, sys
		whole = open(sys.argv[2], "rb").read()
		step = max(1, len(whole) // 120)
		runs = 0
		def run(data, what):
		    global runs
		    runs += 1
		    open("damaged", "wb").write(data)
		    p = subprocess.run([sys.argv[1], "report", "-i", "damaged", "--kallsyms", "kallsyms", "-g", "fractal,0"],
		                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=60)
		    if p.returncode not in (0, 1, 2) or b"Sanitizer" in p.stderr or b"runtime error" in p.stderr:
		        print(what, p.returncode, p.stderr.decode(errors="replace"))
		        sys.exit(1)
		    if p.returncode == 1 and b"error:" not in p.stderr:
		        print(what, "failed without a word")
		        sys.exit(1)
		for at in range(0, len(whole), step):
		    flipped = bytearray(whole)
		    flipped[at] ^= 0xff
		    run(flipped, f"byte {at} flipped")
		    run(whole[:at], f"cut at {at}")
		print(runs, "runs")
	END
	grep -q 'runs$' log || fail "nothing ran"
}

test_closed_pipe_ends_it_quietly() {
	need_perf
	record clock "${CLOCK[@]}"
	"$PERF_BPF" report -i "$FILES/clock" -g fractal,0 2>err | head -n 1 >out
	assert_contains out "#"
	[ ! -s err ] || fail "it complained: $(cat err)"
}

# As perf: C++ functions have their parameters with -v alone.
test_parameters() {
	local function='shop::touch(char*, unsigned long)'
	need_perf
	command -v g++ >/dev/null || skip "g++ is not installed"
	cat >touch.cc <<-'END'
		#include <sys/mman.h>
		namespace shop {
		__attribute__((noinline)) void touch(char *first, unsigned long pages)
		{
			for (unsigned long i = 0; i < pages; i++)
				*(volatile char *)(first + 4096 * i) = 1;
		}
		}
		int main()
		{
			void *pages = mmap(nullptr, 64 * 4096, PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			shop::touch((char *)pages, 64);
		}
	END
	g++ -O1 -o "$FILES/touch" touch.cc || fail "g++ failed"
	"$PERF" record -q -e page-faults -c 1 -o touch.data -- "$FILES/touch" 2>record.err ||
		fail "perf record: $(cat record.err)"
	"$PERF_BPF" report -v -s sym -i touch.data >out 2>err
	assert_contains out "$function"
	"$PERF_BPF" report -s sym -i touch.data >out 2>err
	assert_contains out "shop::touch"
	! grep -qF "$function" out || fail "parameters without -v: $(cat out)"
	for options in "" -v; do
		"$PERF" script $options -F ip,sym -i touch.data 2>/dev/null >theirs
		"$PERF_BPF" script --no-inline $options -F ip,sym -i touch.data 2>/dev/null >out
		diff theirs out >diff.out || fail "script $options: $(head diff.out)"
	done
	assert_contains out "$function"
}

run_tests
