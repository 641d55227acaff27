// SPDX-License-Identifier: BSD-2-Clause
/*
 * attached OBJECT REPEAT COMMAND...: runs a command while the programs of an object are attached;
 * meanwhile, XDP programs are run on a test packet REPEAT times. Prints for each program
 *
 *	NAME ID RUN_TIME_NS RUN_CNT
 *
 * by the counters of the kernel, and exits with the status of the command.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int fail(const char *what, int err)
{
	fprintf(stderr, "attached: %s: %s\n", what, strerror(err < 0 ? -err : errno));
	return 1;
}

static int run_on_packet(const struct bpf_program *prog, int repeat)
{
	char packet[64] = {0};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = packet, .data_size_in = sizeof(packet),
		    .repeat = repeat);

	return bpf_prog_test_run_opts(bpf_program__fd(prog), &opts);
}

static struct bpf_link *links[64];
static size_t n_links;

static bool keep(struct bpf_link *link)
{
	if (!link || n_links == sizeof(links) / sizeof(*links))
		return false;
	links[n_links++] = link;
	return true;
}

static int attach(struct bpf_object *obj)
{
	struct bpf_program *prog;
	struct bpf_map *map;

	bpf_object__for_each_program (prog, obj) {
		const enum bpf_prog_type type = bpf_program__type(prog);

		if (type != BPF_PROG_TYPE_XDP && type != BPF_PROG_TYPE_STRUCT_OPS &&
		    !keep(bpf_program__attach(prog)))
			return fail(bpf_program__name(prog), errno);
	}
	bpf_object__for_each_map (map, obj) {
		if (bpf_map__type(map) == BPF_MAP_TYPE_STRUCT_OPS &&
		    !keep(bpf_map__attach_struct_ops(map)))
			return fail(bpf_map__name(map), errno);
	}
	return 0;
}

static int run(struct bpf_object *obj, int repeat, char **command)
{
	struct bpf_program *prog;
	int err, status;

	const pid_t pid = fork();
	if (pid < 0)
		return fail("fork", errno);
	if (!pid) {
		execvp(*command, command);
		fail(*command, errno);
		_exit(127);
	}
	bpf_object__for_each_program (prog, obj) {
		if (bpf_program__type(prog) != BPF_PROG_TYPE_XDP)
			continue;
		err = run_on_packet(prog, repeat);
		if (err)
			return fail(bpf_program__name(prog), err);
	}
	if (waitpid(pid, &status, 0) != pid)
		return fail("wait", errno);
	bpf_object__for_each_program (prog, obj) {
		struct bpf_prog_info info = {0};
		__u32 len = sizeof(info);

		err = bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &len);
		if (err)
			return fail(bpf_program__name(prog), err);
		printf("%s %u %llu %llu\n", bpf_program__name(prog), info.id,
		       (unsigned long long)info.run_time_ns, (unsigned long long)info.run_cnt);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	struct bpf_object *obj = bpf_object__open(argv[1]);
	if (!obj)
		return fail(argv[1], errno);
	const int err = bpf_object__load(obj);
	const int stats = err ? err : bpf_enable_stats(BPF_STATS_RUN_TIME);
	int status = err ? fail("load", err) : stats < 0 ? fail("statistics", stats) : attach(obj);
	if (!status)
		status = run(obj, atoi(argv[2]), argv + 3);
	while (n_links)
		bpf_link__destroy(links[--n_links]);
	bpf_object__close(obj);
	return status;
}
