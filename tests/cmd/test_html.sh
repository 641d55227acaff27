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
		assert data["page"]["command"] == "./pbt_html 1"
		assert data["page"]["host"] == os.uname().nodename
		assert data["page"]["kernel"] == os.uname().release
		assert not re.search(r'(src|href)="|https?://(?!www.w3.org/2000/svg)', page.replace(data["page"]["title"], ""))
		assert [f for f in os.listdir(".") if f.startswith("page.html")] == ["page.html"]
	END
	expect_status 1 "$PERF_BPF" run "$SRC/tests/cmd/run.bpf.c" --html no/such/folder/page.html -- true
	assert_contains err "cannot write 'no/such/folder/page.html': No such file or directory"
}

run_tests
