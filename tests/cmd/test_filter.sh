#!/usr/bin/env bash
# Which samples script and report select: as many as perf does, and nothing by a wrong value.
. "$(dirname "$0")/../tap.sh"
RECORDINGS=selected
. "$(dirname "$0")/../golden/golden.sh"

# all OPTION...: the fields that tell samples apart
all() {
	perf_text script -G -i a -F comm,pid,tid,cpu,time,event "$@"
}

mine() {
	golden script -G -i a -F comm,pid,tid,cpu,time,event "$@" 2>mine.err </dev/null
}

# same OPTION...: script prints the same samples as perf script, some but not all
same() {
	local n
	all "$@" >theirs || true
	mine "$@" >mine || fail "script $*: $(cat mine.err)"
	cmp -s theirs mine || {
		diff theirs mine | head -5 | sed 's/^/# /'
		fail "script $*: $(wc -l <mine) samples, perf has $(wc -l <theirs)"
	}
	n=$(wc -l <mine)
	[ "$n" -gt 0 ] || fail "script $*: nothing is selected"
	[ "$n" -lt "$(all | wc -l)" ] || fail "script $*: everything is selected"
}

# same_report OPTION...: the same totals and the same shares
same_report() {
	perf_text report --stdio -g none -s comm,dso,sym -i a "$@" |
		sed '/^# (.*)$/,$d; /^#$/d' >theirs
	golden report -g none -s comm,dso,sym -i a "$@" 2>mine.err </dev/null |
		sed '/^#$/d' >mine
	[ "$(grep -vc '^#\|^$' mine)" -gt 0 ] || fail "report $*: no rows: $(cat mine.err)"
	cmp -s theirs mine || {
		diff theirs mine | head -5 | sed 's/^/# /'
		fail "report $*: differs from perf report"
	}
}

# value N FIELD: of the N-th sample, by perf
value() {
	perf_text script -G -i a -F "$2" | sed -n "$1p" | tr -d ' :'
}

test_threads() {
	local pid tid
	pid=$(all -c rbpf_twin | head -n 1 | awk '{ print $2 }' | cut -d/ -f1)
	for opts in "-c rbpf_copy" "-c rbpf_work,rbpf_twin" "--comms rbpf_other"; do
		same $opts
		same_report $opts
	done
	# With pid as a key: perf 6.1 counts other processes in rows that they share.
	for opts in "--pid $pid" "--tid $pid" "--pid $pid -c rbpf_twin"; do
		same $opts
		same_report $opts -s pid,comm,dso,sym
	done
}

test_cpus() {
	same -C 0
	same --cpu 1
	same_report -C 0-1
	same_report --cpu 0,1
}

test_spans_of_time() {
	local n from to
	n=$(all | wc -l)
	from=$(value $((n / 3)) time)
	to=$(value $((n * 2 / 3)) time)
	for span in "$from,$to" "$from," ",$to" 10% 10%/2 10%/10 33%/3 '0%-10%' \
		'10%-20%,30%-40%' '10%/1,10%/3' '90%-100%' 7%/14 12.5%/3; do
		# where the workload had to wait, a share may have no samples
		if [ -z "$(all --time "$span")" ]; then
			[ -z "$(mine --time "$span")" ] || fail "--time $span: perf has no samples"
			continue
		fi
		same --time "$span"
		same_report --time "$span"
	done
	for i in 1 2 3 4 5 6 7 8 9 10; do
		mine --time 10%/$i
	done | sort >parts
	all | sort | cmp - parts || fail "the ten tenths are not the recording"
	same --time "$from,$from $to,"
}

# A recording whose header does not say when it starts: perf refuses it, here the samples say it.
test_shares_without_a_header() {
	perf_text script -G --ns -i a -F time | tr -d ' :.' >times
	python3 - "$FILES/a" <<-'END' || fail "the header's times were not found"
		import struct, sys
		data = open(sys.argv[1], "rb").read()
		times = [int(line) for line in open("times")]
		pair = struct.pack("<QQ", min(times), max(times))
		if data.count(pair) != 1:
		    sys.exit(1)
		open("b.data", "wb").write(data.replace(pair, bytes(16)))
	END
	for i in 1 2 3 4 5; do
		golden script -i "$PWD/b.data" --time 20%/$i >part
		golden script -i a --time 20%/$i >whole
		cmp whole part || fail "the part $i of 5 is another"
		cat part >>parts
	done
	[ -s parts ] || fail "all parts are empty"
}

