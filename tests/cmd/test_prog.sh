#!/usr/bin/env bash
# perf-bpf prog: what it shows and pins, beside what bpftool says.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../workload.sh"

M=/sys/fs/bpf/pbt_prog_$$

prog() {
	"$PERF_BPF" prog "$@"
}

# Programs pinned under $M; nothing of them outlives the test.
make_progs() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	command -v bpftool >/dev/null || skip "bpftool is not installed"
	mount | grep -q ' /sys/fs/bpf type bpf' || mount -t bpf bpf /sys/fs/bpf ||
		skip "no bpf file system can be mounted"
	cat >progs.bpf.c <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		struct {
			__uint(type, BPF_MAP_TYPE_ARRAY);
			__uint(max_entries, 1);
			__type(key, int);
			__type(value, long);
		} pbt_counts SEC(".maps");
		long pbt_total = 3;
		static __attribute__((noinline)) int pbt_sum(int *a, long b)
		{
			return *a + b + *(volatile long *)&pbt_total;
		}
		SEC("raw_tp/task_rename") int pbt_counting(void *ctx)
		{
			int key = 0;
			long *n = bpf_map_lookup_elem(&pbt_counts, &key);
			if (n)
				++*n;
			if (key > 9)
				bpf_printk("%d | <%d>", key, bpf_get_smp_processor_id());
			return pbt_sum(&key, bpf_ktime_get_ns()) & 1;
		}
		SEC("socket") int pbt_none(void *ctx) { return 0; }
		char LICENSE[] SEC("license") = "GPL";
	END
	clang -g -O2 --target=bpf -I"$SRC/include" -I"$BUILD/include" \
		-I"/usr/include/$(gcc -print-multiarch)" -c progs.bpf.c -o progs.bpf.o
	trap 'rm -rf "$M"' EXIT
	mkdir "$M"
	bpftool prog loadall progs.bpf.o "$M"
}

test_the_list_is_bpftools() {
	make_progs
	for name in pbt_counting pbt_none; do
		# the boot is reckoned from two clocks, which are read one after the other
		prog list pinned "$M/$name" | sed 's/loaded_at [^ ]*//' >ours
		bpftool prog show pinned "$M/$name" | sed 's/loaded_at [^ ]*//' >theirs
		diff -w ours theirs || fail "$name"
		prog list pinned "$M/$name" >text
		grep -q 'loaded_at 20[0-9-]*T[0-9:+]*  uid' text || fail "when: $(cat text)"
		prog list -j "$M/$name" >ours
		bpftool -j prog show pinned "$M/$name" >theirs
		python3 -c '
import json
ours, theirs = json.load(open("ours"))[0], json.load(open("theirs"))
theirs.pop("orphaned", None)
# bpftool reads one clock after the other, and may wait for a CPU in between
assert abs(ours.pop("loaded_at") - theirs.pop("loaded_at")) <= 60
assert ours == theirs, (ours, theirs)' || fail "$name"
	done
	prog list "$M/pbt_counting" >ours
	assert_contains ours "map_ids "
	prog --json >all
	tag=$(prog list -j "$M/pbt_counting" | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["tag"])')
	prog list tag "$tag" | grep -q "name pbt_counting  tag $tag" || fail "by tag"
	python3 -c '
import json, sys
assert "pbt_counting" in [p["name"] for p in json.load(open("all")) if p["tag"] == sys.argv[1]]' "$tag"
}

test_a_program_is_pinned() {
	make_progs
	prog pin pinned "$M/pbt_none" "$M/again"
	prog list -j "$M/again" >again
	prog list -j "$M/pbt_none" >first
	cmp again first || fail "another program"
	expect_status 1 prog pin "$M/pbt_none" "$M/again"
	assert_contains err "$M/again: cannot pin the program at this path: File exists"
	expect_status 1 prog pin "$M/pbt_none" "$PWD/file"
	assert_contains err "hint: the file must be in a BPF file system"
}

test_what_is_wrong_is_named() {
	make_progs
	expect_status 1 prog list 4294967295
	assert_contains err "no program has the id 4294967295"
	expect_status 1 prog list name pbt_countin
	assert_contains err "no program is called 'pbt_countin'"
	assert_contains err "'pbt_counting'"
	expect_status 2 prog pin "$M/pbt_none"
	assert_contains err "the file to pin to is missing"
	expect_status 2 prog pim 1
	assert_contains err "did you mean 'pin'?"
}

