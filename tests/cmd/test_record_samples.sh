#!/usr/bin/env bash
# What perf-bpf record keeps of each sample on request: -d, -P, -W, --phys-data, --sample-cpu and
# --switch-events, beside perf where it is installed.
. "$(dirname "$0")/../tap.sh"

PERF=$(command -v perf || true)

# Prints the addresses of 50 pages, touches each for the first time, and sleeps 20 times.
build_work() {
	cat >pbt_pages.c <<-'END'
		#include <stdio.h>
		#include <sys/mman.h>
		#include <unistd.h>

		int main(void)
		{
			enum { PAGES = 50 };
			const size_t page = (size_t)sysconf(_SC_PAGESIZE);
			volatile char *p = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE,
						MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

			if (p == MAP_FAILED || madvise((void *)p, PAGES * page, MADV_NOHUGEPAGE))
				return 1;
			for (int i = 0; i < PAGES; i++)
				printf("%lx\n", (unsigned long)(p + i * page));
			for (int i = 0; i < PAGES; i++)
				p[i * page] = 1;
			for (int i = 0; i < 20; i++)
				usleep(10000);
			return 0;
		}
	END
	gcc -O1 -o pbt_pages pbt_pages.c
}

record() {
	"$PERF_BPF" record -q -e page-faults -c 1 "$@" -o t.data -- ./pbt_pages >pages
}

members_of_samples() {
	"$PERF_BPF" script -i t.data --header-only | sed -n 's/.* name = page-faults.* sample_type = \([^,]*\),.*/\1/p'
}

test_addresses_of_data() {
	build_work
	record -d
	"$PERF_BPF" script -i t.data -F addr | tr -d ' ' | sort >seen
	assert_equal "$(wc -l <pages)" 50
	assert_equal "$(sort pages | comm -13 seen -)" ""
	assert_equal "$(members_of_samples)" "IP|TID|TIME|ADDR|DATA_SRC"
	# the mappings of data, too: the pages are in one of no file
	"$PERF_BPF" script -i t.data --show-mmap-events >maps
	grep -q 'PERF_RECORD_MMAP.*: rw-p //anon' maps || fail "$(grep MMAP maps)"
}

test_members_are_those_that_are_asked_for() {
	build_work
	record
	assert_equal "$(members_of_samples)" "IP|TID|TIME"
	record -T
	assert_equal "$(members_of_samples)" "IP|TID|TIME"
	record -P
	assert_equal "$(members_of_samples)" "IP|TID|TIME|PERIOD"
	record -W
	assert_equal "$(members_of_samples)" "IP|TID|TIME|WEIGHT"
	record --phys-data
	assert_equal "$(members_of_samples)" "IP|TID|TIME|PHYS_ADDR"
	record --sample-cpu
	assert_equal "$(members_of_samples)" "IP|TID|TIME|CPU"
}

test_all_as_perf_reads_it() {
	[ -n "$PERF" ] || skip "perf is not installed"
	build_work
	record -d -P -W --phys-data --sample-cpu --switch-events
	fields=comm,tid,cpu,time,period,event,addr,ip,weight,phys_addr
	"$PERF_BPF" script -i t.data -F $fields >ours
	"$PERF" script -i t.data -F $fields >theirs
	[ "$(wc -l <ours)" -ge 50 ] || fail "$(wc -l <ours) samples"
	diff ours theirs || fail "perf reads it differently"
}

# Each sleep gives up the CPU, unless the machine stood still until it was over.
test_context_switches() {
	build_work
	record
	"$PERF_BPF" script -i t.data --show-switch-events >without
	assert_equal "$(grep -c PERF_RECORD_SWITCH without)" 0
	record --switch-events
	"$PERF_BPF" script -i t.data --show-switch-events >with
	out=$(grep -c 'pbt_pages .*PERF_RECORD_SWITCH OUT' with)
	[ "$out" -ge 10 ] || fail "$out switches"
}

run_tests
