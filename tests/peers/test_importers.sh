#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Results of perf-bpf in other people's viewers: pprof-format, a decoder of pprof files, speedscope, a
# page, in a browser, and the Firefox profiler's own importer in its program for the command line.
# (There is none of Perfetto's in a package: test_script_timeline.sh decodes those files.)
. "$(dirname "$0")/../tap.sh"

FILES=$(mktemp -d "${TMPDIR:-/tmp}/importers-of-perf-bpf.XXXXXX")
tests_end() {
	rm -rf "$FILES"
}

# The packages are fetched once.
packages() {
	local cache=${XDG_CACHE_HOME:-$HOME/.cache}/perf-bpf/peers/importers
	# profiler-cli needs a newer Node.js than Debian has
	local wanted="pprof-format@2.3.2 speedscope@1.25.0 @firefox-devtools/profiler-cli@0.10.0"
	wanted+=" node-linux-$(uname -m | sed 's/x86_64/x64/; s/aarch64/arm64/')@24.9.0"
	command -v npm >/dev/null && command -v node >/dev/null || skip "Node.js and npm are not installed"
	if [ "$(cat "$cache/complete" 2>/dev/null)" != "$wanted" ]; then
		mkdir -p "$cache"
		# shellcheck disable=SC2086
		npm install --prefix "$cache" --no-audit --no-fund --ignore-scripts $wanted >log 2>&1 ||
			skip "npm cannot fetch $wanted: $(tail -n 1 log)"
		echo "$wanted" >"$cache/complete"
	fi
	NODE_PATH=$cache/node_modules
	export NODE_PATH
}

# cpu.data: a profile with call chains of many threads; calls.data, switches.data: tracepoints. Some
# threads have names with quotes, markup, control characters and what is not UTF-8.
recordings() {
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	[ -d /sys/kernel/tracing/events ] || mount -t tracefs nodev /sys/kernel/tracing 2>/dev/null || :
	[ -d /sys/kernel/tracing/events ] || skip "tracefs cannot be mounted"
	if [ -e "$FILES/cpu.data" ]; then
		cp "$FILES"/* .
		return
	fi
	cat >work.py <<-'END'
		import ctypes, os, threading, time
		names = [b'</script><b>', b'a"b\\c', b'\x1b[31m\x07\n', b'\xff\xfe\xc3(', b'', b'  %s%n'] * 8
		libc = ctypes.CDLL(None)
		def work(name):
		    libc.prctl(15, name, 0, 0, 0)  # PR_SET_NAME
		    time.sleep(0.001)
		    sum(range(40000))
		    os.stat("/")
		threads = [threading.Thread(target=work, args=(n,)) for n in names]
		for t in threads:
		    t.start()
		for t in threads:
		    t.join()
	END
	"$PERF_BPF" record -q -g -e cpu-clock -c 200000 -o cpu.data -- python3 work.py
	"$PERF_BPF" record -q -g -e raw_syscalls:sys_enter -o calls.data -- python3 work.py
	"$PERF_BPF" record -q -g -e sched:sched_switch -o switches.data -- python3 work.py
	cp ./*.data "$FILES"
}

# The decoder finds all samples, with their periods, functions and thread names.
test_pprof_is_decoded_by_another() {
	packages
	recordings
	cat >sums.js <<-'END'
		const fs = require('fs'), zlib = require('zlib');
		const { Profile } = require('pprof-format');
		const p = Profile.decode(zlib.gunzipSync(fs.readFileSync(process.argv[2])));
		const text = i => p.stringTable.strings[Number(i)];
		const byId = list => new Map(list.map(x => [Number(x.id), x]));
		const locations = byId(p.location), functions = byId(p.function), mappings = byId(p.mapping);
		if (text(0) !== '') throw 'the first string is not empty';
		let period = 0, n = 0;
		const names = new Set();
		for (const s of p.sample) {
		  if (s.value.length !== p.sampleType.length) throw 'a sample has other values';
		  period += Number(s.value[0]);
		  n += Number(s.value[1]);
		  for (const id of s.locationId) {
		    const l = locations.get(Number(id));
		    if (Number(l.mappingId)) {
		      const m = mappings.get(Number(l.mappingId));
		      const inside = l.address >= m.memoryStart && l.address < m.memoryLimit;
		      if (Number(l.address) && !inside) throw 'an address is outside of its mapping';
		    }
		    for (const line of l.line) names.add(text(functions.get(Number(line.functionId)).name));
		  }
		}
		console.log(JSON.stringify({
		  types: p.sampleType.map(t => text(t.type) + '/' + text(t.unit)), period, n,
		  names: [...names].sort()}));
	END
	cat >want.py <<-'END'
		import json, sys
		samples = [l for l in map(json.loads, open(sys.argv[1])) if l["type"] == "sample"]
		got = json.load(open(sys.argv[2]))
		frames = [f for s in samples for f in s.get("chain") or [s]]
		names = {f["sym"] for f in frames if "sym" in f}
		print(len(samples), "samples", len(names), "functions", got["types"])
		assert len(samples) > 20 and got["n"] == len(samples), got["n"]
		assert got["period"] == sum(s["period"] for s in samples), got["period"]
		assert names <= set(got["names"]), names - set(got["names"])
	END
	for name in cpu calls switches; do
		"$PERF_BPF" report -i $name.data --stdio --pprof $name.pb.gz >/dev/null
		"$PERF_BPF" script -i $name.data --json >$name.json
		node sums.js $name.pb.gz >$name.got 2>err || fail "$name: $(cat err)"
		python3 want.py $name.json $name.got || fail "$name differs"
	done
}

# shows NAME FILE TEXT: speedscope's page has loaded the file, and TEXT is on it
shows() {
	local name=$1 file=$2 text=$3
	# as its own program does: the page loads a script that gives it the file
	{
		printf "speedscope.loadFileFromBase64('%s', '" "$name"
		base64 -w0 "$file"
		printf "')\n"
	} >load.js
	timeout 100 chromium --headless --no-sandbox --disable-gpu --allow-file-access-from-files \
		--user-data-dir="$PWD/chromium" --virtual-time-budget=10000 --dump-dom \
		"file://$NODE_PATH/speedscope/dist/release/index.html#localProfilePath=$PWD/load.js" \
		>page 2>chromium.err || fail "chromium: $(tail -n 3 chromium.err)"
	grep -qF "$text" page || fail "$name: the page has no '$text': $(sed 's/<[^>]*>/ /g' page | tail -c 500)"
	! grep -qiE 'something went wrong|unrecognized format' page || fail "$name: $(tail -c 500 page)"
}

test_speedscope_loads_pprof() {
	packages
	command -v chromium >/dev/null || skip "chromium is not installed"
	recordings
	for name in cpu calls; do
		"$PERF_BPF" report -i $name.data --stdio --pprof $name.pb.gz >/dev/null
		shows "$name.pb.gz" $name.pb.gz "<title>$name.pb.gz - speedscope</title>"
	done
}

# It reads what perf script prints, and has the threads in a table.
test_speedscope_loads_what_script_prints() {
	packages
	command -v chromium >/dev/null || skip "chromium is not installed"
	recordings
	"$PERF_BPF" script -i cpu.data >cpu.txt
	shows cpu.txt cpu.txt "python3 tid:"
}

# profiler COMMAND...: of the session of this test
profiler() {
	HOME=$PWD "$NODE_PATH"/node-linux-*/bin/node "$NODE_PATH/@firefox-devtools/profiler-cli/dist/profiler-cli.js" \
		"$@" --session pbt
}

