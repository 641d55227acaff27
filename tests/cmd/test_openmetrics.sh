#!/usr/bin/env bash
# perf-bpf run --openmetrics: what a scraper reads against the workload's own count.
. "$(dirname "$0")/../tap.sh"

PROG=$SRC/tests/cmd/run.bpf.c
PROGS=("$PROG")

# Runs them over a workload that counts, says so (the file "counted") and waits for "go".
begin() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	printf '#include <stdlib.h>\n#include <sys/stat.h>\nint main(int n, char **v) { while (--n) umask(atoi(v[n])); }\n' \
		>pbt_scraped.c
	gcc -O1 -o pbt_scraped pbt_scraped.c
	rm -f go counted
	mkfifo go
	"$PERF_BPF" run "${PROGS[@]}" --comm pbt_scraped --openmetrics 127.0.0.1:0 "$@" \
		-- sh -c './pbt_scraped 0 1 2 9 10 49 50 511 1 1; : >counted; read x <go' >out 2>err &
	pid=$!
	has_counted() {
		[ -e counted ] || kill -0 $pid 2>/dev/null || { cat err; fail "it ended"; }
		[ -e counted ]
	}
	soon has_counted
	address=$(sed -n 's,.*metrics are at http://\(.*\)/metrics$,\1,p' err)
	[ -n "$address" ] || { cat err; fail "no address is told"; }
}

# The workload ends, and the run with it.
finish() {
	echo >go
	status=0
	wait $pid || status=$?
	assert_equal $status 0
}

# get FILE ACCEPT [PATH]: the body; its type goes to FILE.type
get() {
	python3 - "$1" "$2" "http://$address${3:-/metrics}" <<-'END'
		import sys, urllib.request
		opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
		request = urllib.request.Request(sys.argv[3], headers={"Accept": sys.argv[2]} if sys.argv[2] else {})
		with opener.open(request, timeout=120) as answer:
		    open(sys.argv[1], "wb").write(answer.read())
		    open(sys.argv[1] + ".type", "w").write(answer.headers["Content-Type"])
	END
}

new='application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1'

test_values_are_the_workloads() {
	begin
	get new.txt "$new"
	get old.txt ''
	get any.txt '*/*'
	finish
	assert_equal "$(cat new.txt.type)" "application/openmetrics-text; version=1.0.0; charset=utf-8"
	assert_equal "$(cat old.txt.type)" "text/plain; version=0.0.4; charset=utf-8"
	assert_equal "$(cat any.txt.type)" "text/plain; version=0.0.4; charset=utf-8"
	for kind in new old; do
		for line in 'perf_bpf_run_calls_total 10' 'perf_bpf_run_by_log2_mask_bucket{le="0.0"} 1' \
			'perf_bpf_run_by_log2_mask_bucket{le="1.0"} 4' 'perf_bpf_run_by_log2_mask_bucket{le="3.0"} 5' \
			'perf_bpf_run_by_log2_mask_bucket{le="15.0"} 7' 'perf_bpf_run_by_log2_mask_bucket{le="+Inf"} 10' \
			'perf_bpf_run_by_ten_mask_bucket{le="9.0"} 6' 'perf_bpf_run_by_ten_mask_bucket{le="19.0"} 7' \
			'perf_bpf_run_by_ten_mask_bucket{le="+Inf"} 10' \
			'perf_bpf_run_by_parity_mask_bucket{key="PBT_EVEN",le="+Inf"} 4' \
			'perf_bpf_run_by_parity_mask_bucket{key="PBT_ODD",le="+Inf"} 6' \
			'perf_bpf_run_heat_mask_bucket{le="+Inf"} 10' 'perf_bpf_run_events_total 10'; do
			assert_contains $kind.txt "$line"
		done
		grep -qE '^perf_bpf_run_by_pid_calls_total\{pid="[0-9]+"\} 10$' $kind.txt ||
			fail "no count by process"
		grep -qE '^perf_bpf_run_by_key_calls\{uid="root\(0\)",parity="PBT_ODD",comm="pbt_scraped"\} 6$' \
			$kind.txt || fail "no count by key"
	done
	assert_equal "$(tail -1 new.txt)" "# EOF"
	! grep -qE '_mask_(sum|count)' new.txt || fail "a sum, or a count without one"
	assert_contains old.txt 'perf_bpf_run_by_log2_mask_count 10'
	! grep -q 'EOF\|UNIT' old.txt || fail "what 0.0.4 does not have"
}

test_a_map_has_so_many_series() {
	begin --openmetrics-series 1
	get one.txt "$new"
	get two.txt "$new"
	finish
	assert_equal "$(grep -c '^perf_bpf_run_by_key_calls{' one.txt)" 1
	assert_equal "$(grep '^perf_bpf_run_by_key_calls{' one.txt)" "$(grep '^perf_bpf_run_by_key_calls{' two.txt)"
	assert_contains one.txt 'perf_bpf_series_left_out{program="run",map="by_key"} 1'
	expect_status 2 "$PERF_BPF" run "$PROG" --openmetrics-series 1 -- true
	assert_contains err "--openmetrics-series works only with --openmetrics"
}

