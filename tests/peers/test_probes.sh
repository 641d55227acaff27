#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Probes by real uprobes: random programs in many compilers' ways, recorded; and a
# large real binary, with limits to time and memory.
. "$(dirname "$0")/../tap.sh"

need_uprobes() {
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	has attach.uprobe || skip "this kernel has no uprobes"
}

test_values_of_random_programs() {
	need_uprobes
	"$SRC/tests/probe/recorded.py" "$PERF_BPF" "${FIRST_SEED:-200}" "${LAST_SEED:-219}" \
		"gcc -O2 -gdwarf-5" "gcc -O2 -gdwarf-4" "gcc -O0 -gdwarf-5" "gcc -O3 -fno-pie -no-pie" \
		"clang -O2 -gdwarf-5" "clang -O2 -gdwarf-4" "clang -O1 -gdwarf-5" >out || {
		sed 's/^/# /' out
		fail "values differ"
	}
	sed 's/^/# /' out
}

need_python() {
	[ -x /usr/bin/python3.11 ] || skip "python3.11 is not installed"
	"$PERF_BPF" probe -q -x /usr/bin/python3.11 -V PyList_Append >out 2>err ||
		skip "no debug information for python3.11: $(tail -n 1 err)"
}

# The first probe of a binary with megabytes of debug information: within a second of CPU
# time and 300 MB.
test_a_large_binary_takes_no_second() {
	need_python
	python3 - "$PERF_BPF" <<-'END' || fail "too much"
		import resource, subprocess, sys
		for words in (["-V", "PyList_Append"], ["-L", "PyList_Append"],
		              ["PyList_Append op newitem->ob_refcnt"]):
		    before = resource.getrusage(resource.RUSAGE_CHILDREN)
		    subprocess.run([sys.argv[1], "probe", "-q", "-x", "/usr/bin/python3.11"] + words,
		                   stdout=subprocess.DEVNULL, check=True)
		    after = resource.getrusage(resource.RUSAGE_CHILDREN)
		    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
		    print(f"# {words}: {cpu:.2f} s, {after.ru_maxrss // 1024} MiB")
		    assert cpu < 1 and after.ru_maxrss < 300 * 1024
	END
}

test_an_inlined_function_of_a_large_binary() {
	need_uprobes
	need_python
	"$PERF_BPF" record -q -e 'probe:exec=/usr/bin/python3.11;os__exit_impl status' \
		/usr/bin/python3.11 -c 'import os; os._exit(37)' || [ $? = 37 ]
	"$PERF_BPF" script >text
	grep -q 'probe_python3:os__exit_impl: status=37$' text || { cat text; fail "not its status"; }
}

run_tests
