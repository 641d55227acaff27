#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Ways of attaching beyond those of test_attach.sh, and what their links can,
# on the kernel that runs; tests/vm does the same on others.
. "$(dirname "$0")/../tap.sh"
WAYS=$BUILD/tests/vm/ways

objects() {
	[ "$(id -u)" = 0 ] || skip "attaching takes root"
	for f in ways attach; do
		compile_bpf "$SRC/tests/vm/$f.bpf.c" $f.bpf.o
	done
}

# counts FEATURE PROGRAM...
counts() {
	objects
	has "$1" || skip "this kernel has no $1"
	shift
	tap "$WAYS" ways.bpf.o check "$@"
}

test_uprobe_multi() { counts attach.uprobe_multi on_uprobe_multi on_uretprobe_multi; }
test_uprobe_session() { counts attach.uprobe_session on_uprobe_session on_uprobe_session_entry; }
test_kprobe_multi() { counts attach.kprobe_multi on_kprobe_multi on_kretprobe_multi; }
test_kprobe_session() { counts attach.kprobe_session on_kprobe_session on_kprobe_session_entry; }
test_ksyscall() { counts attach.kprobe on_ksyscall on_kretsyscall; }
test_fmod_ret() { counts attach.fmod_ret on_fmod_ret; }

test_writable_raw_tracepoint() {
	objects
	has attach.raw_tp_writable || skip "this kernel has none"
	tap "$WAYS" ways.bpf.o writable on_writable
}

test_uprobe_multi_by_options() {
	objects
	has attach.uprobe_multi || skip "this kernel has no attach.uprobe_multi"
	tap "$WAYS" ways.bpf.o uprobes
	tap "$WAYS" ways.bpf.o refuse no_symbols "has no function that matches 'no_such_functi*'"
}

test_kprobe_multi_by_options() {
	objects
	has attach.kprobe_multi || skip "this kernel has no attach.kprobe_multi"
	tap "$WAYS" ways.bpf.o kprobes
}

test_what_the_kernel_lacks_is_named_with_what_to_use() {
	objects
	has attach.kprobe_multi && skip "this kernel has kprobe.multi"
	tap "$WAYS" ways.bpf.o refuse on_kprobe_multi \
		"multi-probe links (kprobe.multi): this kernel"
	tap "$WAYS" ways.bpf.o refuse on_kprobe_multi "hint: use SEC(\"kprobe/FUNCTION\") for each function"
	tap "$WAYS" ways.bpf.o refuse on_kprobe_multi "(feature attach.kprobe_multi)"
	tap "$WAYS" ways.bpf.o refuse on_kprobe_session "hint: use SEC(\"kprobe.multi/…\")"
}

test_links() {
	objects
	tap "$WAYS" attach.bpf.o link on_raw_tp
	! has bpf.perf_link || tap "$WAYS" attach.bpf.o link on_tracepoint
	! has attach.uprobe_multi || tap "$WAYS" ways.bpf.o link on_uprobe_multi
}

test_a_pinned_link_outlives_its_process() {
	objects
	has bpf.perf_link || skip "this kernel has no links to perf events"
	mkdir bpffs
	mount -t bpf bpf bpffs 2>/dev/null || skip "no bpf file system can be mounted"
	trap 'umount "$TMP/bpffs"' EXIT
	programs="attach.bpf.o:on_tracepoint attach.bpf.o:on_tp_btf attach.bpf.o:on_uprobe"
	! has attach.uprobe_multi || programs="$programs ways.bpf.o:on_uprobe_multi"
	for p in $programs; do
		tap "$WAYS" "${p%:*}" leave "${p#*:}" "$TMP/bpffs/${p#*:}"
		tap "$WAYS" - take "$TMP/bpffs/${p#*:}"
	done
}

# holds MODE: $pid is a process with a uprobe by that mode, whose file is its own
holds() {
	[ -e own-ways ] || cp "$WAYS" own-ways
	: >held
	./own-ways ways.bpf.o hold uprobe "$1" >>held &
	pid=$!
	trap 'kill -9 $pid $(sed -n "s/^child //p" held) 2>/dev/null || :' EXIT
	soon grep -q held held
}

# Probes of process $1 in tracefs.
probes_of() {
	grep -c "^[pr]:perfbpf_[0-9]*_$1_" /sys/kernel/tracing/uprobe_events || :
}

no_probe_of() {
	[ "$(probes_of "$1")" = 0 ]
}

# The process that cleans up after $pid: its file is the same.
janitors() {
	for exe in /proc/[0-9]*/exe; do
		[ "$(readlink "$exe")" = "$TMP/own-ways" ] || continue
		[ "$(cat "${exe%exe}comm" 2>/dev/null)" = perf-bpf-probes ] || continue
		echo "$exe" | tr -dc '0-9'
		echo
	done
}