# The reference parsers of both formats, which are strict, and Prometheus's own.
test_parsers_take_it() {
	/usr/bin/python3 -c 'import prometheus_client' 2>/dev/null ||
		skip "no python3-prometheus-client"
	begin
	get new.txt "$new"
	get old.txt ''
	finish
	/usr/bin/python3 - <<-'END'
		import prometheus_client.openmetrics.parser as new, prometheus_client.parser as old
		def read(parser, name):
		    text = open(name).read()
		    return {f.name: f for f in parser.text_string_to_metric_families(text)}
		n, o = read(new, "new.txt"), read(old, "old.txt")
		assert n["perf_bpf_run_calls"].type == "counter" and n["perf_bpf_run_calls"].unit == "calls"
		assert n["perf_bpf_run_calls"].documentation == "umask calls"
		assert n["perf_bpf_run_by_log2_mask"].type == "histogram"
		assert n["perf_bpf_run_by_key_calls"].type == "unknown"
		o["perf_bpf_build"] = o.pop("perf_bpf_build_info") # 0.0.4 has no type for it
		assert {k for k in n} == {k for k in o}, (set(n) ^ set(o))
		for name in n:
		    samples = {(s.name, tuple(s.labels.items())): s.value for s in o[name].samples}
		    for s in n[name].samples:
		        assert samples[s.name, tuple(s.labels.items())] == s.value, s
	END
	command -v promtool >/dev/null || { echo "# promtool is not installed"; return 0; }
	promtool check metrics <old.txt >lint 2>&1 || { cat lint; fail "promtool"; }
}

