#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# perf's own test of unwinding threads, of Debian sid's perf, with perf-bpf in its place: a `perf`
# that comes first in PATH gives "record" and "script" to perf-bpf. The perf of Debian is stripped, so
# that the workload's functions have no names: it is compiled here, without frame pointers.
. "$(dirname "$0")/../tap.sh"

# As `perf test -w thloop SECONDS THREADS`: test_loop() is called by main() and, in the other
# threads, by thfunc().
write_workload() {
	cat >thloop.c <<-END
		#include <pthread.h>
		#include <stdlib.h>
		#include <time.h>

		static time_t end;
		static volatile int sink;

		__attribute__((noinline)) static void test_loop(void)
		{
			while (time(NULL) < end)
				sink++;
		}

		__attribute__((noinline)) static void *thfunc(void *arg)
		{
			test_loop();
			sink++;
			return NULL;
		}

		int main(int argc, char **argv)
		{
			int n = atoi(argv[2]) - 1;
			pthread_t threads[n];

			end = time(NULL) + atoi(argv[1]) + 1;
			for (int i = 0; i < n; i++)
				pthread_create(&threads[i], NULL, thfunc, NULL);
			test_loop();
			for (int i = 0; i < n; i++)
				pthread_join(threads[i], NULL);
		}
	END
	cc -O2 -fomit-frame-pointer -pthread -o thloop thloop.c
}

test_dwarf_unwind_multithreaded() {
	local perf script status=0
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	perf=$("$SRC/tests/vm/fetch-perf" sid) || skip "$perf"
	script=${perf%/*}/usr/lib/perf-core/tests/shell/test_dwarf_unwind_multithreaded.sh
	[ -e "$script" ] || skip "this perf has no such test"
	write_workload
	mkdir bin
	cat >bin/perf <<-END
		#!/bin/sh
		case \$1 in
		record | script) exec "$PERF_BPF" "\$@" ;;
		check) exit 0 ;; # whether perf has libdw
		test) exec "$PWD/thloop" "\$4" "\$5" ;;
		esac
		exit 1
	END
	chmod +x bin/perf
	PATH=$PWD/bin:$PATH bash "$script" >out 2>&1 || status=$?
	[ $status != 2 ] || skip "it cannot run here: $(tail -n 1 out)"
	[ $status = 0 ] || fail "it ended with $status: $(cat out)"
}

run_tests
