#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Containers of podman and of systemd-nspawn: two of each, in which processes have the same ids and
# paths and other binaries, seen from outside and from inside.
. "$(dirname "$0")/../tap.sh"

# In user mode; also in a container, whose shell is busybox's.
UNTIL_USED="$SRC/tests/cmd/until_used 50"

needs() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	command -v "$1" >/dev/null || skip "$1 is not installed"
	command -v busybox >/dev/null || skip "busybox is not installed"
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	trap end_containers EXIT
}

# make_root COLOUR: the directory COLOUR, the root of a container whose /app spends its time in
# COLOUR_work(), as the first process, which has the id 1. Another one runs the script /views when
# something is written to /go.
make_root() {
	cat >work.c <<-'END'
		#include <stdio.h>
		#include <unistd.h>
		volatile unsigned long n;
		__attribute__((noinline)) void WORK(void)
		{
			for (int i = 0; i < 1000000; i++)
				n += i;
		}
		int main(void)
		{
			printf("%d\n", getpid());
			fflush(stdout);
			for (;;) {
				WORK();
				n += getppid();
			}
		}
	END
	mkdir -p "$1"/{bin,dev,etc,proc,run,sys,tmp,usr,var}
	gcc -g -O1 -static -fno-omit-frame-pointer -DWORK="$1_work" -o "$1/app" work.c
	cp "$(command -v busybox)" "$1/bin"
	for name in sh sleep cat grep kill; do
		ln -s busybox "$1/bin/$name"
	done
	# shellcheck disable=SC2046
	cp -L --parents $(ldd "$PERF_BPF" | grep -o '/[^ ]*') "$1"
	cp "$PERF_BPF" "$SRC/tests/cmd/until_used" "$1"
	echo ID=none >"$1/etc/os-release"
	mkfifo "$1/go"
	cat >"$1/init" <<-'END'
		#!/bin/sh
		cd /
		(
			read -r go </go
			sh -e /views 1 >/err 2>&1
			: >/done
		) &
		exec /app >/pid
	END
	cat >"$1/views" <<-'END'
		/perf-bpf record -q -e cpu-clock:u -o /data -p $1 -- /until_used 50 $1
		/perf-bpf report -i /data -s pid,sym >/record
		/perf-bpf run profile -F 999 --folded -p $1 -- /until_used 50 $1 >/profile
		/perf-bpf trace -e getppid -p $1 --max-events 5 2>/trace
		/perf-bpf top --stdio -d 0.1 -e cpu-clock:u -s pid,sym -p $1 >/top &
		until grep -q _work /top; do
			kill -0 $!
			sleep 0.1
		done
		kill $!
		wait $!
	END
	chmod 755 "$1/init" "$1/until_used"
}

other_than() {
	[ "$1" = blue ] && echo red || echo blue
}

# check_outside COLOUR PID CONTAINER: by the id of the process and by the container's
check_outside() {
	local c=$1 pid=$2 id=$3 other
	other=$(other_than "$1")
	expect_status 0 "$PERF_BPF" record -q -e cpu-clock:u -o of_pid -p "$pid" -- $UNTIL_USED "$pid"
	expect_status 0 "$PERF_BPF" report -i of_pid -s pid,sym
	assert_contains out "$pid:app"
	assert_contains out "${c}_work"
	! grep "${other}_work" out || fail "the program of the other container"
	expect_status 0 "$PERF_BPF" annotate -i of_pid --stdio
	assert_contains out "${c}_work"
	expect_status 0 "$PERF_BPF" run profile -F 999 --folded -p "$pid" -- $UNTIL_USED "$pid"
	assert_contains out "${c}_work"
	! grep "${other}_work" out || fail "the program of the other container"
	expect_status 0 "$PERF_BPF" trace -e getppid -p "$pid" --max-events 5
	assert_equal "$(grep -c "app/$pid .*getppid()" err)" 5
	[ -n "$id" ] || return 0
	# no process of the host, and none of the other container
	expect_status 0 "$PERF_BPF" record -q -e cpu-clock:u --all-cgroups -o of_container --container "$id" -- $UNTIL_USED "$pid"
	expect_status 0 "$PERF_BPF" script -i of_container -F pid,ip,sym
	assert_equal "$(awk '{ print $1 }' out | sort -u)" "$pid"
	! grep "${other}_work" out || fail "the program of the other container"
	expect_status 0 "$PERF_BPF" report -i of_container -s container,sym
	assert_contains out "$id"
	expect_status 0 "$PERF_BPF" run profile -F 999 --folded --container "$id" -- $UNTIL_USED "$pid"
	assert_contains out "${c}_work"
	! grep "${other}_work" out || fail "the program of the other container"
	expect_status 0 "$PERF_BPF" trace -e getppid --container "$id" --max-events 5
	! grep getppid err | grep -v "app/$pid " || fail "a process of another container"
}

