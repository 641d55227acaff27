#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# perf-bpf trace with an augmenter of the user, in the form of perf trace's. It puts out strings
# with a changed first byte, so that they can be told from those that trace copies.
. "$(dirname "$0")/../tap.sh"

ready() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	[ "$(uname -m)" = x86_64 ] || skip "the workload has the system calls of x86-64"
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	command -v clang >/dev/null || skip "clang is not installed"
	cat >pba_work.c <<-'END'
		#define _GNU_SOURCE
		#include <fcntl.h>
		#include <string.h>
		#include <sys/socket.h>
		#include <sys/syscall.h>
		#include <sys/un.h>
		#include <unistd.h>

		int main(void)
		{
			struct sockaddr_un to = {AF_UNIX, "/pba/socket"};
			int fd = socket(AF_UNIX, SOCK_STREAM, 0);

			for (int i = 0; i < 20; i++) {
				syscall(SYS_openat, AT_FDCWD, "/pba/file", O_RDONLY);
				syscall(SYS_renameat, AT_FDCWD, "/pba/old", AT_FDCWD, "/pba/new");
				connect(fd, (struct sockaddr *)&to, sizeof(to));
				syscall(SYS_unlink, "/pba/gone");
				syscall(SYS_unlinkat, AT_FDCWD, "/pba/like", 0);
				syscall(SYS_openat, AT_FDCWD, (char *)0, O_RDONLY);
			}
			return 0;
		}
	END
	gcc -O1 -static -o pba_work pba_work.c || skip "cannot build the workload"
	cat >augment.bpf.c <<-'END'
		#include "vmlinux.h"
		#include <bpf/bpf_helpers.h>

		char LICENSE[] SEC("license") = "GPL";

		struct old_map {
			unsigned int type, key_size, value_size, max_entries, flags;
		};
		#define MAP(name, of_type, key, value, n)                                                \
			struct old_map SEC("maps") name = {BPF_MAP_TYPE_##of_type, sizeof(key), sizeof(value), n}

		struct is_traced {
			bool enabled;
			__u16 string_args_len[6];
		};

		struct entry {
			__u64 common;
			long nr;
			unsigned long args[6];
		};

		struct text {
			__u32 size;
			int err;
			char value[64];
		};

		struct output {
			struct entry entry;
			union {
				struct text texts[2];
				struct sockaddr_un address;
				char rest[256];
			};
		};

		MAP(__augmented_syscalls__, PERF_EVENT_ARRAY, int, __u32, 1);
		MAP(syscalls, ARRAY, int, struct is_traced, 512);
		MAP(syscalls_sys_enter, PROG_ARRAY, __u32, __u32, 512);
		MAP(pids_filtered, HASH, __u32, bool, 64);
		MAP(outputs, PERCPU_ARRAY, int, struct output, 1);

		static __always_inline bool differ(const char *comm, const char *wanted)
		{
			for (int i = 0; i < 8; i++)
				if (comm[i] != wanted[i])
					return true;
			return false;
		}

		static __always_inline struct output *output(void)
		{
			int zero = 0;

			return bpf_map_lookup_elem(&outputs, &zero);
		}

		/* The bytes of it. */
		static __always_inline unsigned int put(struct text *text, unsigned long from)
		{
			long n = bpf_probe_read_user_str(text->value, sizeof(text->value), (void *)from);

			text->size = text->err = 0;
			if (n > 0) {
				text->size = n;
				text->value[0] = 'A';
			} else {
				text->err = n;
			}
			return 8 + text->size;
		}

		static __always_inline int finish(void *ctx, struct output *out, unsigned int n)
		{
			n += sizeof(out->entry);
			if (n > sizeof(*out))
				return 1;
			return bpf_perf_event_output(ctx, &__augmented_syscalls__, BPF_F_CURRENT_CPU, out, n);
		}

		SEC("!raw_syscalls:unaugmented")
		int unaugmented(struct entry *entry)
		{
			return 1;
		}

		SEC("!syscalls:sys_enter_openat")
		int of_openat(struct entry *entry)
		{
			struct output *out = output();

			return out ? finish(entry, out, put(&out->texts[0], out->entry.args[1])) : 1;
		}

		SEC("!syscalls:sys_enter_renameat")
		int of_renameat(struct entry *entry)
		{
			struct output *out = output();
			unsigned int n;

			if (!out)
				return 1;
			n = put(&out->texts[0], out->entry.args[1]);
			if (n > sizeof(out->texts[0]))
				return 1;
			return finish(entry, out, n + put((void *)out->texts + n, out->entry.args[3]));
		}

		SEC("!syscalls:sys_enter_connect")
		int of_connect(struct entry *entry)
		{
			struct output *out = output();

			if (!out)
				return 1;
			bpf_probe_read_user(&out->address, sizeof(out->address), (void *)out->entry.args[1]);
			out->address.sun_path[0] = 'A';
			return finish(entry, out, sizeof(out->address));
		}

		SEC("raw_syscalls:sys_enter")
		int sys_enter(struct entry *entry)
		{
			__u32 pid = bpf_get_current_pid_tgid() >> 32;
			struct output *out = output();
			struct is_traced *traced;
			char comm[16] = "";
			int nr = entry->nr;

			/* it runs in all processes: what others open must not fill the ring */
			bpf_get_current_comm(comm, sizeof(comm));
			if (differ(comm, "pba_work"))
				return 0;
			if (!out || bpf_map_lookup_elem(&pids_filtered, &pid))
				return 0;
			traced = bpf_map_lookup_elem(&syscalls, &nr);
			if (!traced || !traced->enabled)
				return 0;
			/* an array of all arguments and lengths, as programs without tail calls have it */
			if (nr == 257 && traced->string_args_len[1] != 4096)
				return 0;
			bpf_probe_read_kernel(&out->entry, sizeof(out->entry), entry);
			bpf_tail_call(entry, &syscalls_sys_enter, nr);
			return 0;
		}

		SEC("raw_syscalls:sys_exit")
		int sys_exit(void *ctx)
		{
			return 0;
		}
	END
}

