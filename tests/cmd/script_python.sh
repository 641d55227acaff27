# SPDX-License-Identifier: BSD-2-Clause
# Scripts for the tests of script -s; sourced.

# Everything that a script is given, by name. Negative numbers of less than 64 bits, which perf gives
# without their sign, are not among the fields. perf 6.1 does not have three of the members, and the
# end of the kernel's map is a guess of each.
write_show() {
	cat >show.py <<-'END'
		ours = ("id", "stream_id", "map_pgoff", "dso_map_end", "ins_lat")
		def trace_begin():
		    print("begin")
		def trace_end():
		    print("end")
		def show(d, indent=""):
		    for k in sorted(d):
		        v = len(d[k]) > 0 if k == "attr" else d[k]
		        if isinstance(v, dict):
		            print(indent + k)
		            show(v, indent + "  ")
		        elif k not in ours:
		            print(indent + k, type(v).__name__, repr(v))
		def process_event(d):
		    print("-- event")
		    show(d)
		def trace_unhandled(name, context, fields, sample):
		    print("-- unhandled", name)
		    show(fields)
		    show(sample)
		def sched__sched_switch(name, context, cpu, s, ns, pid, comm, chain, *fields):
		    print("-- switch", name, cpu, s, ns, pid, comm, chain, fields)
		def sched__sched_process_exec(name, context, cpu, s, ns, pid, comm, chain, filename, child,
		                              old_pid, sample):
		    print("-- exec", name, cpu, s, ns, pid, comm, chain, filename, child, old_pid)
		    show(sample)
	END
}

# A tree of perf's scripts with one script, so that the tests need none of perf's.
own_scripts() {
	local dir=tree/scripts/python

	mkdir -p $dir/bin
	echo 'word = "arguments"' >$dir/beside.py
	cat >$dir/mine.py <<-'END'
		import sys
		from beside import word
		def trace_begin():
		    print(word, sys.argv[1:])
		def sched__sched_process_exec(name, context, cpu, s, ns, pid, comm, *rest):
		    print("exec", comm)
	END
	cat >$dir/bin/mine-record <<-'END'
		#!/bin/sh
		perf record -e sched:sched_process_exec "$@"
	END
	cat >$dir/bin/mine-report <<-'END'
		#!/bin/sh
		# description: a script of mine
		# args: <comm> [more]
		perf script -s "$PERF_EXEC_PATH"/scripts/python/mine.py -- "$@"
	END
	export PERF_EXEC_PATH=$PWD/tree
}
