# SPDX-License-Identifier: BSD-2-Clause
# What the tests of programs as text share. A script sources this after workload.sh.

make_workload() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	workload_as pbt_line
}

# run TEXT OPTION... -- COMMAND...: its maps go to ./json.
run() {
	"$PERF_BPF" run --comm pbt_line "$@" >json 2>err || { cat err; fail "perf-bpf run '$1' fails"; }
	[ ! -s err ] || { cat err; fail "perf-bpf run '$1' warns"; }
}

# holds CODE: m[MAP] is the map's last line of ./json, events(MAP) are its events.
holds() {
	python3 - "$1" <<-'END' || fail "the numbers are wrong"
		import json, sys
		m, seen = {}, {}
		for line in (json.loads(l) for l in open("json") if l.startswith("{")):
		    if line["kind"] == "event":
		        seen.setdefault(line["map"], []).append(line["event"])
		    else:
		        m[line["map"]] = line
		def events(name):
		    return seen[name]
		def rows(name, *columns):
		    return sorted(tuple(r[c] for c in columns) for r in m[name]["rows"])
		def slots(hist):
		    return [(b["low"], b["high"], b["count"]) for b in hist["buckets"] if b["count"]]
		try:
		    exec(sys.argv[1])
		except (AssertionError, KeyError):
		    print(open("json").read())
		    raise
	END
}