# Two programs whose maps have one name: a metric says of which program it is, wherever that is in
# the command line. The first counts calls, the second counts each of them twice.
test_names_do_not_depend_on_the_order_of_the_programs() {
	for program in first:1 second:2; do
		cat >${program%:*}.bpf.c <<-END
			#include "vmlinux.h"
			#include <bpf/bpf_helpers.h>
			#include <bpf/perf_bpf_prog.h>
			PERF_BPF_COUNT(latency, "calls", "umask calls");
			SEC("tracepoint/syscalls/sys_enter_umask")
			int on_umask(void *ctx)
			{
				if (perf_bpf_wanted())
					perf_bpf_count(&latency, ${program#*:});
				return 0;
			}
			char LICENSE[] SEC("license") = "GPL";
		END
	done
	for order in "first second" "second first"; do
		read -r a b <<<"$order"
		PROGS=("$a.bpf.c" "$b.bpf.c")
		begin
		get new.txt "$new"
		finish
		assert_contains new.txt "perf_bpf_first_latency_calls_total 10"
		assert_contains new.txt "perf_bpf_second_latency_calls_total 20"
		grep -E '^(# (TYPE|UNIT|HELP) )?perf_bpf_(first|second)_' new.txt | sort >"$a.names"
	done
	diff first.names second.names || fail "the order of the programs changes the metrics"

	# The names alone of programs whose values are the machine's.
	for order in "runqlat biolatency" "biolatency runqlat"; do
		read -r -a PROGS <<<"$order"
		begin
		get new.txt "$new"
		finish
		sed -n 's/^# TYPE //p' new.txt | sort >"${PROGS[0]}.names"
		grep -q '^perf_bpf_runqlat_latency' "${PROGS[0]}.names" || { cat new.txt; fail "no metric of runqlat"; }
	done
	diff runqlat.names biolatency.names || fail "the order of the programs changes the names"
}

# A client that does not finish its request holds up neither the others nor the end.
test_slow_clients_and_wrong_requests() {
	begin
	python3 - "$address" <<-'END' >clients &
		import socket, sys, time
		host, port = sys.argv[1].rsplit(":", 1)
		slow = [socket.create_connection((host, int(port))) for _ in range(20)]
		for s in slow:
		    s.sendall(b"GET /metrics HTTP/1.1\r\n")
		print("connected", flush=True)
		slow[0].recv(1)  # until it is closed: the run has ended
	END
	clients=$!
	soon grep -q connected clients
	for _ in 1 2 3; do get new.txt "$new"; done
	assert_contains new.txt "perf_bpf_run_calls_total 10"
	python3 - "$address" <<-'END'
		import socket, sys
		host, port = sys.argv[1].rsplit(":", 1)
		for request, status in ((b"GET /nothing HTTP/1.1\r\n\r\n", b"404 Not Found"),
		                        (b"GET / HTTP/1.0\r\n\r\n", b"200 OK"),
		                        (b"DELETE /metrics HTTP/1.1\r\n\r\n", b"405 Method Not Allowed"),
		                        (b"\x16\x03\x01\r\n", b"400 Bad Request"),
		                        (b"GET /" + b"a" * 9000, b"431 Request Header Fields Too Large")):
		    s = socket.create_connection((host, int(port)))
		    s.sendall(request)
		    got = s.recv(200)
		    assert got.startswith(b"HTTP/1.1 " + status), (request[:20], got)
	END
	finish
	wait $clients || true
}

# A request that comes byte by byte has a second; without that it would have ten.
test_a_slow_client_is_closed() {
	begin
	python3 - "$address" <<-'END'
		import select, socket, sys, time
		host, port = sys.argv[1].rsplit(":", 1)
		request = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 1000
		s = socket.create_connection((host, int(port)))
		begun, sent = time.monotonic(), 0
		while not select.select([s], [], [], 0.3)[0]:
		    s.send(request[sent:sent + 1])
		    sent += 1
		took = time.monotonic() - begun
		try:
		    got = s.recv(100)
		except ConnectionResetError:
		    got = b""
		assert got == b"", got
		assert 0.9 < took < 8, took
		assert sent >= 1, sent
	END
	get new.txt "$new"
	assert_contains new.txt "perf_bpf_run_calls_total 10"
	finish
}

# One address opens connections without end, each with a part of a request. It has 16 of them at a
# time, and another address is answered meanwhile.
test_an_address_has_a_share_of_the_connections() {
	begin
	python3 - "$address" <<-'END'
		import socket, sys, time
		host, port = sys.argv[1].rsplit(":", 1)
		port = int(port)
		def connect(address):
		    s = socket.socket()
		    s.bind((address, 0))
		    s.connect((host, port))
		    return s
		def accepted():
		    # those of 127.0.0.2, by their inodes: what waits in the queue has none
		    local, remote = "0100007F:%04X" % port, "0200007F:"
		    lines = [line.split() for line in open("/proc/net/tcp")][1:]
		    return {l[9] for l in lines if l[1] == local and l[2].startswith(remote) and l[3] == "01"} - {"0"}
		def served():
		    # The kernel walks through its sockets while the server closes one and accepts another:
		    # those that it has before and after were there at one time.
		    return len(accepted() & accepted())
		flood, most, answered = [], 0, 0
		end = time.monotonic() + 180
		while (most < 16 or answered < 10) and time.monotonic() < end:
		    for _ in range(20):
		        s = connect("127.0.0.2")
		        s.sendall(b"GET /metrics HT")
		        flood.append(s)
		    most = max(most, served())  # not after each: they last for a second only
		    with connect("127.0.0.1") as s:
		        s.settimeout(60)
		        s.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
		        assert s.recv(100).startswith(b"HTTP/1.1 200 OK")
		        answered += 1
		    while len(flood) > 100:
		        flood.pop(0).close()
		assert 16 <= most <= 17, most  # one more for the moment in which another one is closed
		assert answered >= 10, answered
	END
	finish
}

# A page of another site has its own name lead here (DNS rebinding); its browser says that name.
test_names_of_others_are_not_answered() {
	begin
	python3 - "$address" <<-'END'
		import socket, sys
		host, port = sys.argv[1].rsplit(":", 1)
		def ask(name, version="1.1"):
		    with socket.create_connection((host, int(port))) as s:
		        s.sendall(f"GET /metrics HTTP/{version}\r\nHost: {name}\r\n\r\n".encode())
		        got = b""
		        while part := s.recv(65536):
		            got += part
		        return got
		for name in ("rebound.example", f"rebound.example:{port}", f"127.0.0.1.rebound.example:{port}",
		             "localhost.rebound.example", "128.0.0.1", "0", "[::2]", ""):
		    for version in ("1.0", "1.1"):
		        got = ask(name, version)
		        assert got.startswith(b"HTTP/1.1 421 "), (name, got)
		        assert b"perf_bpf" not in got, (name, got)
		for name in ("localhost", f"localhost:{port}", f"127.0.0.1:{port}", f"127.0.0.7:{port}", f"[::1]:{port}"):
		    got = ask(name)
		    assert got.startswith(b"HTTP/1.1 200 OK") and b"perf_bpf_run_calls_total 10" in got, (name, got)
	END
	finish
}

# Where looks show differences, a scrape still has the whole.
test_with_clear() {
	begin --clear --interval 50ms --json
	sleep 0.2 # some looks come in between; without them it is a weaker test, no other one
	get new.txt "$new"
	finish
	assert_contains new.txt "perf_bpf_run_calls_total 10"
	assert_contains new.txt 'perf_bpf_run_heat_mask_bucket{le="+Inf"} 10'
	python3 - <<-'END'
		import json
		lines = [json.loads(l) for l in open("out")]
		assert sum(l["count"] for l in lines if l["map"] == "calls") == 10
	END
}

test_what_is_wrong_is_told_before_anything_is_attached() {
	begin
	expect_status 1 "$PERF_BPF" run "$PROG" --openmetrics "$address" -- touch ran
	assert_contains err "--openmetrics: $address: cannot listen: Address already in use"
	assert_contains err "hint: another program listens on this port"
	[ ! -e ran ] || fail "the command ran"
	finish
	expect_status 1 "$PERF_BPF" run "$PROG" --openmetrics 9435 -- true
	assert_contains err "'9435' is not an address with a port"
	assert_contains err "hint: for example 127.0.0.1:9435, [::1]:9435, or :9435 for all addresses"
}

run_tests