lines_of() { grep -cE -- "$1" lines || true; }

# expect_augmented: ./lines has the texts of the augmenter
expect_augmented() {
	assert_equal "$(lines_of ' openat\(.*"Apba/file"')" 20
	assert_equal "$(lines_of ' renameat\(.*"Apba/old".*"Apba/new"')" 20
	assert_equal "$(lines_of ' connect\(.*Apba/socket')" 20
	# the program of openat, whose path is the same argument
	assert_equal "$(lines_of ' unlinkat\(.*"Apba/like"')" 20
	# of these it puts out nothing, or nothing that could be read
	assert_equal "$(lines_of ' unlink\(.*"/pba/gone"')" 20
	assert_equal "$(lines_of ' openat\(dfd: CWD, flags: RDONLY\) .*= -1 EFAULT')" 20
	assert_equal "$(lines_of '"/pba/(file|old|new|socket)')" 0
}

test_its_texts_are_shown() {
	ready
	expect_status 0 "$PERF_BPF" trace --log lines -e augment.bpf.c -- ./pba_work
	expect_augmented
	# as any call it is shown with its result and duration
	assert_equal "$(lines_of 'ms\): pba_work/[0-9]+ openat\(.*"Apba/file".* = -1 ENOENT')" 20
	expect_status 0 "$PERF_BPF" trace --log lines -e augment.bpf.c,openat -- ./pba_work
	assert_equal "$(lines_of '"Apba/file"')" 20
	assert_equal "$(lines_of 'connect|renameat')" 0
}

test_the_configuration_names_it() {
	ready
	mkdir home
	printf '[trace]\n\tadd_events = %s\n' "$PWD/augment.bpf.c" >home/.perfconfig
	HOME=$PWD/home expect_status 0 "$PERF_BPF" trace --log lines -- ./pba_work
	expect_augmented
	printf '[trace]\n\tadd_events = openat\n' >home/.perfconfig
	HOME=$PWD/home expect_status 1 "$PERF_BPF" trace true
	assert_contains err "trace.add_events: 'openat' is not an event"
}

test_a_recording_has_its_texts() {
	ready
	expect_status 0 "$PERF_BPF" trace --record t.data -e augment.bpf.c -- ./pba_work
	expect_status 0 "$PERF_BPF" trace -i t.data --log lines
	expect_augmented
}

# replace FROM TO: in the program of renameat
in_renameat() {
	python3 - "$1" "$2" <<-'END'
		import sys
		text = open("augment.bpf.c").read()
		begin = text.index('SEC("!syscalls:sys_enter_renameat")')
		end = text.index("SEC(", begin + 1)
		part = text[begin:end]
		assert sys.argv[1] in part
		open("augment.bpf.c", "w").write(text[:begin] + part.replace(sys.argv[1], sys.argv[2]) + text[end:])
	END
}