# What differs on purpose: maps have names, pointers are written as in C, what
# the compiler did by itself has no empty line, bpftool's columns of 0.
plain() {
	sed -E 's/(map\[id:[0-9]+) [^]]*\]/\1]/; s/\* ([a-z])/*\1/; /^; ( \[file.*)?$/d'
}

test_bpf_instructions_are_bpftools() {
	make_progs
	for how in "" linum opcodes; do
		prog dump xlated pinned "$M/pbt_counting" $how | plain >ours
		bpftool prog dump xlated pinned "$M/pbt_counting" $how | plain >theirs
		diff ours theirs || fail "xlated $how"
	done
	for how in linum opcodes; do
		prog dump xlated "$M/pbt_counting" -j $how >ours
		bpftool -j prog dump xlated pinned "$M/pbt_counting" $how >theirs
		python3 - <<-'END'
			import json, re
			def plain(path):
			    for insn in json.load(open(path)):
			        insn["disasm"] = re.sub(r"(map\[id:\d+) [^]]*\]", r"\1]", insn["disasm"])
			        if "proto" in insn:
			            insn["proto"] = insn["proto"].replace("* ", "*")
			        if insn.get("src") == "":
			            for name in ("src", "file"):
			                insn.pop(name, None)
			        yield insn
			ours, theirs = list(plain("ours")), list(plain("theirs"))
			assert len(ours) > 20
			for a, b in zip(ours, theirs, strict=True):
			    assert a == b, (a, b)
		END
	done
	prog dump xlated "$M/pbt_counting" >ours
	assert_contains ours "int pbt_sum(int *a, long b):"
	grep -qE '\(18\) r[0-9] = map\[id:[0-9]+ pbt_counts\]$' ours || fail "the map's name"
	grep -qE 'call pc\+[0-9]+#bpf_prog_[0-9a-f]{16}_pbt_sum$' ours || fail "the function's name"
	grep -qE 'call bpf_ktime_get_ns#-?[0-9]+$' ours || fail "the helper's name"
	prog dump xlated "$M/pbt_counting" file ours.bin
	bpftool prog dump xlated pinned "$M/pbt_counting" file theirs.bin
	cmp ours.bin theirs.bin || fail "another image"
}

test_every_instruction_is_the_verifiers_text() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	"$BUILD/tests/cmd/disassembled" >out 2>err || fail "it ended with $?"
	cat out err
	for name in arithmetic memory jumps; do
		grep -qE "^$name: [1-9][0-9]+ instructions, 0 differ$" out || fail "$name"
	done
	# a kernel may not know the others yet
	! grep -E "instructions, [1-9]" out || fail "some differ"
}

# The addresses and operations of "ADDRESS:<tab>OPERATION OPERANDS", without AT&T's suffixes.
operations() {
	sed -nE 's/^ *([0-9a-f]+):\s+([a-z]+).*/\1 \2/p' | sed -E 's/(mov|movz|movs)(abs|b|w|l|q|x)*$/mov/; s/[bwlq]$//'
}

# What was loaded with a program is anybody's text.
test_lines_of_source_with_escapes() {
	make_progs
	printf '%s\n' '#include <linux/bpf.h>' '#include <bpf/bpf_helpers.h>' \
		'SEC("socket") int pbt_escape(struct __sk_buff *skb)' '{' \
		"	return skb->len; /* "$'\033]0;x\007'" */" '}' >escape.bpf.c
	clang -g -O2 --target=bpf -I"$SRC/include" -I"$BUILD/include" \
		-I"/usr/include/$(gcc -print-multiarch)" -c escape.bpf.c -o escape.bpf.o
	bpftool prog loadall escape.bpf.o "$M"
	for options in xlated "xlated linum" jited "xlated visual"; do
		# shellcheck disable=SC2086
		prog dump ${options% *} pinned "$M/pbt_escape" $([ "$options" = "${options% *}" ] || echo "${options#* }") >out
		! LC_ALL=C grep $'[\001-\010\013-\037\177]' out || fail "$options: escapes"
	done
	prog dump xlated pinned "$M/pbt_escape" >out
	assert_contains out '\x1b]0;x\x07'
	prog dump xlated pinned "$M/pbt_escape" -j | python3 -c 'import json, sys; assert "\033]0;x\007" in repr(json.load(sys.stdin)).encode().decode("unicode_escape")'
}

