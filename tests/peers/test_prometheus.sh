#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Prometheus itself scrapes perf-bpf run --openmetrics: what it then answers to
# queries is the workload's own count. The package is unpacked and not
# installed: that would start a service.
. "$(dirname "$0")/../tap.sh"

# Prints the folder of prometheus and promtool.
find_prometheus() {
	if command -v prometheus >/dev/null && command -v promtool >/dev/null; then
		dirname "$(command -v prometheus)"
		return
	fi
	(apt-get download prometheus && dpkg -x prometheus_*.deb unpacked) >fetched 2>&1 || return 0
	[ ! -x unpacked/usr/bin/prometheus ] || echo "$PWD/unpacked/usr/bin"
}

wait_for() {
	for _ in $(seq 600); do
		"$@" && return 0
		sleep 0.1
	done
	fail "in vain: $*"
}

# The value of a query, or nothing.
query() {
	python3 - "$port" "$1" <<-'END'
		import json, sys, urllib.parse, urllib.request
		opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
		url = f"http://127.0.0.1:{sys.argv[1]}/api/v1/query?" + urllib.parse.urlencode({"query": sys.argv[2]})
		try:
		    with opener.open(url, timeout=10) as answer:
		        print(*[r["value"][1] for r in json.load(answer)["data"]["result"]])
		except OSError:
		    pass
	END
}

query_is() {
	[ "$(query "$1")" = "$2" ]
}

test_prometheus_scrapes_it() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	tools=$(find_prometheus)
	[ -n "$tools" ] || skip "prometheus cannot be had: $(tail -1 fetched)"
	printf '#include <stdlib.h>\n#include <sys/stat.h>\nint main(int n, char **v) { while (--n) umask(atoi(v[n])); }\n' \
		>pbt_prom.c
	gcc -O1 -o pbt_prom pbt_prom.c
	mkfifo go end # two: what is read from the first must not be its end once more
	"$PERF_BPF" run "$SRC/tests/cmd/run.bpf.c" --comm pbt_prom --openmetrics 127.0.0.1:0 \
		-- sh -c './pbt_prom 0 1 2 9 10; read x <go; ./pbt_prom 49 50 511 1 1; read x <end' >out 2>err &
	run=$!
	wait_for grep -q 'metrics are at' err
	address=$(sed -n 's,.*metrics are at http://\(.*\)/metrics$,\1,p' err)
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	cat >prometheus.yml <<-END
		global: {scrape_interval: 1s}
		scrape_configs:
		  - job_name: perf_bpf
		    static_configs: [{targets: ["$address"]}]
	END
	"$tools/promtool" check config prometheus.yml >checked || { cat checked; fail "the configuration"; }
	"$tools/prometheus" --config.file=prometheus.yml --storage.tsdb.path="$PWD/data" \
		--web.listen-address=127.0.0.1:"$port" >log 2>&1 &
	server=$!
	trap 'kill $server $run 2>/dev/null || true' EXIT
	curl -s --noproxy '*' "http://$address/metrics" | "$tools/promtool" check metrics >lint 2>&1 ||
		{ cat lint; fail "promtool check metrics"; }
	wait_for query_is 'perf_bpf_run_calls_total' 5
	query_is 'up{job="perf_bpf"}' 1 || fail "the target is not up"
	query_is 'perf_bpf_run_by_log2_mask_bucket{le="3.0"}' 3 || fail "a bucket: $(query perf_bpf_run_by_log2_mask_bucket)"
	query_is 'sum(perf_bpf_run_by_key_calls)' 5 || fail "the table"
	echo >go
	wait_for query_is 'perf_bpf_run_calls_total' 10
	query_is 'perf_bpf_run_by_ten_mask_bucket{le="+Inf"}' 10 || fail "a histogram's last bucket"
	query_is 'perf_bpf_run_by_parity_mask_bucket{le="+Inf",key="PBT_ODD"}' 6 || fail "a histogram by key"
	query_is 'histogram_quantile(0.5, perf_bpf_run_by_ten_mask_bucket)' 7.5 ||
		fail "the median: $(query 'histogram_quantile(0.5, perf_bpf_run_by_ten_mask_bucket)')"
	# what it says of the scrapes
	! grep -iE 'level=(warn|error).*scrape' log || fail "it complains"
	python3 -c "import sys, urllib.request
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
sys.stdout.buffer.write(opener.open('http://$address/metrics', timeout=30).read())" >scraped
	"$tools/promtool" check metrics <scraped >lint 2>&1 || true
	sed 's/^/# lint: /' lint
	! grep -qi 'error' lint || fail "promtool"
	echo >end
	wait $run || fail "the run"
	kill $server
	wait $server || true
	trap - EXIT
}

run_tests
