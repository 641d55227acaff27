#!/usr/bin/env bash
# What perf-bpf record keeps of each sample on request: -d, -P, -W, --phys-data, --sample-cpu and
# --switch-events, beside perf where it is installed.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../workload.sh"

PERF=$(command -v perf || true)

# Prints the addresses of 50 pages, touches each for the first time, and sleeps 20 times.
PAGES="./pbt_pages faults 50 show , sleeps 20 10000"

build_work() {
	workload_as pbt_pages
}

record() {
	"$PERF_BPF" record -q -e page-faults -c 1 "$@" -o t.data -- $PAGES >pages
}

members_of_samples() {
	"$PERF_BPF" script -i t.data --header-only | sed -n 's/.* name = page-faults.* sample_type = \([^,]*\),.*/\1/p'
}

test_addresses_of_data() {
	build_work
	record -d
	"$PERF_BPF" script -i t.data -F addr | tr -d ' ' | sort >seen
	assert_equal "$(wc -l <pages)" 50
	assert_equal "$(sort pages | comm -13 seen -)" ""
	assert_equal "$(members_of_samples)" "IP|TID|TIME|ADDR|DATA_SRC"
	# the mappings of data, too: the pages are in one of no file
	"$PERF_BPF" script -i t.data --show-mmap-events >maps
	grep -q 'PERF_RECORD_MMAP.*: rw-p //anon' maps || fail "$(grep MMAP maps)"
}

test_members_are_those_that_are_asked_for() {
	build_work
	record
	assert_equal "$(members_of_samples)" "IP|TID|TIME"
	record -T
	assert_equal "$(members_of_samples)" "IP|TID|TIME"
	record -P
	assert_equal "$(members_of_samples)" "IP|TID|TIME|PERIOD"
	record -W
	assert_equal "$(members_of_samples)" "IP|TID|TIME|WEIGHT"
	record --phys-data
	assert_equal "$(members_of_samples)" "IP|TID|TIME|PHYS_ADDR"
	record --sample-cpu
	assert_equal "$(members_of_samples)" "IP|TID|TIME|CPU"
}

test_all_as_perf_reads_it() {
	[ -n "$PERF" ] || skip "perf is not installed"
	build_work
	record -d -P -W --phys-data --sample-cpu --switch-events
	fields=comm,tid,cpu,time,period,event,addr,ip,weight,phys_addr
	"$PERF_BPF" script -i t.data -F $fields >ours
	"$PERF" script -i t.data -F $fields >theirs
	[ "$(wc -l <ours)" -ge 50 ] || fail "$(wc -l <ours) samples"
	diff ours theirs || fail "perf reads it differently"
}

# attr FILE: what perf sees of the event's attr, but for what the two recorders choose differently
attr() {
	"$PERF" evlist -v -i "$1" | tr ',' '\n' |
		grep -vE 'wakeup|watermark|read_format|build_id|^ *size|dummy|^ *ksymbol|^ *bpf_event' |
		sed 's/^.*: type:/type:/'
}

test_attrs_are_perfs() {
	[ -n "$PERF" ] || skip "perf is not installed"
	build_work
	for opts in --code-page-size --data-page-size --transaction -R -I --intr-regs=ip,ax \
		--sample-identifier "-k mono" "-k CLOCK_REALTIME" "-k 7" "-g --user-callchains" \
		"-g --kernel-callchains" --timestamp-boundary; do
		record $opts
		"$PERF" record -q -N -e page-faults -c 1 $opts -o theirs.data -- $PAGES >/dev/null \
			2>perf.err || fail "perf record $opts: $(cat perf.err)"
		attr theirs.data >theirs
		[ -s theirs ] || fail "perf evlist printed nothing"
		attr t.data | diff theirs - || fail "$opts: the attr is not perf's"
		"$PERF" script -i t.data >lines 2>/dev/null || fail "$opts: perf cannot read it"
		[ "$(grep -c pbt_pages lines)" -ge 50 ] || fail "$opts: samples are missing"
	done
}

