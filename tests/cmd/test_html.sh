#!/usr/bin/env bash
# The page of perf-bpf run --html.
. "$(dirname "$0")/../tap.sh"

# The numbers, the mouse, the keyboard, the widths and the colours. The sanitizers
# see the page's writing in the other test; the browser is the same one.
test_pages_in_a_browser() {
	[ -z "${SANITIZED:-}" ] || skip "the browser runs the same page in the build without sanitizers"
	for kind in hostile nice empty; do
		"$BUILD/tests/unit/write-page" $kind.html $kind >$kind.json
	done
	python3 "$SRC/tests/cmd/html_browser.py" "$PWD" >out
	! grep -q ^SKIP out || skip "$(sed 's/^SKIP //' out)"
	[ -s flame.png ] || fail "no screenshot"
}

# compared FILE SHARE...: a recording of four commands with these periods
compared() {
	local file=$1 n=0 name
	shift
	{
		echo 'event 0x107 0 cycles:u'
		for name in grows shrinks same 'gone</script><b>'; do
			n=$((n + 1))
			echo "comm 500000$n $name"
			[ "${!n}" = 0 ] || echo "sample 500000$n $n 0x1234 period=${!n}"
		done
	} | "$BUILD/tests/unit/write-samples" "$file"
}

test_compared_stacks() {
	compared old.data 10 30 40 20
	compared new.data 40 20 40 0
	"$PERF_BPF" diff -s comm --html page.html old.data new.data >got
	assert_contains got "Baseline"
	python3 - <<-'END'
		import json, re
		page = open("page.html").read()
		data, = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
		stacks, = [r for r in json.loads(data)["results"] if r["kind"] == "stacks"]
		counts = [{s["label"]: s["count"] for s in stacks[key]} for key in ("base_stacks", "stacks")]
		assert counts == [{"grows": 10, "shrinks": 30, "same": 40, "gone</script><b>": 20},
		                  {"grows": 40, "shrinks": 20, "same": 40}], counts
		assert stacks["title"] == "new.data against old.data", stacks
		# shares, whatever the event counts
		table, = [r for r in json.loads(data)["results"] if r["kind"] == "table"]
		units = {c["name"]: c.get("unit") for c in table["columns"]}
		assert units["baseline"] == units["delta"] == "%", units
	END
	"$PERF_BPF" diff --json old.data new.data >without
	"$PERF_BPF" diff --json --html other.html old.data new.data >with
	cmp without with || fail "the table is another one with --html"
	expect_status 1 "$PERF_BPF" diff --html no/such/folder/page.html old.data new.data
	assert_contains err "cannot write 'no/such/folder/page.html': No such file or directory"
	[ -z "${SANITIZED:-}" ] || return 0 # the browser, as above
	python3 "$SRC/tests/cmd/compared_browser.py" "$PWD" >out
	! grep -q ^SKIP out || skip "$(sed 's/^SKIP //' out)"
}

# The event that record adds for itself has no samples, and so no place on the page.
test_compared_without_empty_events() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	local i
	for i in 1 2; do
		"$PERF_BPF" record -q -a -e cpu-clock -c 100000 -o $i.data seq 300000 >numbers
	done
	"$PERF_BPF" script -i 1.data --header-only >out
	grep -q 'dummy' out || skip "there is no such event"
	"$PERF_BPF" diff --html page.html 1.data 2.data >got
	python3 - <<-'END'
		import json, re
		page = open("page.html").read()
		data, = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
		names = [r.get("event", r.get("title")) for r in json.loads(data)["results"]]
		assert names[0] == "cpu-clock" and not [n for n in names if "dummy" in n], names
	END
}

# The flame graph is first, titles are words, and a phone shows the names.
test_the_page_of_a_profile() {
	[ -z "${SANITIZED:-}" ] || skip "the browser runs the same page in the build without sanitizers"
	{
		echo 'event 0x127 0 cycles:u'
		for n in 1 2 3; do
			echo "comm 500000$n pbt_page_$n"
			echo "sample 500000$n $n 0x1234 period=$n chain=0x1234,0x5678"
		done
	} | "$BUILD/tests/unit/write-samples" data
	"$PERF_BPF" report -i data --stdio --html profile.html >/dev/null
	python3 "$SRC/tests/cmd/profile_browser.py" "$PWD" >out || fail "$(cat out)"
	! grep -q ^SKIP out || skip "$(sed 's/^SKIP //' out)"
}

test_run_writes_a_page() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	printf '#include <sys/stat.h>\nint main(void) { for (int i = 0; i < 30; i++) umask(i); }\n' >pbt_html.c
	gcc -O1 -o pbt_html pbt_html.c
	"$PERF_BPF" run "$SRC/tests/cmd/run.bpf.c" --comm pbt_html --html page.html --json \
		--interval 100ms -- ./pbt_html 1 >out
	python3 - <<-'END'
		import json, os, re
		page = open("page.html").read()
		data, = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
		data = json.loads(data)
		last = [r for r in map(json.loads, open("out")) if r.get("last")]
		for r in data["results"]:  # the page has the empty buckets, too
		    for h in r.get("hists", []):
		        h["buckets"] = [b for b in h["buckets"] if b["count"]]
		assert data["results"] == last, (data["results"], last)
		counts = {r["map"]: r for r in data["results"]}
		assert counts["calls"]["count"] == 30
		assert data["page"]["title"] == "run.bpf.c"
		assert re.fullmatch(r"\S*perf-bpf run \S+ --comm pbt_html --html page.html --json "
		                    r"--interval 100ms -- ./pbt_html 1", data["page"]["command"]), data["page"]
		assert data["page"]["host"] == os.uname().nodename
		assert data["page"]["kernel"] == os.uname().release
		assert not re.search(r'(src|href)="|https?://(?!www.w3.org/2000/svg)', page.replace(data["page"]["title"], ""))
		assert [f for f in os.listdir(".") if f.startswith("page.html")] == ["page.html"]
	END
	expect_status 1 "$PERF_BPF" run "$SRC/tests/cmd/run.bpf.c" --html no/such/folder/page.html -- true
	assert_contains err "cannot write 'no/such/folder/page.html': No such file or directory"
}

run_tests