test_pipe_has_no_shares() {
	expect_status 1 golden script -i - --time 10% <"$FILES/pipe"
	assert_contains err "the start and end of a recording in a pipe are not known"
}

test_symbols_and_dsos() {
	local address sym
	address=0x$(perf_text script -G -i a -F ip |
		sed '/^ *$/d' | sort | uniq -c | sort -rn | awk 'NR == 1 { print $2 }')
	sym=$(perf_text script -G -i a -F ip,sym |
		awk '$2 ~ /^[a-z_]+$/ { print $2 }' | sort | uniq -c | sort -rn | awk 'NR == 1 { print $2 }')
	for opts in "-S $address" "-S $sym" "--symbols $sym,nosuch,$address"; do
		same $opts
		same_report $opts
	done
	# from an address on: the next one that has samples is in the range, or just not
	local n before=0 next
	next=0x$(perf_text script -G -i a -F ip | awk 'NF { print $1 }' | sort -u | awk -v at="${address#0x}" '($1 "") > (at "") { print $1; exit }')
	n=$((next - address))
	[ $n -gt 1 ] || fail "there is no sample behind $address"
	for n in 1 $((n - 1)) $n $((n + 1)) 4096 65536 8388608; do
		same -S "$address" --addr-range $n
		golden script -G -i a -S "$address" --addr-range $n >out
		[ "$(wc -l <out)" -ge $before ] || fail "--addr-range $n selects fewer"
		before=$(wc -l <out)
	done
	same -S "nosuch,${address%???}000" --addr-range 4096
	same -S "$sym,$address" --addr-range 8
	golden script -G -i a -S "$address" >out
	[ $before -gt "$(wc -l <out)" ] || fail "--addr-range selects no more than the address"
	same_report -d '[kernel.kallsyms]'
	same_report --dsos rbpf_twin,nosuch
	# perf script has no --dsos: it selects what report counts
	golden script --json -G -i a --dsos rbpf_twin >out
	assert_equal "$(grep '"type":"sample"' out | sed 's,.*\("dso":"[^"]*"\).*,\1,' | sort -u)" '"dso":"/srv/rbpf_twin"'
}

# refused MESSAGE OPTION...: alike by both, as a wrong command line
refused() {
	local message=$1
	shift
	for command in script report; do
		expect_status 2 golden $command -i a "$@"
		assert_contains err "$message"
		[ ! -s out ] || fail "$command $*: printed something"
	done
}

# perf script switches by the samples that it shows, perf report by all of them.
test_switching_events() {
	local on="--switch-on sched:sched_process_fork" off="--switch-off sched:sched_process_exec"
	local write=syscalls:sys_enter_write
	for opts in "$on" "$on $off --show-on-off-events" "$on $off -C 0" \
		"--switch-on $write --switch-off $write" "--switch-on $write -c rbpf_copy" "$off"; do
		same $opts
		same_report $opts
	done
	mine --show-on-off-events | cmp - <(all) || fail "--show-on-off-events alone selects"
	refused "--switch-on: unknown event 'sched:sched_process_frok'" \
		--switch-on sched:sched_process_frok
	assert_contains err "did you mean 'sched:sched_process_fork'?"
	refused "--switch-off: unknown event ''" --switch-off ''
	expect_status 2 golden script -i - --switch-on nothing <"$FILES/a"
}

# shown_samples OPTION...: the samples of each row of report, by their only key
shown_samples() {
	golden report --no-children -g none -F sample,"$1" -s "$1" -i a "${@:2}" \
		2>/dev/null </dev/null |
		awk '/^ +[0-9]/ { n[$2] += $1 } END { for (k in n) print k, n[k] }' | sort
}