test_clock_of_times() {
	build_work
	before=$(date +%s)
	record -k realtime
	"$PERF_BPF" script -i t.data -F time | tr -d ' :' | cut -d. -f1 >times
	after=$(date +%s)
	awk -v a="$before" -v b="$after" '$1 < a || $1 > b { print; exit 1 }' times ||
		fail "times are not between $before and $after"
	"$PERF_BPF" script -i t.data --header-only >header
	assert_contains header "clockid"
	# perf shows times of day by the clock's time in the header
	if [ -n "$PERF" ]; then
		record -k monotonic
		"$PERF" script -i t.data -F tod 2>tod.err | awk '{ print $1, $2 }' | cut -d. -f1 |
			sort -u | while read -r day; do date -d "${day%:}" +%s; done >tods
		awk -v a="$before" -v b="$(date +%s)" '$1 < a - 1 || $1 > b + 1 { exit 1 }' tods ||
			fail "the times of day are others: $(head -n 1 tods)"
		[ -s tods ] || fail "perf has no times of day: $(cat tod.err)"
	fi
	expect_status 1 "$PERF_BPF" record -k 77 -e page-faults -o t.data -- true
	expect_status 2 "$PERF_BPF" record -k monotonik -o t.data -- true
	assert_contains err "did you mean 'monotonic'?"
}

# Software events have none, and neither has a machine without a PMU.
test_branches_need_a_pmu() {
	expect_status 1 "$PERF_BPF" record -b -e page-faults -o t.data -- true
	assert_contains err "this CPU cannot record branch stacks"
	expect_status 2 "$PERF_BPF" record -j any_cal -o t.data -- true
	assert_contains err "did you mean 'any_call'"
	expect_status 2 "$PERF_BPF" record --intr-regs=nope -o t.data -- true
	assert_contains err "--intr-regs: 'nope' is not a register"
	expect_status 2 "$PERF_BPF" record --user-callchains --kernel-callchains -o t.data -- true
}

# Each sleep gives up the CPU, unless the machine stood still until it was over.
# count EVENT: its samples
count() {
	"$PERF_BPF" script -i t.data -F event | grep -c "$1" || true
}

# kept CONDITION TEST: --filter keeps some samples, and the test of awk is true for them: $1 the CPU, a
# the address of data, i that of code, with 16 digits, since awk has no hexadecimal numbers.
kept() {
	expect_status 0 "$PERF_BPF" record -q -d --sample-cpu -e page-faults -c 1 --filter "$1" -o t.data -- \
		sh -c 'taskset -c 0 ls /; taskset -c 1 ls /' >/dev/null
	"$PERF_BPF" script -i t.data -F cpu,addr,ip >samples
	[ -s samples ] || fail "--filter '$1' keeps nothing"
	tr -d '[]' <samples | awk '{ a = sprintf("%16s", $2); i = sprintf("%16s", $3); gsub(" ", "0", a)
		gsub(" ", "0", i) } !('"$2"')' >wrong
	[ ! -s wrong ] || { head -n 5 wrong; fail "--filter '$1' keeps $(wc -l <wrong) others"; }
}

# kept_or_not CONDITION OPPOSITE TEST: each keeps what the other one drops
kept_or_not() {
	kept "$1" "$3"
	kept "$2" "!($3)"
}

can_filter() {
	[ "$(id -u)" = 0 ] || skip "a filter of samples is a BPF program, which needs root"
	bpftool btf dump file /sys/kernel/btf/vmlinux | grep -q "FUNC 'bpf_cast_to_kern_ctx'" ||
		skip "this kernel does not let programs read samples"
}

test_samples_that_a_filter_keeps() {
	can_filter
	taskset -c 1 true 2>/dev/null || skip "one CPU"
	kept_or_not 'ip < 0xffff800000000000' 'ip >= 0xffff800000000000' 'i < "ffff800000000000"'
	kept_or_not 'cpu == 0' 'cpu != 0' '$1 + 0 == 0'
	kept_or_not 'cpu > 0 || addr > 0x7fff00000000' 'cpu <= 0, addr <= 0x7fff00000000' \
		'$1 + 0 > 0 || a > "00007fff00000000"'
	# "||" binds more than ","
	kept_or_not 'cpu == 0, ip < 0xffff800000000000 || addr > 0x7fff00000000' \
		'cpu != 0 || ip >= 0xffff800000000000, cpu != 0 || addr <= 0x7fff00000000' \
		'$1 + 0 == 0 && (i < "ffff800000000000" || a > "00007fff00000000")'
	kept 'addr & 0x8000' 'substr(a, 13, 1) ~ /[89a-f]/'
}