# Its daemon has half a second to start, which a busy machine may not give it; it may still run then.
loads() {
	profiler load "$1" >log 2>&1 && return
	grep -q 'did not become ready' log || fail "$1: $(cat log)"
	profiler stop >/dev/null 2>&1 || kill "$(sed -n 's/.*run "kill \([0-9]*\)".*/\1/p' log)" 2>/dev/null || :
	return 1
}

# Each function has its samples, each thread its name, and each tracepoint its markers.
test_firefox_profiler_loads_profiles() {
	packages
	recordings
	cat >same.py <<-'END'
		import collections, json, sys
		name, path, text = sys.argv[1:]
		want = [l for l in map(json.loads, open(path)) if l["type"] == "sample"]
		items = list(map(json.loads, open(text).read().split("\0")[:-1]))
		threads, markers, functions = items[0], items[1], items[2:]
		# bytes that are not UTF-8 are replaced
		text_of = lambda t: "".join(c for c in t if c.isascii())
		assert threads["totalThreadCount"] == len({s["tid"] for s in want}), threads
		assert {t["tid"] for t in threads["threads"]} == {s["tid"] for s in want}
		names = {s["tid"]: text_of(s["comm"]) for s in want}
		for t in threads["threads"]:
		    assert text_of(t["name"]) in {text_of(s["comm"]) for s in want if s["tid"] == t["tid"]}, t
		if name != "cpu":
		    got = collections.Counter((m["name"], m["data"]["cpu"], m["hasStack"]) for m in markers["markers"])
		    assert got == collections.Counter((s["event"], s["cpu"], bool(s.get("chain"))) for s in want), got
		    sys.exit()
		# the first sample of a thread has none before it that its time could have begun at
		later = [s for i, s in enumerate(want) if s["tid"] in {w["tid"] for w in want[:i]}]
		cpu_ms, got_ms = sum(s["period"] for s in later) / 1e6, sum(t["cpuMs"] for t in threads["threads"])
		assert abs(got_ms - cpu_ms) < 0.01 * cpu_ms, (got_ms, cpu_ms)
		leaf = lambda s: (s["chain"][0] if s.get("chain") else s).get("sym")
		got, total = collections.Counter(), 0
		for f in functions:
		    for r in f["functions"]:
		        got[r["name"]] += r["selfSamples"]
		        total += r["selfSamples"]
		assert total == len(want) > 20, (total, len(want))
		for sym, n in collections.Counter(filter(None, map(leaf, want))).items():
		    assert got[sym] == n, (sym, n, got[sym])
	END
	trap 'profiler stop >log 2>&1 || :' EXIT
	for name in cpu calls switches; do
		"$PERF_BPF" script -i $name.data --firefox $name.profile.json
		"$PERF_BPF" script -i $name.data --json >$name.json
		soon loads $name.profile.json
		{
			profiler thread list --json --limit 0 && printf '\0'
			profiler profile markers --json --limit 0 && printf '\0'
			[ $name != cpu ] || for i in $(seq 0 $(($(python3 -c 'import json; print(len(json.load(open("cpu.profile.json"))["threads"]))') - 1))); do
				profiler thread functions --thread "t-$i" --include-idle --limit 0 --json && printf '\0'
			done
		} >got 2>err || fail "$name: $(cat err)"
		profiler stop >log 2>&1 || :
		python3 same.py $name $name.json got || fail "$name differs"
	done
}

run_tests
