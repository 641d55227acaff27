#!/usr/bin/env bash
# report --json, --csv, --folded, --pprof and --html: the sums of --stdio, in other forms.
. "$(dirname "$0")/../tap.sh"

. "$(dirname "$0")/../golden/golden.sh"
# Three events with call chains; cpu-clock counts nanoseconds.
DATA=(--kallsyms "$FILES/kallsyms" -i "$FILES/multi")

report() {
	"$PERF_BPF" report "${DATA[@]}" "$@" </dev/null 2>report.err ||
		fail "report $*: ended with $?: $(cat report.err)"
}

cat >"$FILES/sums.py" <<'END'
"""sums.py FOLDER: the sums of each format, by event: (samples, period, {function: self period})."""
import csv, collections, json, re, sys

def stdio():
    out, event = {}, None
    for line in open("stdio"):
        line = line.rstrip("\n")
        if line.startswith("# Samples:"):
            event = re.search("of event '(.*)'", line).group(1)
            out[event] = [0, 0, collections.Counter()]
        elif "|Symbol" in line:
            at = [title.strip() for title in line.split("|")].index("Symbol")
        elif line and not line.startswith("#"):
            samples, period, symbol = (line.split("|")[i] for i in (1, 2, at))
            out[event][0] += int(samples)
            out[event][1] += int(period)
            out[event][2][symbol.strip()[4:]] += int(period)
    return out

def of_json():
    tables, stacks = {}, {}
    for r in map(json.loads, open("json")):
        assert r["schema"] == "perf-bpf-report/1", r["schema"]
        assert r["unit"] == ("ns" if r["event"].startswith("cpu-clock") else "events"), r["unit"]
        if r["kind"] == "table":
            share = 100 * r["shown_period"] / r["period"]
            assert abs(sum(row["overhead_percent"] for row in r["rows"]) - share) < 0.05
            assert sum(row["sample"] for row in r["rows"]) == r["shown_samples"]
            assert sum(row["overhead"] for row in r["rows"]) == r["shown_period"]
            functions = collections.Counter()
            for row in r["rows"]:
                functions[row["symbol"]] += row["overhead"]
            tables[r["event"]] = [r["shown_samples"], r["shown_period"], functions]
        else:
            functions = collections.Counter()
            for s in r["stacks"]:
                f = s["frames"][0]
                functions[f["name"] if f["name"] != "[unknown]" else hex(f["offset"])] += s["count"]
            assert sum(s["count"] for s in r["stacks"]) == r["total"]
            stacks[r["event"]] = [sum(s["samples"] for s in r["stacks"]), r["total"], functions]
    return tables, stacks

def of_csv():
    tables, stacks = {}, {}
    for block in open("csv", newline="").read().split("\r\n\r\n"):
        for row in csv.DictReader(block.splitlines()):
            if "frames" in row:
                out, period, samples = stacks, row["count"], row["samples"]
                name = row["frames"].split(";")[-1]
            else:
                out, period, samples, name = tables, row["overhead"], row["sample"], row["symbol"]
            sums = out.setdefault(row["event"], [0, 0, collections.Counter()])
            sums[0] += int(samples)
            sums[1] += int(period)
            sums[2][name] += int(period)
    return tables, stacks

def folded():
    out = collections.Counter()
    for line in open("folded"):
        path, value = line.rstrip("\n").rsplit(" ", 1)
        out[path.split(";")[0]] += int(value)
    return out

def pprof():
    text = open("pprof").read()
    strings = [json.loads('"' + re.sub(r"\\([0-7]{3})", lambda m: "\\u%04x" % int(m[1], 8), s).replace("\\'", "'") + '"')
               for s in re.findall(r'^string_table: "(.*)"$', text, re.M)]
    types = [(strings[int(t)], strings[int(u)]) for t, u in
             re.findall(r"^sample_type \{\n  type: (\d+)\n  unit: (\d+)\n\}", text, re.M)]
    sums = [0] * len(types)
    for block in re.findall(r"^sample \{\n(.*?)^\}", text, re.M | re.S):
        values = [int(v) for v in re.findall(r"^  value: (\d+)", block, re.M)]
        assert len(values) == len(types), (values, types)
        sums = [a + b for a, b in zip(sums, values)]
    return {name: (unit, total) for (name, unit), total in zip(types, sums)}

