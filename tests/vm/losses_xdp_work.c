// SPDX-License-Identifier: BSD-2-Clause
/*
 * Attaches an XDP program that passes all packets to the loopback interface, and sends COUNT
 * datagrams over it, each once the one before has come. The program goes when this process ends.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/bpf.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static int attach(void)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = XDP_PASS},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr load = {
		.prog_type = BPF_PROG_TYPE_XDP,
		.insns = (uintptr_t)insns,
		.insn_cnt = sizeof(insns) / sizeof(insns[0]),
		.license = (uintptr_t) "GPL",
	};
	union bpf_attr link = {0};
	const int prog = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &load, sizeof(load));

	if (prog < 0)
		return -1;
	link.link_create.prog_fd = (uint32_t)prog;
	link.link_create.target_ifindex = if_nametoindex("lo");
	link.link_create.attach_type = BPF_XDP;
	return (int)syscall(SYS_bpf, BPF_LINK_CREATE, &link, sizeof(link));
}

int main(int argc, char **argv)
{
	struct sockaddr_in to = {.sin_family = AF_INET};
	const int n = argc > 1 ? atoi(argv[1]) : 0, fd = socket(AF_INET, SOCK_DGRAM, 0);
	socklen_t len = sizeof(to);
	char bytes[1151] = "";

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(fd, (void *)&to, len) || getsockname(fd, (void *)&to, &len) || attach() < 0) {
		fprintf(stderr, "losses_xdp_work: %s\n", strerror(errno));
		return 1;
	}
	for (int i = 0; i < n; i++)
		if (sendto(fd, bytes, sizeof(bytes), 0, (void *)&to, len) < 0 ||
		    recv(fd, bytes, sizeof(bytes), 0) != sizeof(bytes))
			return 1;
	return 0;
}
