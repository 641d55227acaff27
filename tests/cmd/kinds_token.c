// SPDX-License-Identifier: BSD-2-Clause
/* Tokens: root of a user namespace, to which a BPF file system delegates: see kinds_client.c. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "kinds.h"

/* A descriptor over the pair of sockets, from the one process to the other. */
static void send_fd(int to, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec byte = {.iov_base = "x", .iov_len = 1};
	struct msghdr msg = {.msg_iov = &byte,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof(control)};
	struct cmsghdr *head = CMSG_FIRSTHDR(&msg);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	CHECK(sendmsg(to, &msg, 0) == 1);
}

static int receive_fd(int from)
{
	char control[CMSG_SPACE(sizeof(int))] = {0}, byte;
	struct iovec into = {.iov_base = &byte, .iov_len = 1};
	struct msghdr msg = {.msg_iov = &into,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof(control)};
	int fd;

	CHECK(recvmsg(from, &msg, 0) == 1 && CMSG_FIRSTHDR(&msg));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	return fd;
}

static void write_file(int pid, const char *name, const char *data)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	const int fd = open(path, O_WRONLY | O_CLOEXEC);
	CHECK(fd >= 0 && write(fd, data, strlen(data)) == (ssize_t)strlen(data));
	close(fd);
}

static int load_with_token(const char *token)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .bpf_token_path = token);
	struct bpf_object *obj = bpf_object__open_file(file, &opts);
	struct bpf_program *prog = bpf_object__find_program_by_name(obj, "asks");

	CHECK(prog && !bpf_program__set_autoload(prog, true));
	CHECK(bpf_object__token_fd(obj) == -1);
	const int err = bpf_object__load(obj);
	if (!err) {
		CHECK(bpf_object__token_fd(obj) >= 0 && bpf_object__btf_fd(obj) >= 0);
		CHECK(run(prog) == 1);
	}
	bpf_object__close(obj);
	return err;
}

/* In the user namespace; the other process holds the rights. */
static void inside(int other)
{
	char path[64];

	CHECK(!unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET));
	CHECK(write(other, "x", 1) == 1 && read(other, path, 1) == 1);
	const int context = (int)syscall(SYS_fsopen, "bpf", 0);
	CHECK(context >= 0);
	send_fd(other, context);
	CHECK(read(other, path, 1) == 1);
	const int mount = (int)syscall(SYS_fsmount, context, 0, 0);
	CHECK(mount >= 0);

	CHECK(load_with_token("") == -EPERM);
	CHECK(load_with_token(NULL) == -EPERM);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", mount);
	CHECK(!load_with_token(path));
	CHECK(!setenv("LIBBPF_BPF_TOKEN_PATH", path, 1));
	CHECK(!load_with_token(NULL));
	CHECK(load_with_token("") == -EPERM);
	CHECK(load_with_token("/nowhere") == -ENOENT);
	CHECK(strstr(perf_bpf_last_error(), "cannot open '/nowhere' for a BPF token"));
	CHECK(load_with_token("/proc") < 0);
	CHECK(strstr(perf_bpf_last_hint(), "the mount point of a BPF file system"));
	exit(0);
}

void kind_token(void)
{
	static const char *const delegate[] = {"delegate_cmds", "delegate_maps", "delegate_progs",
					       "delegate_attachs"};
	int pair[2], status;
	char byte;

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	fflush(stdout);
	const pid_t child = fork();
	CHECK(child >= 0);
	if (!child)
		inside(pair[1]);
	close(pair[1]);
	CHECK(read(pair[0], &byte, 1) == 1);
	write_file(child, "setgroups", "deny");
	write_file(child, "uid_map", "0 0 1");
	write_file(child, "gid_map", "0 0 1");
	CHECK(write(pair[0], "x", 1) == 1);
	const int context = receive_fd(pair[0]);
	/* A kernel that does not know the options takes no notice of them. */
	for (int i = 0; i < 4; i++)
		CHECK(!syscall(SYS_fsconfig, context, 1 /* FSCONFIG_SET_STRING */, delegate[i],
			       "any", 0));
	if (syscall(SYS_fsconfig, context, 6 /* FSCONFIG_CMD_CREATE */, NULL, NULL, 0)) {
		/* An older kernel makes none for a namespace; nor tokens, which it says. */
		LIBBPF_OPTS(bpf_object_open_opts, opts, .bpf_token_path = "/sys/fs/bpf");
		CHECK(bpf_object__load(bpf_object__open_file(file, &opts)) < 0);
		CHECK(strstr(perf_bpf_last_error(), "cannot create a BPF token of '/sys/fs/bpf'"));
		wrong(__LINE__, "the kernel delegates");
	}
	CHECK(write(pair[0], "x", 1) == 1);
	CHECK(waitpid(child, &status, 0) == child);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		exit(1);
}