want = stdio()
assert len(want) == 3 and all(v[0] for v in want.values()), {k: v[:2] for k, v in want.items()}
named = {e: [s, p, {k: v for k, v in f.items() if v}] for e, (s, p, f) in want.items()}
for what, got in zip(("json table", "json stacks", "csv table", "csv stacks"), of_json() + of_csv()):
    for event, (samples, period, functions) in named.items():
        assert got[event][:2] == [samples, period], (what, event, got[event][:2], samples, period)
    if "table" in what:
        for event in named:
            # addresses without a name depend on the keys
            mine = {k: v for k, v in got[event][2].items() if v and not k.startswith("0x")}
            theirs = {k: v for k, v in named[event][2].items() if k[0] != "0"}
            assert mine == theirs, (what, event)
got = folded()
assert got == {e: v[1] for e, v in want.items()}, got
if len(sys.argv) > 1:
    got = pprof()
    for event, (samples, period, _) in want.items():
        assert got[event] == ("nanoseconds" if event.startswith("cpu-clock") else "count", period), got
        assert got[event + " samples"] == ("count", samples), got
END

test_the_sums_are_those_of_stdio() {
	local protoc=""
	for options in "" "--no-children" "-c rbpf_twin" "-s comm,symbol,cpu --no-children" "--max-stack 4"; do
		# with a separator that no name has
		report $options -F overhead,sample,period,comm,dso,symbol -g none -t '|' >stdio
		# shellcheck disable=SC2086
		report $options --json --pprof p.gz --html page.html >json
		report $options --csv >csv
		report $options --folded >folded
		if command -v protoc >/dev/null; then
			protoc=pprof
			printf '%s\n' 'syntax = "proto3";' \
				'message Profile { repeated ValueType sample_type = 1; repeated Sample sample = 2;' \
				'repeated string string_table = 6; }' \
				'message ValueType { int64 type = 1; int64 unit = 2; }' \
				'message Sample { repeated uint64 location_id = 1; repeated int64 value = 2; }' >p.proto
			zcat p.gz | protoc --decode=Profile p.proto >pprof
		fi
		python3 "$FILES/sums.py" $protoc 2>sums.err || fail "report $options: $(tail -n 3 sums.err)"
	done
}

test_the_page_has_the_same_results() {
	touch "$FILES/multi" # when it was recorded
	report --json --html page.html >json
	python3 - <<-'END'
		import json, re
		page = open("page.html").read()
		data, = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
		data = json.loads(data)
		assert data["results"] == [json.loads(line) for line in open("json")]
		assert "rbpf_work" in data["page"]["command"], data["page"]
		assert data["page"]["time_ns"] and data["page"]["span_ns"], data["page"]
	END
	report --html page2.html >text
	cmp -s page.html page2.html || fail "the page depends on what is printed beside it"
	grep -q '^# Samples' text || fail "--html takes the place of the text"
}

test_a_limit_leaves_rows_out() {
	report --json --percent-limit 5 --no-children >json
	python3 - <<-'END'
		import json
		for r in map(json.loads, open("json")):
		    if r["kind"] == "table":
		        assert r["left_out"] and all(row["overhead_percent"] >= 4.999 for row in r["rows"]), r
	END
}

test_one_format_at_a_time() {
	expect_status 2 "$PERF_BPF" report "${DATA[@]}" --json --csv
	assert_contains err "choose one of --json, --csv and --folded"
	for options in "--json --header" "--csv -t |" "--folded -w 10,20"; do
		# shellcheck disable=SC2086
		expect_status 2 "$PERF_BPF" report "${DATA[@]}" $options
		assert_contains err "cannot be used with --json, --csv or --folded"
		[ ! -s out ] || fail "$options: printed: $(head -n 1 out)"
	done
	for widths in x 10,x -1 10,70000 "10 20"; do
		expect_status 2 "$PERF_BPF" report "${DATA[@]}" -w "$widths"
		assert_contains err "'$widths' is not a list of widths"
	done
	expect_status 1 "$PERF_BPF" report "${DATA[@]}" --html no/such/folder/page.html
	assert_contains err "cannot write 'no/such/folder/page.html'"
	expect_status 1 "$PERF_BPF" report "${DATA[@]}" --pprof no/such/folder/p
	[ ! -s out ] || fail "the text was printed before"
}

run_tests