# A row counts the samples that the filter shows, whichever its first sample was. perf 6.1 counts
# all samples of the row, or none; the model is what perf script says of each sample.
test_rows_count_what_is_shown() {
	local sym
	perf_text script -G -i a -F comm,ip,sym,dso |
		sed '/^ *$/d; s,(.*/\([^/]*)\)$,(\1,' >samples
	awk '$NF == "([kernel.kallsyms])" { n[$1]++ } END { for (k in n) print k, n[k] }' samples |
		sort >want
	shown_samples comm -d '[kernel.kallsyms]' >mine
	[ -s want ] || fail "no sample is in the kernel"
	diff want mine | sed 's/^/# /'
	cmp -s want mine || fail "-s comm -d [kernel.kallsyms]: other samples are counted"
	awk '$1 == "rbpf_twin" { gsub(/[()]/, "", $NF); n[$NF]++ } END { for (k in n) print k, n[k] }' \
		samples | sort >want
	shown_samples dso -c rbpf_twin >mine
	diff want mine | sed 's/^/# /'
	cmp -s want mine || fail "-s dso -c rbpf_twin: other samples are counted"
	sym=$(awk 'NF == 4 && $3 ~ /^[a-z_]+$/ { print $3 }' samples | sort | uniq -c | sort -rn |
		awk 'NR == 1 { print $2 }')
	awk -v sym="$sym" '$3 == sym { n[$1]++ } END { for (k in n) print k, n[k] }' samples |
		sort >want
	shown_samples comm -S "$sym" >mine
	diff want mine | sed 's/^/# /'
	cmp -s want mine || fail "-s comm -S $sym: other samples are counted"
}

test_conditions() {
	perf_text script -G -i a -F comm,pid,tid,cpu,time,event,trace >text
	golden script --json -i a 2>/dev/null >json
	# A condition against the same by Python, over all that the samples hold.
	cat >check.py <<-'END'
		import json, subprocess, sys
		perf_bpf, file = sys.argv[1:]
		samples = [s for s in map(json.loads, open("json", encoding="utf-8", errors="surrogateescape"))
		           if s["type"] == "sample"]
		def f(s, name, default=None):
		    return s.get("fields", {}).get(name, default)
		cases = [
		    ("count > 4096 && comm == \"rbpf_copy\"", lambda s: f(s, "count", 0) > 4096 and s["comm"] == "rbpf_copy"),
		    ("count == 512", lambda s: f(s, "count") == 512),
		    ("count == 0x200 || ret == 8192", lambda s: f(s, "count") == 512 or f(s, "ret") == 8192),
		    ("!(count == 512)", lambda s: f(s, "count") is not None and f(s, "count") != 512),
		    ("ret < 0", lambda s: f(s, "ret") is not None and f(s, "ret") < 0),
		    ("ret >= 0", lambda s: f(s, "ret") is not None and f(s, "ret") >= 0),
		    ("id == 1 && args[2] >= 512", lambda s: s["event"] == "raw_syscalls:sys_enter" and
		        f(s, "id") == 1 and f(s, "args")[2] >= 512),
		    ("id & 1", lambda s: f(s, "id") is not None and f(s, "id") & 1),
		    ("filename ~ \"*/rbpf_twin\"", lambda s: f(s, "filename", "").endswith("/rbpf_twin")),
		    ("child_comm == parent_comm", lambda s: f(s, "child_comm") is not None and
		        f(s, "child_comm") == f(s, "parent_comm")),
		    ("sample.pid != sample.tid || event ~ \"sched:*\"", lambda s: s["pid"] != s["tid"] or
		        s["event"].startswith("sched:")),
		    ("event == \"cpu-clock\" && cpu == 0", lambda s: s["event"] == "cpu-clock" and s["cpu"] == 0),
		    ("event == 'page-faults' && dso == 'rbpf_twin'", lambda s: s["event"] == "page-faults" and
		        s.get("dso", "").split("/")[-1] == "rbpf_twin"),
		]
		for text, want in cases:
		    for report in (False, True):
		        n = sum(1 for s in samples if want(s))
		        if report:
		            out = subprocess.run([perf_bpf, "report", "-g", "none", "-s", "cpu", "-n", "-t", ";", "-i", file,
		                                  "--where", text], capture_output=True, text=True)
		            got = sum(int(l.split(";")[1]) for l in out.stdout.split("\n") if l and l[0] != "#")
		        else:
		            out = subprocess.run([perf_bpf, "script", "-G", "-F", "time", "-i", file, "--where", text],
		                                 capture_output=True, text=True)
		            got = out.stdout.count("\n")
		        if out.returncode or got != n:
		            sys.exit(f"{text}: {got} instead of {n} (report: {report}): {out.stderr}")
		    if not 0 < n < len(samples) and text != "ret < 0" and "!= sample.tid" not in text:
		        sys.exit(f"{text}: {n} of {len(samples)} show nothing")
	END
	python3 check.py "$PERF_BPF" "$FILES/a" || fail "a condition selects other samples"
}

