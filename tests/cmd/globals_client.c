// SPDX-License-Identifier: BSD-2-Clause
/*
 * Uses the skeleton and the subskeleton of tests/bpf/globals.bpf.c and prints
 * every variable; test_gen.sh compiles it with headers of several generators.
 */
#include <bpf/bpf.h>
#include <stdbool.h>
#include <stdio.h>

#include "globals.h"
#ifdef NEEDS_TYPEDEFS
typedef __u64 u64;
typedef __u8 u8;
#endif
#include "globals.skel.h"
#include "globals_lib.subskel.h"

static int failed(const char *what)
{
	perror(what);
	return 1;
}

static void print_data(const struct globals *skel)
{
	printf("first %d, flag %d, wide %c, colour %d, both %llu\n", skel->data->first,
	       skel->data->flag, skel->data->wide, (int)skel->data->colour,
	       (unsigned long long)skel->data->both);
	for (int i = 0; i < 6; i++)
		printf("%llu ", (unsigned long long)skel->data->matrix[i / 3][i % 3]);
	printf("pairs %d/%d %d/%d", skel->data->pairs[0].first, skel->data->pairs[0].second,
	       skel->data->pairs[1].first, skel->data->pairs[1].second);
	printf(" nameless %d/%llu\n", skel->data->nameless.a,
	       (unsigned long long)skel->data->nameless.c);
	printf("limit %llu, yes %d, bytes %d %d %d\n",
	       (unsigned long long)skel->rodata->settings.limit, skel->rodata->settings.yes,
	       skel->rodata->bytes[0], skel->rodata->bytes[1], skel->rodata->bytes[2]);
}

static void print_bss(const struct globals *skel)
{
	printf("words %llu %llu %llu %llu, point %d,%d, small %d, pointers %d %d %d\n",
	       skel->bss->words[0], skel->bss->words[1], skel->bss->words[2], skel->bss->words[3],
	       skel->bss->point.x, skel->bss->point.y, skel->bss->small, !!skel->bss->pointer,
	       !!skel->bss->function, !!skel->bss->table[1]);
}

int main(void)
{
	struct bpf_test_run_opts run;
	struct globals *skel = globals__open();

	if (!skel)
		return failed("open");
	print_data(skel);
	printf("options %s\n", skel->kconfig ? "are there" : "come later");

	struct globals_lib *lib = globals_lib__open(skel->obj);
	if (!lib)
		return failed("subskeleton");
	printf("the library's: %d %d %llu %d %c\n", lib->progs.sum == skel->progs.sum,
	       lib->maps.bss == skel->maps.bss, (unsigned long long)(*lib->data.matrix)[1][2],
	       (*lib->data.pairs)[1].second, *lib->data.wide);
	(*lib->data.matrix)[1][2] = 60;
	*lib->data.flag = false;
	skel->rodata->settings.limit = 1000;

	if (globals__load(skel))
		return failed("load");
	printf("options: version %d, CONFIG_BPF %d\n",
	       skel->kconfig->LINUX_KERNEL_VERSION > 0x50000, (int)skel->kconfig->CONFIG_BPF);
	memset(&run, 0, sizeof(run));
	run.sz = sizeof(run);
	if (bpf_prog_test_run_opts(bpf_program__fd(skel->progs.sum), &run))
		return failed("run");
	print_bss(skel);
	printf("through the library's: %llu\n", (*lib->bss.words)[0]);
	globals_lib__destroy(lib);
	globals__destroy(skel);
	return 0;
}
