#!/usr/bin/env bash
# When record has its events enabled: spans of -D, and commands of another process (--control).
. "$(dirname "$0")/../tap.sh"

TRACEFS=/sys/kernel/tracing
PERF=$(command -v perf || true)
COUNTED=$BUILD/tests/cmd/counted
# A system call that nobody else makes meanwhile.
EVENT=syscalls:sys_enter_getpriority

need() {
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	[ -d $TRACEFS/events ] || mount -t tracefs nodev $TRACEFS 2>/dev/null || true
	[ -d $TRACEFS/events/syscalls ] || skip "tracefs or its syscall events cannot be had"
}

# record OPTION...: must end well
record() {
	"$PERF_BPF" record "$@" >record.out 2>record.err ||
		{ sed 's/^/# | /' record.err; fail "record $*"; }
}

# recorded [perf]: how many calls of the workload are in the file
recorded() {
	"${1:-$PERF_BPF}" script -i t.data -F comm,event 2>/dev/null | grep -c "counted .*getpriority" ||
		true
}

assert_recorded() {
	assert_equal "$(recorded)" "$1"
	[ -z "$PERF" ] || assert_equal "$(recorded "$PERF")" "$1"
}

# A workload that tells the recorder when to record, and waits for the answers. It does not fork
# meanwhile: the kernel can let the events of a child that is just being forked stay enabled, and a
# parent gets those of its child when they switch.
write_work() {
	cat >work.sh <<-END
		exec 3<>ctl 4<>ack
		say() { echo "\$*" >&3; read -r answer <&4; echo "\$answer" >>acks; }
		'$COUNTED' 10
		say enable
		'$COUNTED' 20
		say disable
		'$COUNTED' 30
		say ping
		say enable $EVENT
		'$COUNTED' 5
		say disable $EVENT
		say enable nothing:there
		say evlist
		'$COUNTED' 40
		echo nonsense >&3
		say stop
		exec sleep 60
	END
}

test_commands_by_fifo() {
	need
	write_work
	mkfifo ctl ack
	record -D -1 --control fifo:ctl,ack -e $EVENT -e page-faults -o t.data -- bash work.sh
	assert_recorded 25
	# the workload may be ended before it has read the answer to "stop"
	[ "$(head -n 7 acks)" = "$(yes ack | head -n 7)" ] || fail "the answers are others"
	for line in "Events enabled" "Events disabled" "Event $EVENT enabled" \
		"failed: cannot find the event 'nothing:there'" page-faults "unknown command"; do
		assert_contains record.err "$line"
	done
}

# The kernel leaves the events of a child enabled that is being forked when they are disabled. What it
# does until they are enabled again is not recorded.
test_forks_while_events_are_disabled() {
	need
	cat >pbt_forks.c <<-'END'
		#include <fcntl.h>
		#include <stdio.h>
		#include <string.h>
		#include <sys/mman.h>
		#include <sys/syscall.h>
		#include <sys/wait.h>
		#include <unistd.h>
		static volatile struct { int forks, stop; } *shared;
		static int control, answers;
		static void calls(int n)
		{
			while (n--)
				syscall(SYS_getpriority, 0, 0);
		}
		static void say(const char *command)
		{
			char byte = 1;
			if (write(control, command, strlen(command)) < 0)
				_exit(1);
			while (byte)
				if (read(answers, &byte, 1) != 1)
					_exit(1);
		}
		/* Children that call when nobody has the pipe open for writing any more. */
		static void forks(int *go)
		{
			char byte;
			close(go[1]);
			while (!shared->stop && shared->forks < 1000) {
				if (!fork()) {
					if (!read(go[0], &byte, 1))
						calls(10);
					_exit(0);
				}
				shared->forks++;
			}
			while (wait(NULL) > 0)
				;
			_exit(0);
		}
		int main(void)
		{
			int go[2];
			control = open("ctl", O_RDWR);
			answers = open("ack", O_RDWR);
			shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
			for (int i = 0; i < 10; i++) {
				calls(7);
				shared->forks = shared->stop = 0;
				if (pipe(go))
					return 1;
				for (int k = 0; k < 3; k++)
					if (!fork())
						forks(go);
				while (shared->forks < 100)
					usleep(1000);
				say("disable\n");
				shared->stop = 1;
				close(go[0]);
				close(go[1]);
				while (wait(NULL) > 0)
					;
				say("enable\n");
			}
			calls(4);
			return 0;
		}
	END
	gcc -O1 -o pbt_forks pbt_forks.c || skip "gcc is not installed"
	mkfifo ctl ack
	record --control fifo:ctl,ack -e $EVENT -o t.data -- ./pbt_forks
	"$PERF_BPF" script -i t.data -F comm,event >calls
	assert_equal "$(grep -c 'pbt_forks .*getpriority' calls)" 74
	assert_contains record.err "(74 samples,"
}

