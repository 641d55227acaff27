// SPDX-License-Identifier: BSD-2-Clause
/*
 * taken_over COMMAND PID ROOT: gives up privileges as COMMAND does ("nothing": none), and then
 * tries what an attacker would whose code runs there, against the process PID of another user, the
 * process ROOT of root, and files in the current folder: "secret", which belongs to the user of
 * PID, and "target". Prints what succeeds, a word each.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "cmd/privileges.h"

/* What was open before. */
static int map_fd, prog_fd;
static uint32_t map_id;
static pid_t victim, root_victim;

static int load_program(void)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "attack", "GPL", insns, 2, NULL);
}

static int create_map(void)
{
	return bpf_map_create(BPF_MAP_TYPE_ARRAY, "attack", 4, 4, 1, NULL);
}

static bool read_file(void)
{
	return open("secret", O_RDONLY | O_CLOEXEC) >= 0;
}

static bool create_file(void)
{
	return open("created", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) >= 0;
}

static bool change_file(void)
{
	return open("target", O_WRONLY | O_CLOEXEC) >= 0;
}

static int open_memory(pid_t pid, int flags, off_t *at)
{
	unsigned long long start;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	FILE *maps = fopen(path, "re");
	const bool known = maps && fscanf(maps, "%llx-", &start) == 1;
	if (maps)
		fclose(maps);
	*at = known ? (off_t)start : 0;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	return known ? open(path, flags | O_CLOEXEC) : -1;
}

static bool read_memory(void)
{
	char byte;
	off_t at;
	const int fd = open_memory(victim, O_RDONLY, &at);

	return fd >= 0 && pread(fd, &byte, 1, at) == 1;
}

static bool change_memory_of(pid_t pid)
{
	char byte;
	off_t at;
	const int fd = open_memory(pid, O_RDWR, &at);

	return fd >= 0 && pread(fd, &byte, 1, at) == 1 && pwrite(fd, &byte, 1, at) == 1;
}

static bool change_memory(void)
{
	return change_memory_of(victim);
}

static bool change_root(void)
{
	return change_memory_of(root_victim);
}

static bool trace_process(void)
{
	return !ptrace(PTRACE_SEIZE, victim, NULL, NULL);
}

static bool signal_process(void)
{
	return !kill(victim, 0);
}

static bool signal_root(void)
{
	return !kill(root_victim, 0);
}

static bool read_map(void)
{
	uint32_t key = 0, value;

	return !bpf_map_lookup_elem(map_fd, &key, &value);
}

static bool change_map(void)
{
	uint32_t key = 0, value = 1;

	return !bpf_map_update_elem(map_fd, &key, &value, BPF_ANY);
}

static bool find_map(void)
{
	return bpf_map_get_fd_by_id(map_id) >= 0;
}

static bool load(void)
{
	return load_program() >= 0;
}

static bool make_map(void)
{
	return create_map() >= 0;
}

static bool attach(void)
{
	return bpf_raw_tracepoint_open("sys_enter", prog_fd) >= 0;
}

static bool sample_everybody(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_freq = 1,
		.freq = 1,
		.disabled = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN,
	};

	return syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0) >= 0;
}

static bool connect_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM, 0) >= 0 || socket(AF_INET, SOCK_STREAM, 0) >= 0;
}

static bool change_mode(void)
{
	return !chmod("target", 0755);
}

static bool mount_folder(void)
{
	return !unshare(CLONE_NEWNS) && !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !mount("none", ".", "tmpfs", 0, NULL);
}

static bool run_new_code(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0) != MAP_FAILED;
}

static bool start_process(void)
{
	const pid_t pid = fork();

	if (!pid)
		_exit(0);
	return pid > 0 && waitpid(pid, NULL, 0) == pid;
}

/* execve(2) does not come back when it succeeds, so something that is not a program is executed. */
static bool execute(void)
{
	char *const argv[] = {(char *)"target", NULL};

	return execve("target", argv, NULL) && errno != EPERM && errno != EACCES;
}

static const struct {
	const char *name;
	bool (*fn)(void);
} attacks[] = {
	{"read_file", read_file},
	{"create_file", create_file},
	{"change_file", change_file},
	{"change_mode", change_mode},
	{"read_memory", read_memory},
	{"change_memory", change_memory},
	{"change_root", change_root},
	{"trace_process", trace_process},
	{"signal_process", signal_process},
	{"signal_root", signal_root},
	{"read_map", read_map},
	{"change_map", change_map},
	{"find_map", find_map},
	{"make_map", make_map},
	{"load_program", load},
	{"attach_program", attach},
	{"sample_everybody", sample_everybody},
	{"connect", connect_socket},
	{"mount", mount_folder},
	{"run_new_code", run_new_code},
	{"start_process", start_process},
	{"execute", execute},
};