# check_inside COLOUR: with the ids of the container, which are the same in both
check_inside() {
	local c=$1 other pid
	other=$(other_than "$1")
	pid=$(cat "$c/pid")
	echo go >"$c/go"
	soon test -e "$c/done"
	[ -s "$c/top" ] || fail "$(cat "$c/err")"
	assert_contains "$c/record" "${c}_work"
	assert_contains "$c/record" "$pid:app"
	assert_contains "$c/profile" "${c}_work"
	assert_contains "$c/top" "$pid:app"
	assert_contains "$c/top" "${c}_work"
	assert_equal "$(grep -c "app/$pid .*getppid()" "$c/trace")" 5
	! grep "${other}_work" "$c/record" "$c/profile" "$c/top" || fail "the program of the other container"
}

# check_both: of the two, whose first processes are $blue and $red and ids $blue_id and $red_id
check_both() {
	local c id
	for c in blue red; do
		assert_equal "$(cat $c/pid)" 1
		id=${c}_id
		check_outside $c "${!c}" "${!id}"
	done
	# in one recording
	expect_status 0 "$PERF_BPF" record -q -e cpu-clock:u -o of_both -a -- $UNTIL_USED "$blue" "$red"
	expect_status 0 "$PERF_BPF" script -i of_both -F pid,ip,sym
	assert_equal "$(awk '/ (blue|red)_work/ { print $1, $3 }' out | sort -u)" \
		"$(printf '%s\n' "$blue blue_work" "$red red_work" | sort -u)"
	for c in blue red; do
		check_inside $c
	done
}

# Of this test alone: containers, images and settings. podman wants a short path for what runs.
podman_here() {
	podman --root "$PWD/podman" --runroot "$short/run" --tmpdir "$short/tmp" --runtime runc \
		--storage-driver vfs --cgroup-manager cgroupfs --events-backend none "$@"
}

end_containers() {
	local c
	[ -z "${short:-}" ] || podman_here rm -f -t 0 blue red >/dev/null 2>&1 || :
	# podman's own processes put in order what is left of a container
	[ -z "${short:-}" ] || soon have_ended "$short"
	[ -z "${short:-}" ] || rm -rf "$short"
	for c in ${cgroups:-}; do
		echo 1 >"$c/cgroup.kill" # Linux 5.14
		soon is_removed "$c"
		# systemd-nspawn makes it there, too
		rmdir "/sys/fs/cgroup/systemd/machine.slice/${c##*/}"{/*,} 2>/dev/null || :
	done
	wait
}

have_ended() {
	! pgrep -f "(podman|conmon) .*$1" >/dev/null
}

is_removed() {
	find "$1" -depth -type d -exec rmdir {} + 2>/dev/null
}

test_podman() {
	local c
	needs podman
	command -v runc >/dev/null || skip "runc is not installed"
	short=$(mktemp -d /tmp/pbXXXXXX)
	for c in blue red; do
		make_root $c
		# limits that this process may set without CAP_SYS_RESOURCE
		podman_here run -d --name $c --privileged --network none --ulimit nofile=1024:1024 \
			--ulimit nproc=1024:1024 --rootfs "$PWD/$c" /init >started 2>&1 ||
			skip "podman cannot run a container here: $(tail -n 1 started)"
		soon test -s $c/pid
		eval "$c=\$(podman_here inspect -f '{{.State.Pid}}' $c)"
		eval "${c}_id=\$(podman_here inspect -f '{{.Id}}' $c)"
	done
	grep -q "libpod-$blue_id" "/proc/$blue/cgroup" || fail "$(cat "/proc/$blue/cgroup")"
	check_both
}

# As a unit of systemd, whose cgroup has the name of the machine; without it, the test makes that.
test_nspawn() {
	local c tree
	needs systemd-nspawn
	tree=$(findmnt -n -t cgroup2 -o TARGET | head -n 1)
	[ -n "$tree" ] || skip "there is no cgroup v2"
	for c in blue red; do
		make_root $c
		group=$tree/machine.slice/machine-pb$c$$.scope
		mkdir -p "$group" || skip "no cgroups can be made in $tree"
		cgroups="${cgroups:-} $group"
		(echo $BASHPID >"$group/cgroup.procs" &&
			exec systemd-nspawn -q -D "$PWD/$c" -M "pb$c$$" --register=no --keep-unit \
				--capability=all --system-call-filter='bpf perf_event_open' --console=pipe \
				/init) </dev/null >started.$c 2>&1 &
		eval "$c=$!"
	done
	for c in blue red; do
		soon is_ready $c "${!c}"
		[ -s $c/pid ] || skip "systemd-nspawn cannot run a container here: $(tail -n 1 started.$c)"
		eval "$c=\$(pgrep -P ${!c})"
		eval "${c}_id=pb$c$$"
	done
	check_both
}

is_ready() {
	[ -s "$1/pid" ] || ! kill -0 "$2" 2>/dev/null
}

run_tests