test_machine_code_is_objdumps() {
	make_progs
	prog dump jited "$M/pbt_none" >ours 2>err || {
		if grep -q 'built without capstone' err; then skip "$(cat err)"; fi
		fail "$(cat err)"
	}
	[ "$(uname -m)" = x86_64 ] || skip "objdump is asked for x86-64 code"
	# of one function: what objdump shows of the whole image
	prog dump jited "$M/pbt_none" file image
	assert_equal "$(stat -c %s image)" \
		"$(prog list -j "$M/pbt_none" | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["bytes_jited"])')"
	objdump -D --no-show-raw-insn -b binary -m i386:x86-64 image | operations >theirs
	operations <ours >operations
	[ "$(wc -l <operations)" -gt 5 ] || fail "no instructions: $(cat ours)"
	diff operations theirs || fail "other instructions"

	prog dump jited "$M/pbt_counting" opcodes >ours
	prog dump jited "$M/pbt_counting" -j opcodes linum >ours.json
	prog dump jited "$M/pbt_counting" file image
	python3 - <<-'END'
		import json, re, subprocess
		functions = json.load(open("ours.json"))
		assert [f["proto"] for f in functions] == ["int pbt_counting(void *ctx)",
		                                           "int pbt_sum(int *a, long b)"]
		assert re.fullmatch("bpf_prog_[0-9a-f]{16}_pbt_sum", functions[1]["name"])
		# the bytes shown are all of the image, in order, as text too
		shown = b"".join(bytes(int(b, 16) for b in i["opcodes"])
		                 for f in functions for i in f["insns"])
		assert shown == open("image", "rb").read()
		text = [re.fullmatch("\t([0-9a-f ]+)", line) for line in open("ours").read().split("\n")]
		assert bytes.fromhex("".join(m.group(1) for m in text if m)) == shown
		# each function begins at 0, each instruction behind the one before it
		for f in functions:
		    at = 0
		    for i in f["insns"]:
		        assert int(i["pc"], 16) == at, i
		        at += len(i["opcodes"])
		calls = [i["operands"][0] for f in functions for i in f["insns"]
		         if i["operation"].startswith("call")]
		assert any(c.endswith("_pbt_sum>") for c in calls), calls
		# the timestamp counter may have been built in
		assert all(re.search("<.*>", c) for c in calls), calls
		# jumps stay within their function
		for f in functions:
		    pcs = {i["pc"] for i in f["insns"]}
		    for i in f["insns"]:
		        if i["operation"].startswith("j") and "<" not in i["operands"][0]:
		            assert i["operands"][0] in pcs, i
		sources = [i.get("src") for f in functions for i in f["insns"]]
		assert "return *a + b + *(volatile long *)&pbt_total;" in sources, sources
		lines = {i["line_num"] for f in functions for i in f["insns"] if i.get("src") == "++*n;"}
		source = open("progs.bpf.c").read().split("\n")
		assert [source[n - 1].strip() for n in lines] == ["++*n;"], lines
	END
}

test_the_flow_is_a_graph() {
	make_progs
	prog dump xlated "$M/pbt_counting" visual >graph
	prog dump xlated "$M/pbt_counting" >listing
	python3 - <<-'END'
		import re
		graph, listing = open("graph").read(), open("listing").read()
		insns = {int(n): text for n, text in re.findall(r"^ *(\d+): (\(.*)$", listing, re.M)}
		boxes = {int(n): [int(s) for s in re.findall(r"(?:\{|\|) *(\d+): ", label)]
		         for n, label in re.findall(r'box_(\d+) \[.*label="(.*)"\];', graph)}
		# every instruction stands in exactly one box
		assert sorted(i for b in boxes.values() for i in b) == sorted(insns)
		arrows = {(int(a), int(b)) for a, b in re.findall(r"box_(\d+):s -> box_(\d+):n", graph)}
		exits = {int(a) for a in re.findall(r"box_(\d+):s -> exit_", graph)}
		want, ends = set(), set()
		order = sorted(insns)
		for first, members in boxes.items():
		    last = members[-1]
		    text = insns[last]
		    jump = re.search(r"goto pc([+-]\d+)", text)
		    if jump:
		        want.add((first, last + 1 + int(jump.group(1))))
		    if text == "(95) exit":
		        ends.add(first)
		    elif not text.startswith("(05)"):
		        want.add((first, order[order.index(last) + 1]))
		assert arrows == want and exits == ends, (arrows ^ want, exits ^ ends)
		assert len(boxes) > 4 and graph.count("subgraph") == 2
		assert graph.count("{") - graph.count("\\{") == graph.count("}") - graph.count("\\}")
	END
	expect_status 2 prog dump jited "$M/pbt_counting" visual
	assert_contains err "it works only with xlated"
}

