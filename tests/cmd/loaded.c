// SPDX-License-Identifier: BSD-2-Clause
/* loaded NAME: whether the kernel holds a BPF program of this name (0: it does). */
#include <bpf/bpf.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	__u32 id = 0;

	while (argc == 2 && !bpf_prog_get_next_id(id, &id)) {
		struct bpf_prog_info info = {0};
		__u32 len = sizeof(info);
		int fd = bpf_prog_get_fd_by_id(id);

		if (fd < 0)
			continue;
		if (!bpf_obj_get_info_by_fd(fd, &info, &len) && !strcmp(info.name, argv[1]))
			return 0;
		close(fd);
	}
	return 1;
}
