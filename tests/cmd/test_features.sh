#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# perf-bpf features: against what bpftool and the system itself say.
. "$(dirname "$0")/../tap.sh"

# feature NAME: prints yes or no
feature() {
	[ -e features.json ] || "$PERF_BPF" features --json >features.json
	python3 - "$1" <<'END'
import json, sys
for f in json.load(open("features.json"))["features"]:
    if f["name"] == sys.argv[1]:
        print("yes" if f["works"] else "no")
        sys.exit(0 if f["works"] or f["reason"] else 1)
sys.exit("no such feature")
END
}

test_program_and_map_types_are_those_that_bpftool_finds() {
	bpftool -j feature probe kernel >bpftool.json 2>/dev/null || skip "bpftool cannot probe here"
	"$PERF_BPF" features --json >features.json
	python3 - <<'END'
import json
ours = {f["name"]: f["works"] for f in json.load(open("features.json"))["features"]}
theirs = json.load(open("bpftool.json"))
wrong = []
compared = 0
for prefix, table, form in (("prog.", theirs["program_types"], "have_%s_prog_type"),
                            ("map.", theirs["map_types"], "have_%s_map_type")):
    for name, works in ours.items():
        if name.startswith(prefix):
            key = form % name[len(prefix):]
            if key not in table:
                continue  # newer than this bpftool
            compared += 1
            if table[key] != works:
                wrong.append(f"{name}: {works}, bpftool says {table[key]}")
assert not wrong, wrong
assert compared >= 14, compared
assert ours["bpf.jit"] == (theirs["system_config"]["bpf_jit_enable"] > 0)
if not theirs["program_types"].get("have_tracing_prog_type"):
    assert not ours["attach.fentry"]
END
}

test_what_the_system_shows_is_what_is_said() {
	local pmu
	for pmu in kprobe uprobe; do
		if [ ! -e /sys/bus/event_source/devices/$pmu ]; then
			assert_equal "$(feature attach.$pmu)" no
			assert_equal "$(feature attach.${pmu%probe}retprobe)" no
		elif [ "$(id -u)" = 0 ]; then
			assert_equal "$(feature attach.$pmu)" yes
		fi
	done
	assert_equal "$(feature host.btf)" "$([ -r /sys/kernel/btf/vmlinux ] && echo yes || echo no)"
	[ "$(id -u)" = 0 ] || return 0
	assert_equal "$(feature perf.process)" yes
	assert_equal "$(feature attach.tracepoint)" yes
	assert_equal "$(feature attach.raw_tp)" yes
	assert_equal "$(feature host.kallsyms)" yes
}

test_lines_fit_a_terminal_and_say_why_not() {
	expect_status 0 "$PERF_BPF" features
	awk 'length > 80 { bad = 1; print "# too long: " $0 } END { exit bad }' out || fail "lines over 80 columns"
	grep -qE '^  attach.uprobe +(yes|no)' out || fail "no line for attach.uprobe"
	grep -E '^  [a-z_.0-9]+ +no ' out >no || skip "everything works here"
	# Behind the purpose stands the reason.
	! grep -vE '^  [a-z_.0-9]+ +no +[^:]+(:.*)?$' no || fail "no reason given"
}

test_a_pattern_chooses_and_a_name_decides_the_status() {
	expect_status 0 "$PERF_BPF" features 'map.*'
	! grep -q 'attach' out || fail "more than asked for"
	assert_contains out map.array
	expect_status "$([ "$(feature map.array)" = yes ] && echo 0 || echo 1)" "$PERF_BPF" features map.array
	expect_status "$([ "$(feature attach.kprobe)" = yes ] && echo 0 || echo 1)" "$PERF_BPF" features attach.kprobe
	expect_status 1 "$PERF_BPF" features atach.kprobe
	assert_contains err "unknown feature 'atach.kprobe'"
	assert_contains err "did you mean 'attach.kprobe'"
	expect_status 1 "$PERF_BPF" features 'nothing.*'
	assert_equal "$(wc -c <out)" 0
}

test_without_rights_it_says_which_are_missing() {
	[ "$(id -u)" = 0 ] || skip "is run without rights already"
	cp "$PERF_BPF" /tmp/perf-bpf-features-test.$$ # nobody may not enter a home
	chmod 755 /tmp/perf-bpf-features-test.$$
	status=0
	setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all \
		/tmp/perf-bpf-features-test.$$ features >out 2>err || status=$?
	rm -f /tmp/perf-bpf-features-test.$$
	assert_equal $status 0
	assert_contains out "lacks CAP_BPF"
	assert_contains out "run as root"
}

test_nothing_is_pinned_or_registered() {
	[ -z "${SANITIZED:-}" ] || skip "the leak sanitizer does not run under strace"
	strace -f -y -o trace -e trace=bpf,perf_event_open,openat,write "$PERF_BPF" features >/dev/null 2>&1 ||
		skip "strace does not run here"
	assert_contains trace BPF_PROG_LOAD
	! grep -q BPF_OBJ_PIN trace || fail "something was pinned"
	! grep -E 'write\([0-9]+<[^>]*[ku]probe_events>' trace || fail "a probe was registered by name"
}

run_tests