# In a pipe the events and their formats come after the start.
test_conditions_on_a_pipe() {
	golden script -i - <"$FILES/pipe" >every
	golden script -i - --where 'count == 512' <"$FILES/pipe" >some
	assert_equal "$(wc -l <some)" "$(grep -c 'count: 0x00000200' every)"
	[ -s some ] || fail "nothing was selected"
	expect_status 2 golden script -i - --where 'conut == 512' <"$FILES/pipe"
	assert_contains err "no event of the recording has a field 'conut'"
	expect_status 2 golden report -i - --where 'conut == 512' <"$FILES/pipe"
}

test_wrong_values_are_refused_alike() {
	refused "--pid: 'foo' is not a number" --pid foo
	refused "--pid: '-1' is not a number" --pid=-1
	refused "--tid: the list is empty" --tid ''
	refused "--tid: '1,,2' has an empty element" --tid 1,,2
	refused "--comms: the list is empty" -c ''
	refused "--symbols: the list is empty" -S ''
	refused "--symbols: '0xnothing' is not an address" -S 0xnothing
	refused "--dsos: the list is empty" --dsos ''
	for opts in "--addr-range 10" "-S main --addr-range 10"; do
		expect_status 2 golden script -i a $opts
		assert_contains err "--addr-range needs an address in --symbols"
	done
	for n in 0 -1 x 0x1 4294967296; do
		expect_status 2 golden script -i a -S 0x1 --addr-range=$n
		assert_contains err "--addr-range: '$n' is not a number of bytes"
	done
	refused "--cpu: '3-1' ends before it starts" --cpu 3-1
	refused "--cpu: 'nine' is not a CPU" -C nine
	refused "--cpu: '65536' is not a CPU" -C 65536
	refused "--time: '5' is not a time span" --time 5
	refused "--time: '9,8' ends before it starts" --time 9,8
	refused "--time: '10%/11' is not a time span" --time 10%/11
	refused "--time: 'yesterday,' is not a time span" --time yesterday,
	refused "--max-stack: '0' is not a number of at least 1" --max-stack 0
	refused "\___ expected a value here" --where 'count >'
	refused "no event of the recording has a field 'conut'" --where 'conut > 3'
	assert_contains err "did you mean 'count'?"
	refused "field 'comm' is a string but is used as a number" --where 'comm > 3'
	refused "field 'args' is an array: write args[0]" --where 'args == 3'
	refused "field 'count' is not an array" --where 'count[1] == 3'
}

test_what_the_recording_lacks_is_said() {
	for command in script report; do
		expect_status 1 golden $command -i plain -C 0
		assert_contains err "samples of 'page-faults' have no CPU"
	done
	# Without timestamps --time selected everything.
	python3 - "$FILES/plain" <<-'END' || fail "the recording could not be changed"
		import struct, sys
		data = bytearray(open(sys.argv[1], "rb").read())
		attr_size, = struct.unpack_from("<Q", data, 16)
		offset, size = struct.unpack_from("<QQ", data, 24)
		for at in range(offset, offset + size, attr_size):
		    sample_type, = struct.unpack_from("<Q", data, at + 24)
		    struct.pack_into("<Q", data, at + 24, sample_type & ~4)
		open("timeless.data", "wb").write(data)
	END
	for command in script report; do
		expect_status 1 golden $command -i "$PWD/timeless.data" --time 1,2
		assert_contains err "--time: samples of 'page-faults' have no timestamps"
	done
}

run_tests
