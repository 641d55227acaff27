// SPDX-License-Identifier: BSD-2-Clause
/* Half a million instructions for the verifier: each round of the loop is another state to it. */
#include <vmlinux.h>
#include <bpf/bpf_helpers.h>

unsigned int odd;

SEC("tracepoint/syscalls/sys_enter_umask")
int long_verified(void *ctx)
{
	unsigned int number = bpf_get_prandom_u32(), n = 0;

	for (int i = 0; i < 90000; i++) {
		if (number & 1)
			n++;
		asm volatile("%0 += 1" : "+r"(number));
	}
	odd = n;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