# Without -D -1 the workload is recorded from its start on.
test_commands_by_descriptor() {
	need
	cat >work.sh <<-END
		'$COUNTED' 10
		exec 3<>ctl 4<>ack
		printf 'dis' >&3
		printf 'able\0' >&3
		read -r answer <&4
		'$COUNTED' 20
		printf 'ping\nenable\n' >&3
		read -r answer <&4
		read -r answer <&4
		'$COUNTED' 30
		echo ping >&3
		head -c 6 ack >answer # behind the null byte of the last one
	END
	mkfifo ctl ack
	exec 7<>ctl 8<>ack
	record --control fd:7,8 -e $EVENT -o t.data -- bash work.sh
	exec 7>&- 8>&-
	assert_recorded 40
	assert_equal "$(od -An -c answer | tr -s ' ')" ' \0 a c k \n \0'
}

# Who closes its end, or does not read the answers, does not stop the recording.
test_control_that_goes_away() {
	need
	record --control fd:7 -e $EVENT -o t.data -- "$COUNTED" 10 7< <(echo ping)
	assert_recorded 10
	mkfifo ctl ack
	yes ping | head -n 20000 >pings
	cat >work.sh <<-END
		cat pings >ctl
		'$COUNTED' 10
	END
	record --control fifo:ctl,ack -e $EVENT -o t.data -- bash work.sh
	assert_recorded 10
	expect_status 1 "$PERF_BPF" record --control fifo:missing -e page-faults -o t.data -- true
	touch file
	expect_status 1 "$PERF_BPF" record --control fifo:file -e page-faults -o t.data -- true
	assert_contains err "'file' is not a FIFO"
	for value in fifo: fifo:ctl, fd: fd:x fd:7x ctl; do
		expect_status 2 "$PERF_BPF" record --control "$value" -e page-faults -o t.data -- true
		assert_contains err "--control: invalid value '$value'"
	done
}

test_spans() {
	need
	cat >work.sh <<-END
		until [ "\$(grep -c -- "-D: events \$1" record.err)" -ge \$2 ]; do sleep 0.05; done
		'$COUNTED' 20
	END
	record -v -D 0-1 -e $EVENT -o t.data -- bash work.sh disabled 1
	assert_recorded 0
	record -v -D 20-30,40-600000 -e $EVENT -o t.data -- bash work.sh enabled 2
	assert_recorded 20
	for value in 10-5 10-20,15-30 10-20, 10-20,30 x-y 10-20-30; do
		expect_status 2 "$PERF_BPF" record -D "$value" -e page-faults -o t.data -- true
		assert_contains err "'$value' is not a list of spans"
	done
}

test_name_with_the_time() {
	need
	before=$(date +%Y%m%d%H%M%S)
	record --timestamp-filename -e $EVENT -o t.data -- "$COUNTED" 10
	after=$(date +%Y%m%d%H%M%S)
	mv t.data.* t.data.here
	name=$(sed -n 's/.*wrote .* MB \(t\.data\.[0-9]*\) .*/\1/p' record.err)
	[[ $name =~ ^t\.data\.([0-9]{14})[0-9]{2}$ ]] || fail "the name is $name"
	[ "${BASH_REMATCH[1]}" -ge "$before" ] && [ "${BASH_REMATCH[1]}" -le "$after" ] ||
		fail "$name is not between $before and $after"
	mv t.data.here t.data
	assert_recorded 10
}

# The recorder is one, its command is not.
test_realtime() {
	need
	command -v chrt >/dev/null || skip "chrt is not installed"
	chrt -f 1 true 2>/dev/null || skip "realtime processes are not allowed here"
	cat >work.sh <<-END
		chrt -p \$PPID >recorder
		chrt -p \$\$ >command
	END
	record -r 3 -e $EVENT -o t.data -- bash work.sh
	assert_contains recorder "SCHED_FIFO"
	assert_contains recorder "priority: 3"
	assert_contains command "SCHED_OTHER"
	for value in 0 100 x -1; do
		expect_status 2 "$PERF_BPF" record -r $value -e page-faults -o t.data -- true
	done
}

run_tests
