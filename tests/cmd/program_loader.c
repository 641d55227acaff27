// SPDX-License-Identifier: BSD-2-Clause
/*
 * program_loader NAME COUNT PER_SECOND HOLD_MS: loads so many socket filters, NAME0 and following,
 * runs each once, and closes it after HOLD_MS at the earliest. Prints the id of each when all are
 * gone. If HOLD_MS is "-": prints the id of each when it is loaded, and closes it after a character
 * on stdin.
 */
#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX 100000

static __u32 id_of(int fd)
{
	struct bpf_prog_info info = {0};
	__u32 len = sizeof(info);

	return bpf_obj_get_info_by_fd(fd, &info, &len) ? 0 : info.id;
}

static int load(const char *name, int i)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = i},
		{.code = BPF_JMP | BPF_EXIT},
	};
	char full[24];

	snprintf(full, sizeof(full), "%.8s%d", name, i);
	full[BPF_OBJ_NAME_LEN - 1] = '\0';
	return bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, full, "GPL", insns, 2, NULL);
}

/* On a packet; it returns its number. */
static bool runs(int fd, int i)
{
	const char packet[64] = {0};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = packet, .data_size_in = sizeof(packet));

	return !bpf_prog_test_run_opts(fd, &opts) && opts.retval == (__u32)i;
}

int main(int argc, char **argv)
{
	static __u32 ids[MAX];
	const int count = argc == 5 ? atoi(argv[2]) : 0;
	const int per_second = argc == 5 ? atoi(argv[3]) : 0;
	const int hold_ms = argc == 5 ? atoi(argv[4]) : 0;
	const bool by_stdin = argc == 5 && !strcmp(argv[4], "-");

	if (count < 1 || count > MAX || per_second < 1)
		return 2;
	const struct timespec pause = {.tv_nsec = 1000000000 / per_second % 1000000000},
			      hold = {hold_ms / 1000, hold_ms % 1000 * 1000000};
	for (int i = 0; i < count; i++) {
		const int fd = load(argv[1], i);

		if (fd < 0 || !runs(fd, i)) {
			perror("program_loader");
			return 1;
		}
		ids[i] = id_of(fd);
		if (by_stdin) {
			printf("%u\n", ids[i]);
			fflush(stdout);
			if (getchar() == EOF)
				return 1;
		}
		if (hold_ms)
			nanosleep(&hold, NULL);
		close(fd);
		nanosleep(&pause, NULL);
	}
	for (int i = 0; i < count && !by_stdin; i++)
		printf("%u\n", ids[i]);
	return 0;
}