# Each event has its own filter; all of one event's hold; what does not depend on the sample.
test_filters_by_event() {
	can_filter
	build_work
	"$PERF_BPF" record -q -e page-faults -c 1 --filter 'period == 1' --filter 'uid != 0' \
		-e minor-faults -c 1 --filter 'period > 0, uid == 0, gid <= 0' -o t.data -- $PAGES >pages
	assert_equal "$(count page-faults:)" 0
	[ "$(count minor-faults:)" -ge 50 ] || fail "$(count minor-faults:) samples"
	"$PERF_BPF" record -q -T --sample-identifier -e page-faults -c 1 -e minor-faults -c 1 \
		--filter 'tid != 0,pid > 0,time > 0,id > 0' -o t.data -- $PAGES >pages
	[ "$(count minor-faults:)" -ge 50 ] || fail "$(count minor-faults:) samples"
	[ "$(count page-faults:)" -ge 50 ] || fail "$(count page-faults:) samples"
}

test_filters_by_cgroup() {
	local root dir
	can_filter
	build_work
	root=$(findmnt -rno TARGET -t cgroup2 | head -n 1)
	[ -n "$root" ] || skip "cgroup2 is not mounted"
	dir=$root/pbt-filter-$$
	mkdir "$dir" || skip "no cgroup can be made"
	"$PERF_BPF" record -q --all-cgroups -e page-faults -c 1 \
		--filter "cgroup == /pbt-filter-$$" -e minor-faults -o t.data -- \
		sh -c "true; echo \$\$ >$dir/cgroup.procs; exec $PAGES" >pages 2>err ||
		{ rmdir "$dir"; grep -q 'does not record cgroups' err && skip "$(head -n 1 err)"; fail "$(cat err)"; }
	rmdir "$dir"
	[ "$(count page-faults:)" -ge 50 ] || fail "$(count page-faults:) samples of the cgroup"
	[ "$("$PERF_BPF" script -i t.data -F event,comm | grep -c 'sh .*page')" -lt \
		"$("$PERF_BPF" script -i t.data -F event,comm | grep -c 'sh .*minor')" ] || fail "the samples before are kept"
}

test_filters_that_are_wrong() {
	local wrong
	can_filter
	for wrong in 'perio > 1' 'period' 'period ~ 1' 'period > ' 'period > 1x' 'period > 1 | ip > 1' \
		'period > 1,' 'mem_op == l1' 'cgroup == /nowhere' 'period > 99999999999999999999' ''; do
		expect_status 2 "$PERF_BPF" record -e page-faults --filter "$wrong" -o t.data -- true
		assert_contains err "--filter '$wrong'"
	done
	expect_status 2 "$PERF_BPF" record -e page-faults --filter 'cpu > 0' -o t.data -- true
	assert_contains err "page-faults: the samples do not have PERF_SAMPLE_CPU"
	assert_contains err "add the option --sample-cpu"
	expect_status 2 "$PERF_BPF" record -e page-faults --filter 'mem_lvl > l1' -o t.data -- true
	assert_contains err "add the option -d"
	cat >pbt_all.bpf.c <<-'END'
		#include "vmlinux.h"
		#include <bpf/bpf_helpers.h>
		SEC("perf_event") int pbt_all(void *ctx) { return 1; }
	END
	expect_status 2 "$PERF_BPF" record -e page-faults --filter 'ip > 0' -e pbt_all.bpf.c -o t.data -- true
	assert_contains err "'page-faults' is already filtered by a program"
	[ ! -e t.data ] || fail "a recording was made"
}

