#!/usr/bin/env bash
# The lines of perf-bpf-oneliners(7): each is a program, and runs if this kernel has its events.
. "$(dirname "$0")/../tap.sh"

# Each of them as a line of ./lines.
read_page() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	sed -n '/^perf-bpf run /,/^$\|^\.Ed/p' "$SRC/man/perf-bpf-oneliners.7" | sed 's/\\e/\\/g' |
		awk '/^perf-bpf run / { if (line) print line; line = "" } /^\.Ed/ { next } NF { line = line (line ? " " : "") $0 } END { print line }' >lines
	[ "$(wc -l <lines)" = 11 ] || { cat lines; fail "the page has $(wc -l <lines) lines"; }
}

test_each_line_becomes_a_c_file() {
	read_page
	while read -r line; do
		text=${line#*\'} text=${text%\'*}
		"$PERF_BPF" run --source="$text" >out 2>err || { cat err; fail "$text"; }
		assert_contains out 'SEC("'
	done <lines
}

test_each_line_runs() {
	read_page
	while read -r line; do
		case $line in
		*kprobe:* | *kretprobe:*) has attach.kprobe || continue ;;
		*block:*) [ -d /sys/kernel/tracing/events/block/block_rq_issue ] || continue ;;
		esac
		line=${line#perf-bpf run} line=${line/--duration 5s/} line=${line/-p 1 /-p $$ }
		eval '"$PERF_BPF" run '"$line"' -- sh -c "cat /etc/hostname; sleep 0.1"' >out 2>err ||
			{ cat err; fail "$line"; }
		echo "$line" >>ran
	done <lines
	[ "$(wc -l <ran)" -ge 7 ] || { cat ran; fail "only $(wc -l <ran) lines ran"; }
}

run_tests