test_what_the_kernel_hides_is_said() {
	make_progs
	expect_status 2 prog dump "$M/pbt_none"
	assert_contains err "what to dump is missing"
	expect_status 2 prog dump xlated "$M/pbt_none" lines
	assert_contains err "linum"
	expect_status 1 prog dump xlated "$M/pbt_none" file /proc/none/x
	assert_contains err "cannot write '/proc/none/x'"
	if [ "$(cat /proc/sys/kernel/kptr_restrict)" = 0 ] &&
		[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -lt 2 ]; then
		skip "the kernel hides its addresses from nobody"
	fi
	# without CAP_SYSLOG addresses are hidden
	expect_status 1 setpriv --bounding-set=-syslog "$PERF_BPF" prog dump jited "$M/pbt_counting"
	assert_contains err "the kernel does not show the machine code"
	assert_contains err "kernel.kptr_restrict"
	expect_status 0 setpriv --bounding-set=-syslog "$PERF_BPF" prog dump xlated "$M/pbt_counting"
	assert_contains err "calls are shown as numbers"
	assert_contains out "; ++*n;"
	assert_contains out "pbt_counts]"
	expect_status 1 setpriv --reuid=65534 --regid=65534 --clear-groups "$PERF_BPF" \
		prog dump xlated id 4294967295
}

# A program that counts its runs, on a call that only the workload makes often, run in the
# background: $runner. ./calls N makes the call.
hold_counting() {
	make_progs
	workload_as pbt_getprio
	"$PERF_BPF" run "$OBJECTS/prog_counting.bpf.o" --comm "$1" --json >run.out 2>run.err &
	runner=$!
	trap 'rm -rf "$M"; kill $runner 2>/dev/null || :' EXIT
	until id=$(of_process $runner); do
		[ -e /proc/$runner ] || fail "it does not run: $(cat run.err)"
		sleep 0.05
	done
}

# The id of the process's program, once it is attached.
of_process() {
	"$PERF_BPF" link list -j >links && python3 - "$1" <<-'END'
		import json, sys
		pid = int(sys.argv[1])
		ids = [l["prog_id"] for l in json.load(open("links"))
		       if pid in [p["pid"] for p in l.get("pids", [])]]
		print(*ids[:1])
		sys.exit(not ids)
	END
}

end_counting() {
	kill $runner
	wait $runner
}

test_profile_counts_the_runs() {
	hold_counting nobody
	"$PERF_BPF" prog profile id "$id" -j cycles cpu_clock >profile &
	profiler=$!
	# it waits in epoll_wait() or epoll_pwait() once it has begun
	waits() {
		case $(cut -d' ' -f1 /proc/$profiler/syscall) in 22 | 232 | 281) ;; *) return 1 ;; esac
	}
	soon waits
	./pbt_getprio call getpriority 5000 0 0
	kill $profiler
	wait $profiler
	prog pin id "$id" "$M/watched"
	end_counting
	# the program is there, and runs no more: its counters stand still
	prog list "$M/watched" | sed 's/loaded_at [^ ]*//' >ours
	bpftool prog show pinned "$M/watched" | sed 's/loaded_at [^ ]*//' >theirs
	diff -w ours theirs || fail "the list"
	grep -qE ' run_time_ns [1-9][0-9]* run_cnt [1-9]' ours || fail "no counters: $(cat ours)"
	python3 - <<-'END'
		import json
		p = json.load(open("profile"))
		total, = [json.loads(l)["count"] for l in open("run.out") if '"runs"' in l]
		assert 5000 <= p["run_cnt"] <= total, (p, total)
		assert p["run_cnt"] < p["run_time_ns"] < p["duration_ns"] * 256, p
		assert [m["metric"] for m in p["metrics"]] == ["cycles", "cpu_clock"], p
		for m in p["metrics"]:
		    # where fentry and counters are, they measured; else there is a reason
		    assert m["not_measured"] if "not_measured" in m else \
		        5000 <= m["run_cnt"] <= total and m["value"] > 0, p
	END
	no_profile() { ! prog list | grep profile_; }
	soon no_profile
}

