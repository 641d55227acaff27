// SPDX-License-Identifier: BSD-2-Clause
/*
 * A skeleton's struct_ops: set before load, attached by NAME__attach(); C and
 * C++. tests/cmd/test_gen.sh compiles it with the header of
 * tests/bpf/struct_ops.bpf.c. Ends with 0, or with the number of what is wrong.
 */
#include "control.skel.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int is_registered(const char *name)
{
	char text[4096] = "";
	FILE *f = fopen("/proc/sys/net/ipv4/tcp_available_congestion_control", "r");

	if (!f || !fgets(text, sizeof(text), f))
		return -1;
	fclose(f);
	return strstr(text, name) != NULL;
}

int main(void)
{
	struct control *skel = control__open();
	char name[16];

	if (!skel)
		return 1;
	snprintf(name, sizeof(name), "pb_sk_%d", (int)getpid() % 1000000);
	memcpy(skel->struct_ops.first->name, name, sizeof(name));
	skel->struct_ops.first->init = skel->progs.on_init_of_second;
	bpf_map__set_autocreate(skel->maps.plain, false);
	bpf_map__set_autocreate(skel->maps.first, true);
	if (control__load(skel))
		return 2;
	/* on_init is nobody's any more. */
	if (bpf_program__autoload(skel->progs.on_init) ||
	    bpf_program__fd(skel->progs.on_init_of_second) < 0)
		return 3;
	if (control__attach(skel) || !skel->links.first || skel->links.plain)
		return 4;
	if (is_registered(name) != 1)
		return 5;
	control__detach(skel);
	if (is_registered(name) != 0 || skel->links.first)
		return 6;
	bpf_map__set_autoattach(skel->maps.first, false);
	if (control__attach(skel) || skel->links.first)
		return 7;
	control__destroy(skel);
	return 0;
}