test_context_switches() {
	build_work
	record
	"$PERF_BPF" script -i t.data --show-switch-events >without
	assert_equal "$(grep -c PERF_RECORD_SWITCH without)" 0
	record --switch-events
	"$PERF_BPF" script -i t.data --show-switch-events >with
	out=$(grep -c 'pbt_pages .*PERF_RECORD_SWITCH OUT' with)
	[ "$out" -ge 10 ] || fail "$out switches"
	record --latency
	"$PERF_BPF" script -i t.data --show-switch-events >with
	assert_contains with "PERF_RECORD_SWITCH OUT"
	"$PERF_BPF" report --stdio -i t.data --latency >got
	assert_contains got "#  Latency  Overhead"
	expect_status 2 "$PERF_BPF" record --latency -a -o t.data true
	assert_contains err "--latency: the latency of a whole machine"
}

# Weights as the PMU of a new processor has them, with the latency of the instruction in one word:
# written into a recording of page faults.
test_weights_with_latencies() {
	[ -n "$PERF" ] || skip "perf is not installed"
	build_work
	record -W
	python3 - t.data w.data <<-'END' || fail "the recording could not be changed"
		import struct, sys
		WEIGHT, WEIGHT_STRUCT = 1 << 14, 1 << 24
		data = bytearray(open(sys.argv[1], "rb").read())
		attr_size, attrs, attrs_size, start, size = struct.unpack_from("<QQQQQ", data, 16)
		for at in range(attrs, attrs + attrs_size, attr_size):
		    sample_type, = struct.unpack_from("<Q", data, at + 24)
		    assert sample_type == 7 | WEIGHT, hex(sample_type)
		    struct.pack_into("<Q", data, at + 24, 7 | WEIGHT_STRUCT)
		at, n = start, 0
		while at < start + size:
		    kind, _, length = struct.unpack_from("<IHH", data, at)
		    if kind == 9:
		        struct.pack_into("<IHH", data, at + 32, 100 + n % 3, 7 * (n % 2 + 1), 4)
		        n += 1
		    at += length
		assert n >= 50, n
		# what describes the events a second time has the old type
		i = data.find(struct.pack("<Q", 7 | WEIGHT), start + size)
		while i >= 0:
		    struct.pack_into("<Q", data, i, 7 | WEIGHT_STRUCT)
		    i = data.find(struct.pack("<Q", 7 | WEIGHT), i)
		open(sys.argv[2], "wb").write(data)
	END
	"$PERF_BPF" script -i w.data -F ip,weight,ins_lat >ours
	"$PERF" script -i w.data -F ip,weight,ins_lat >theirs 2>/dev/null
	diff theirs ours || fail "perf reads other weights"
	grep -qE '^ +102 +(7|14) ' ours || fail "the weights are not there: $(head -n 2 ours)"
	"$PERF_BPF" script -i w.data --where 'weight == 102' -F weight | sort -u >some
	assert_equal "$(tr -d ' ' <some)" 102
	for keys in weight local_weight weight,ins_lat local_ins_lat; do
		"$PERF_BPF" report -i w.data -s $keys -q >ours
		"$PERF" report -i w.data -s $keys -q --stdio >theirs 2>/dev/null
		diff <(sed '/^$/d' theirs) <(sed '/^$/d' ours) || fail "report -s $keys differs"
	done
	expect_status 1 "$PERF_BPF" script -i t.data -F ins_lat
	assert_contains err "have no latency"
}

# ids: the files that have a build id in the file's header
ids() {
	"$PERF" buildid-list -i t.data | awk '$2 ~ "^/" { print $2 }' | sort
}

# The samples are in the kernel: no file is hit.
test_build_ids_of_all_code() {
	[ -n "$PERF" ] || skip "perf is not installed"
	build_work
	"$PERF_BPF" record -q -N -e sched:sched_process_exit -o t.data -- $PAGES >pages
	ids >hit
	"$PERF_BPF" record -q -N --buildid-all -e sched:sched_process_exit -o t.data -- \
		$PAGES >pages
	ids >all
	[ -z "$(comm -23 hit all)" ] || fail "$(comm -23 hit all) is missing"
	grep -qx "$PWD/pbt_pages" all || fail "the program is missing: $(cat all)"
	grep -q '/libc\.so\.6$' all || fail "the library is missing: $(cat all)"
	! grep -q '/libc\.so\.6$' hit || skip "the library has a sample"
}

run_tests