static struct error *become(const char *command)
{
	const char *const none[] = {NULL}, *const html[] = {"page.html"};

	if (!strcmp(command, "nothing"))
		return NULL;
	if (!strcmp(command, "report, of files below --symfs"))
		return privileges_of_reader(none, 1, 0, NULL);
	if (!strcmp(command, "report"))
		return privileges_of_reader(none, 1, READER_ASKS, NULL);
	if (!strcmp(command, "report --html"))
		return privileges_of_reader(html, 1, READER_ASKS, NULL);
	if (!strcmp(command, "report, the browser"))
		return privileges_of_reader(none, 1, READER_WAITS | READER_ASKS, NULL);
	if (!strcmp(command, "the process that reads the kernel's code"))
		return privileges_of_kernel_reader(NULL);
	if (!strcmp(command, "the process that opens perf maps"))
		return privileges_of_map_opener(NULL);
	if (!strcmp(command, "the process that demangles names"))
		return privileges_of_demangler(NULL);
	if (!strcmp(command, "the process that finds probe points"))
		return privileges_of_finder(NULL);
	if (!strcmp(command, "record"))
		return privileges_of_recorder(RECORD_RUNNING, ".", false, NULL);
	if (!strcmp(command, "record, at its end"))
		return privileges_of_recorder(RECORD_FINISHING, ".", false, NULL);
	if (!strcmp(command, "record, the process that copies files"))
		return privileges_of_recorder(RECORD_COPYING, ".", false, NULL);
	if (!strcmp(command, "record --switch-output"))
		return privileges_of_recorder(RECORD_RUNNING, ".", true, NULL);
	if (!strcmp(command, "record --switch-output, the process that creates files"))
		return privileges_of_file_series("t.data", NULL);
	if (!strcmp(command, "run"))
		return privileges_of_run(false, false, NULL);
	if (!strcmp(command, "run, with events on CPUs"))
		return privileges_of_run(true, false, NULL);
	if (!strcmp(command, "run, with maps of maps"))
		return privileges_of_run(false, true, NULL);
	if (!strcmp(command, "run --html, the process that writes files"))
		return privileges_of_writer(html, 1, NULL);
	if (!strcmp(command, "run --openmetrics, the server"))
		return privileges_of_server(NULL);
	if (!strcmp(command, "trace"))
		return privileges_of_trace(true, false, true, NULL);
	if (!strcmp(command, "trace, with events on CPUs"))
		return privileges_of_trace(true, true, true, NULL);
	if (!strcmp(command, "trace -s"))
		return privileges_of_trace(false, false, false, NULL);
	if (!strcmp(command, "top"))
		return privileges_of_top(false, false, true, NULL);
	if (!strcmp(command, "top, of all processes"))
		return privileges_of_top(true, false, true, NULL);
	if (!strcmp(command, "top, of very many threads"))
		return privileges_of_top(true, true, true, NULL);
	if (!strcmp(command, "watch"))
		return privileges_of_watch(NULL);
	if (!strcmp(command, "probe"))
		return privileges_of_probe(false, NULL);
	if (!strcmp(command, "probe, of the kernel"))
		return privileges_of_probe(true, NULL);
	if (!strcmp(command, "map dump"))
		return privileges_of_inspector(0, NULL, NULL);
	if (!strcmp(command, "map update"))
		return privileges_of_inspector(INSPECT_CHANGE, NULL, NULL);
	if (!strcmp(command, "map list"))
		return privileges_of_inspector(INSPECT_LIST, NULL, NULL);
	return error_new(EINVAL, "unknown command '%s'", command);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	struct bpf_map_info info = {0};
	__u32 size = sizeof(info);

	victim = (pid_t)atoi(argv[2]);
	root_victim = (pid_t)atoi(argv[3]);
	map_fd = create_map();
	prog_fd = load_program();
	if (map_fd < 0 || prog_fd < 0 || bpf_map_get_info_by_fd(map_fd, &info, &size))
		return 2;
	map_id = info.id;
	struct error *err = become(argv[1]);
	if (err) {
		fprintf(stderr, "%s\n", err->msg);
		return 2;
	}
	for (size_t i = 0; i < sizeof(attacks) / sizeof(*attacks); i++)
		if (attacks[i].fn())
			printf(" %s", attacks[i].name);
	putchar('\n');
	return 0;
}
