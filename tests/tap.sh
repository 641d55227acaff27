# SPDX-License-Identifier: BSD-2-Clause
# TAP for shell tests. A script sources this, defines functions test_NAME, and
# ends with run_tests. Each runs in a subshell under "set -eu" in a fresh
# folder ($TMP), which is removed. `skip REASON` ends the test as skipped;
# `fail MESSAGE` as failed. $PERF_BPF is the binary, $SRC the source tree.
# A function tests_end, if there is one, is called after the last test.
SRC=${SRC:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}
BUILD=${BUILD:-$SRC/build}
PERF_BPF=${PERF_BPF:-$BUILD/perf-bpf}

skip() {
	echo "$*" >"$SKIP_FILE"
	exit 0
}

fail() {
	echo "# $*"
	exit 1
}

# assert_contains FILE TEXT
assert_contains() {
	grep -qF -- "$2" "$1" || { sed 's/^/# | /' "$1"; fail "$1 does not hold: $2"; }
}

# assert_equal GOT WANTED
assert_equal() {
	[ "$1" = "$2" ] || fail "got '$1', wanted '$2'"
}

# expect_status N COMMAND... : stdout and stderr go to ./out and ./err
expect_status() {
	local want=$1 got=0
	shift
	"$@" >out 2>err || got=$?
	[ "$got" = "$want" ] || { sed 's/^/# | /' err; fail "'$*' ended with $got, wanted $want"; }
}

# soon COMMAND...: it succeeds within a minute: a loaded machine is slow, not wrong
soon() {
	local end=$((SECONDS + 60))
	until "$@"; do
		[ $SECONDS -lt $end ] || fail "in vain: $*"
		sleep 0.05
	done
}

# waits_for_events PID: each of its threads waits in poll(2) or epoll_wait(2), or in restart_syscall(2)
# for them after a SIGCONT, so it has dealt with all that woke it up. The numbers are those of x86-64
# and arm64.
waits_for_events() {
	local thread
	for thread in "/proc/$1/task"/*/syscall; do
		case $(cut -d' ' -f1 "$thread") in
		7 | 219 | 232 | 271 | 281 | 22 | 73 | 128) ;;
		*) return 1 ;;
		esac
	done
}

# has FEATURE: this kernel has it
has() {
	"$PERF_BPF" features "$1" >/dev/null
}

# tap COMMAND...: it prints TAP, and all its lines are ok
tap() {
	local status=0
	"$@" >tap 2>&1 || status=$?
	[ $status = 0 ] || { sed 's/^/# | /' tap; fail "'$*' ended with $status"; }
	! grep -q '^not ok' tap || { sed 's/^/# | /' tap; fail "'$*'"; }
	grep -q '^ok' tap || fail "'$*' tested nothing"
}

# compile_bpf SOURCE OBJECT [OPTION...]: by clang, with this tree's headers, or HEADERS=FOLDER's
compile_bpf() {
	local source=$1 object=$2
	shift 2
	clang -O2 -g -target bpf -D__TARGET_ARCH_x86 "$@" -I"${HEADERS:-$SRC/include}" \
		-I"$BUILD/include" -idirafter "/usr/include/$(uname -m)-linux-gnu" \
		-c "$source" -o "$object"
}

# end_processes FOLDER: ends the processes whose folder is FOLDER or below, and prints their commands
end_processes() {
	local pid
	for pid in $(find /proc/[0-9]* -maxdepth 1 -name cwd \( -lname "$1" -o -lname "$1/*" \) 2>/dev/null | cut -d/ -f3); do
		tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline" | head -c 200
		echo
		kill -KILL "$pid" 2>/dev/null || :
	done
}

# end_tests TOP: ends and names the processes that tests left running in their folders
end_tests() {
	! declare -F tests_end >/dev/null || tests_end
	end_processes "$1" | sed 's/^/# left running: /'
	rm -rf "$1"
}

run_tests() {
	local tests n=0 status=0 began
	tests=$(declare -F | sed -n 's/^declare -f \(test_.*\)/\1/p')
	[ -z "${ONLY:-}" ] || tests=$(echo "$tests" | grep -E "$ONLY")
	echo "1..$(echo "$tests" | wc -w)"
	# Not local: the trap runs behind the function.
	top=$(mktemp -d "${TMPDIR:-/tmp}/perf-bpf-test.XXXXXX")
	trap 'end_tests "$top"' EXIT
	SKIP_FILE=$top/skip
	# What record keeps of files: not in the user's home, unless perf's output is compared.
	[ -n "${BUILDID_CACHE_OF_PERF:-}" ] || export PERF_BUILDID_DIR=$top/.debug
	for t in $tests; do
		n=$((n + 1))
		rm -f "$SKIP_FILE"
		mkdir "$top/$t"
		status=0
		began=${EPOCHREALTIME//[.,]/}
		(
			set -eu
			TMP=$top/$t
			cd "$TMP"
			$t
		) >"$top/log" 2>&1
		status=$? # not after ||, where set -e does nothing
		if [ $status != 0 ]; then
			end_processes "$top/$t" >/dev/null # it did not come to their end
			sed 's/^\([^#]\)/# \1/' "$top/log"
			echo "not ok $n - ${t#test_}"
		elif [ -e "$SKIP_FILE" ]; then
			echo "ok $n - ${t#test_} # SKIP $(cat "$SKIP_FILE")"
		else
			echo "ok $n - ${t#test_}"
		fi
		echo "# ${t#test_}: $(((${EPOCHREALTIME//[.,]/} - began) / 1000)) ms"
		rm -rf "${top:?}/$t"
	done
}
