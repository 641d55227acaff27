# SPDX-License-Identifier: BSD-2-Clause
# perf's own shell tests, of Debian sid's perf, with perf-bpf in its place. Sourced after tap.sh.

# perf_test NAME COMMAND...: runs perf's test NAME with a `perf` that comes first in PATH: perf-bpf
# gets these commands, the workloads of `perf test -w` are ours, and perf itself gets all others. What
# perf does not say is left out of what is printed: the hint at stacks that are broken off, how many
# samples were lost, and that the file at the path is not the one that was recorded. A test that records
# the whole system has these two by what else runs: a busy machine, processes with other root directories.
perf_test() {
	local perf script name=$1 status=0
	shift
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	perf=$("$SRC/tests/vm/fetch-perf" sid) || skip "$perf"
	script=${perf%/*}/usr/lib/perf-core/tests/shell/$name.sh
	[ -e "$script" ] || skip "this perf has no test $name"
	# Without frame pointers, so that unwinding has something to do where a test asks for it.
	cc -g -O2 -fomit-frame-pointer -pthread -o workload "$SRC/tests/peers/perf_workload.c"
	mkdir -p bin
	cat >bin/perf <<-END
		#!/bin/sh
		case "\$1: $* " in
		"report:"*" report "*)
			messages=\$(mktemp "$PWD/messages.XXXXXX") status=0
			"$PERF_BPF" "\$@" 2>"\$messages" || status=\$?
			sed -e '/ user stacks end in code without frame pointers; /d' \\
				-e '/ samples were lost while recording\$/d' \\
				-e '/ has changed since it was recorded, or the process had another root/d' \\
				"\$messages" >&2
			exit \$status ;;
		esac
		case " $* " in
		*" \$1 "*) exec "$PERF_BPF" "\$@" ;;
		esac
		# the recorder is ours, whether or not this perf has BPF programs
		case "\$1 \$2" in
		"version --build-options") "$perf" "\$@" | sed /HAVE_BPF_SKEL/d; exit ;;
		esac
		case "\$1 \$2 \$3 \$4 \$5" in
		"test -vv -F Symbols ")
			# it looks for the workloads' functions in what this prints
			exec nm "$PWD/workload" ;;
		"test -w noploop "* | "test -w thloop "* | "test -w inlineloop "* | \
			"test -w brstack "*)
			shift 2
			exec "$PWD/workload" "\$@" ;;
		esac
		exec "$perf" "\$@"
	END
	chmod +x bin/perf
	PATH=$PWD/bin:$PATH timeout 600 bash "$script" -v >out 2>&1 || status=$?
	[ $status != 2 ] || skip "$name cannot run here: $(tail -n 1 out)"
	[ $status = 0 ] || { sed 's/^/# /' out; fail "$name ended with $status"; }
}