no_janitor() {
	[ -z "$(janitors)" ]
}

# The one there is has come to wait: its name is the last that it sees to. Sets $janitor.
has_janitor() {
	janitor=$(janitors)
	[ "$(echo "$janitor" | wc -w)" = 1 ]
}

legacy() {
	objects
	has attach.uprobe_events || skip "this kernel's tracefs makes no uprobes"
}

test_uprobes_by_each_attach_mode() {
	legacy
	modes="default perf legacy"
	! has bpf.perf_link || modes="$modes link"
	for mode in $modes; do
		tap "$WAYS" ways.bpf.o uprobe $mode
		tap "$WAYS" ways.bpf.o uprobe $mode return
	done
	tap "$WAYS" ways.bpf.o quiet
}

test_kprobes_by_each_attach_mode() {
	objects
	if ! has attach.kprobe_events; then
		status=0
		"$WAYS" ways.bpf.o kprobe legacy >tap || status=$?
		assert_equal $status 1
		assert_contains tap "this kernel's tracefs has no kprobe_events"
		assert_contains tap "hint: it was built without CONFIG_KPROBE_EVENTS"
		return
	fi
	for mode in default perf legacy link; do
		tap "$WAYS" ways.bpf.o kprobe $mode
		tap "$WAYS" ways.bpf.o kprobe $mode return
	done
}

test_a_legacy_probe_goes_when_its_process_is_killed() {
	legacy
	holds legacy
	assert_equal "$(probes_of $pid)" 1
	soon has_janitor
	# It holds nothing but its pipe and the file, no folder, and no signal ends it.
	assert_equal "$(ls /proc/"$janitor"/fd | wc -l)" 2
	assert_equal "$(readlink /proc/"$janitor"/cwd)" /
	kill -TERM "$janitor"
	kill -HUP "$janitor"
	kill -9 $pid
	wait $pid 2>/dev/null || :
	soon no_probe_of $pid
	soon no_janitor
}

test_a_legacy_probe_lives_as_long_as_a_copy_of_its_event() {
	legacy
	holds forked
	child=$(sed -n 's/^child //p' held)
	kill -9 $pid
	wait $pid 2>/dev/null || :
	sleep 1
	kill -0 "$child"
	assert_equal "$(probes_of $pid)" 1
	kill -9 "$child"
	soon no_probe_of $pid
	soon no_janitor
}

test_what_a_killed_janitor_left_goes_with_the_next_probe() {
	legacy
	holds legacy
	dead=$pid
	soon has_janitor
	kill -9 "$janitor"
	kill -9 $dead
	wait $dead 2>/dev/null || :
	soon no_janitor
	assert_equal "$(probes_of $dead)" 1
	holds legacy # another process; its own probe stays
	no_probe_of $dead || fail "$(cat /sys/kernel/tracing/uprobe_events)"
	assert_equal "$(probes_of $pid)" 1
	kill -9 $pid
	wait $pid 2>/dev/null || :
	soon no_probe_of $pid
}

# What record does with programs that are no filter: one is said to be none, one has output.
test_record_runs_programs_of_many_places_beside_it() {
	legacy
	has attach.uprobe_multi || skip "this kernel has no attach.uprobe_multi"
	cp "$WAYS" counted
	cat >plain.bpf.c <<-END
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		char LICENSE[] SEC("license") = "GPL";
		#ifdef OUTPUT
		struct {
			__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
			__type(key, int);
			__type(value, int);
		} __bpf_stdout__ SEC(".maps");
		#endif
		SEC("uprobe.multi/$TMP/counted:workload_many_?")
		int many(void *ctx)
		{
		#ifdef OUTPUT
			__u64 value = 0x123456789abcdef0;
			bpf_perf_event_output(ctx, &__bpf_stdout__, BPF_F_CURRENT_CPU, &value, sizeof(value));
		#endif
			return 0;
		}
	END
	for output in "" -DOUTPUT; do
		compile_bpf plain.bpf.c plain$output.o $output
		# with room for all samples, if the recorder gets no CPU meanwhile
		"$PERF_BPF" record -m 8M -o data$output -e cpu-clock -e plain$output.o -- \
			./counted ways.bpf.o uprobe default 2>err$output >&2 || { cat err$output; fail "record"; }
	done
	assert_contains err "program many (uprobe.multi/$TMP/counted:workload_many_?) runs during the recording but does not filter it"
	assert_contains err "Use a section kprobe/FUNCTION or uprobe/FILE:FUNCTION"
	! grep -q "does not filter it" err-DOUTPUT || fail "the warning was not meant"
	# Three calls in each of the 1,234 steps of its two workloads.
	"$PERF_BPF" script -i data-DOUTPUT >script
	assert_equal "$(grep -c "counted.*__bpf_stdout__\|counted.*bpf-output" script)" 7404
}

run_tests