# The program is measured from before the command's first instruction until its end.
test_profile_of_a_command() {
	hold_counting nobody
	expect_status 7 prog profile id "$id" -j cpu_clock -- sh -c './pbt_getprio call getpriority 5000 0 0; exit 7'
	mv out profile
	# words of the command are not metrics, and its options are its own
	expect_status 0 prog profile id "$id" duration 1000 -- ./pbt_getprio call getpriority 10 0 0 , say -j cycels
	[ "$(awk '$2 == "run_cnt" {print $1}' out)" -ge 10 ] || fail "$(cat out)"
	# the time is over before the command: it is ended
	expect_status 0 prog profile id "$id" duration 0.1 cpu_clock -- \
		sh -c 'echo $$ >pid.new; mv pid.new pid; exec sleep 1000'
	grep -q run_cnt out || fail "no result after the time is over: $(cat out)"
	[ ! -e pid ] || [ ! -e "/proc/$(cat pid)" ] || fail "the command goes on"
	expect_status 1 prog profile id "$id" -- ./pbt_absent
	assert_contains err "pbt_absent"
	expect_status 2 prog profile id "$id" cycels -- touch began
	[ ! -e began ] || fail "the command ran although a metric is wrong"
	end_counting
	python3 - <<-'END'
		import json
		p = json.load(open("profile"))
		total, = [json.loads(l)["count"] for l in open("run.out") if '"runs"' in l]
		assert 5000 <= p["run_cnt"] <= total, (p, total)
	END
}

test_profile_tells_what_is_wrong() {
	make_progs
	prog profile "$M/pbt_none" duration 0.1 >out
	grep -qE '^ +0 run_cnt$' out || fail "$(cat out)"
	for metric in cycles instructions l1d_loads llc_misses itlb_misses dtlb_misses; do
		grep -qE " $metric(  # .*)?$" out || fail "no word of $metric: $(cat out)"
	done
	expect_status 2 prog profile "$M/pbt_none" duration 0.1 cycels
	assert_contains err "did you mean 'cycles'?"
	expect_status 2 prog profile "$M/pbt_none" duration x
	assert_contains err "a number of seconds"
	[ "$(cat /proc/sys/kernel/bpf_stats_enabled)" = 0 ] || skip "statistics are on"
	expect_status 1 setpriv --bounding-set=-sys_admin "$PERF_BPF" prog profile "$M/pbt_none"
	cat err
}

test_tracelog_shows_what_programs_print() {
	local printed='pbt\\x1b\[1m-[0-9]+ .*: (bpf_trace_printk: )?pbt_prog 4711' name=$'pbt\033[1m'
	hold_counting "$name"
	cp pbt_getprio "$name" # processes have the names that they choose
	for i in $(seq 1000); do
		if [ ! -e "/proc/${reader:-none}" ]; then # not yet, or another one had it
			"$PERF_BPF" prog tracelog >log 2>log.err &
			reader=$!
		fi
		"./$name" call getpriority 1 0 0
		# the kernel learns the name when the process leaves its CPU, and prints <...> before
		! grep -qE "$printed" log || break
		sleep 0.05
	done
	kill $reader || :
	wait $reader || :
	end_counting
	! grep -q 'another process is reading it' log.err || skip "$(cat log.err)"
	grep -qE "$printed" log || fail "$(cat log log.err)"
}

test_kernel_functions_are_named() {
	make_progs
	cat >kfunc.bpf.c <<-'END'
		#include "vmlinux.h"
		#include <bpf/bpf_helpers.h>
		SEC("tp_btf/task_rename") int pbt_kfunc(void *ctx)
		{
			bpf_rcu_read_lock();
			bpf_rcu_read_unlock();
			return 0;
		}
		char LICENSE[] SEC("license") = "GPL";
	END
	"$PERF_BPF" run kfunc.bpf.c >run.out 2>run.err &
	runner=$!
	trap 'rm -rf "$M"; kill $runner 2>/dev/null || :' EXIT
	until id=$(of_process $runner); do
		[ -e /proc/$runner ] || skip "no such kernel functions: $(head -n 1 run.err)"
		sleep 0.05
	done
	prog dump xlated id "$id" | plain >ours
	bpftool prog dump xlated id "$id" | plain >theirs
	end_counting
	grep -qE '\(85\) call bpf_rcu_read_lock#[0-9]+$' ours || fail "$(cat ours)"
	diff ours theirs || fail "not bpftool's"
}

run_tests