test_what_it_returns_selects_calls() {
	ready
	in_renameat 'n = put(' 'return 0; n = put('
	expect_status 0 "$PERF_BPF" trace --log lines -e augment.bpf.c -- ./pba_work
	assert_equal "$(lines_of ' renameat')" 0
	assert_equal "$(lines_of ' openat\(.*"Apba/file"')" 20
	assert_equal "$(lines_of ' unlink\(.*"/pba/gone"')" 20
	assert_equal "$(lines_of ' socket\(')" 1
	assert_equal "$(lines_of ' exit_group\(')" 1 # it has no exit
	# 1: the call without the texts, which trace copies
	in_renameat 'return 0; n = put(' 'return 1; n = put('
	expect_status 0 "$PERF_BPF" trace --log lines -e augment.bpf.c -- ./pba_work
	assert_equal "$(lines_of ' renameat\(.*"/pba/old".*"/pba/new"')" 20
	# put out and let through, which perf trace shows twice
	in_renameat 'return 1; n = put(' 'n = put('
	in_renameat 'return finish(entry' 'return 1 + 0 * finish(entry'
	expect_status 0 "$PERF_BPF" trace --log lines -e augment.bpf.c -- ./pba_work
	assert_equal "$(lines_of ' renameat\(.*"Apba/old".*"Apba/new"')" 20
	assert_equal "$(lines_of ' renameat')" 20
}

# A file of the form that perf had, with the headers that it had; and perf's own file.
test_as_perf_compiled_it() {
	ready
	cat >old.c <<-'END'
		#include <unistd.h>
		#include <linux/limits.h>
		#include <linux/socket.h>
		#include <pid_filter.h>

		struct entry {
			unsigned long long common;
			long nr;
			unsigned long args[6];
		};

		struct output {
			struct entry entry;
			struct sockaddr_storage address;
			struct {
				u32 size;
				s32 err;
				char value[PATH_MAX];
			} path;
		};

		bpf_map(__augmented_syscalls__, PERF_EVENT_ARRAY, int, u32, __NR_CPUS__);
		bpf_map(syscalls_sys_enter, PROG_ARRAY, u32, u32, 512);
		bpf_map(outputs, PERCPU_ARRAY, int, struct output, 1);
		pid_filter(pids_filtered);

		SEC("!raw_syscalls:unaugmented")
		int unaugmented(struct entry *entry) { return 1; }

		SEC("!syscalls:sys_enter_unlink")
		int of_unlink(struct entry *entry)
		{
			int zero = 0;
			struct output *out = bpf_map_lookup_elem(&outputs, &zero);

			if (!out)
				return 1;
			struct { struct entry entry; u32 size; s32 err; char value[8]; } small = {out->entry, 8, 0, "Augment"};
			return perf_event_output(entry, &__augmented_syscalls__, BPF_F_CURRENT_CPU, &small, sizeof(small));
		}

		SEC("raw_syscalls:sys_enter")
		int sys_enter(struct entry *entry)
		{
			int zero = 0;
			struct output *out = bpf_map_lookup_elem(&outputs, &zero);

			if (!out || pid_filter__has(&pids_filtered, getpid()))
				return 0;
			probe_read(&out->entry, sizeof(out->entry), entry);
			bpf_tail_call(entry, &syscalls_sys_enter, out->entry.nr);
			return 0;
		}

		license(GPL);
	END
	expect_status 0 "$PERF_BPF" trace --log lines -e old.c -- ./pba_work
	assert_equal "$(lines_of ' unlink\(.*"Augment"')" 20
	assert_equal "$(lines_of ' openat\(.*"/pba/file"')" 20
	# what newer versions of clang make of it, the verifier refuses
	mkdir home
	printf '[llvm]\n\tclang-path = %s\n' "$(command -v clang)" >home/.perfconfig
	local file=/usr/share/doc/linux-perf/examples/bpf/augmented_raw_syscalls.c HOME=$PWD/home
	[ -e "$file" ] || return 0
	# it puts out the calls of all processes
	expect_status 0 "$PERF_BPF" trace -m 64M --log lines -e "$file" -- ./pba_work
	assert_equal "$(lines_of ' openat\(.*"/pba/file"')" 20
	assert_equal "$(lines_of ' renameat\(.*"/pba/old".*"/pba/new"')" 20
	assert_equal "$(lines_of ' connect\(.*/pba/socket')" 20
	assert_equal "$(lines_of ' unlinkat\(.*"/pba/like"')" 20
	assert_equal "$(lines_of ' exit_group\(')" 1
}

test_what_is_wrong_with_it() {
	ready
	sed -i 's,SEC("raw_syscalls:sys_enter"),SEC("raw_syscalls:sys_exit"),' augment.bpf.c
	expect_status 1 "$PERF_BPF" trace -e augment.bpf.c true
	assert_contains err 'no program has the section "raw_syscalls:sys_enter"'
}

run_tests
