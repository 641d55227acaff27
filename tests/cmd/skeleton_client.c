// SPDX-License-Identifier: BSD-2-Clause
/*
 * Uses the skeleton of tests/bpf/maps.bpf.c, as C and as C++, and prints what
 * it saw; test_gen.sh compiles it with headers of several generators and
 * compares.
 */
#include <bpf/bpf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#include "maps.skel.h"

static int run(const struct bpf_program *prog)
{
	struct bpf_test_run_opts opts;

	memset(&opts, 0, sizeof(opts));
	opts.sz = sizeof(opts);
	const int err = bpf_prog_test_run_opts(bpf_program__fd(prog), &opts);

	return err ? err : (int)opts.retval;
}

static void tell_links(const struct maps *skel, const char *when)
{
	printf("%s: link count %s, link loop %s\n", when, skel->links.count ? "there" : "none",
	       skel->links.loop ? "there" : "none");
}

int main(void)
{
	size_t size = 0;
	const char *bytes = (const char *)maps__elf_bytes(&size);

	printf("%zu bytes, the second to the fourth %.3s\n", size, bytes + 1);

	struct maps *skel = maps__open();
	if (!skel) {
		perror("open");
		return 1;
	}
	printf("object %s, maps %s %s\n", bpf_object__name(skel->obj),
	       bpf_map__name(skel->maps.samples), bpf_map__name(skel->maps.rodata));
	printf("text %s, start %" PRIu64 ", named %" PRIx64 ", wanted %" PRIu64 "\n",
	       skel->rodata_named->text, (uint64_t)skel->data->start,
	       (uint64_t)skel->data_named->named, (uint64_t)skel->rodata->wanted);
	skel->data->start = 30;
	bpf_program__set_autoload(skel->progs.loop, true);
	const void *before = skel->data;
	if (maps__load(skel)) {
		perror("load");
		return 1;
	}
	printf("data %s in place\n", before == skel->data ? "stays" : "moved");
	printf("count gives %d, ", run(skel->progs.count)); /* 3 + 30 + 1 */
	printf("seen %" PRIu64 "\n", (uint64_t)skel->bss->seen);
	skel->data->start = 300; /* the map itself */
	printf("and then %d\n", run(skel->progs.count));

	bpf_program__set_autoattach(skel->progs.loop, false);
	tell_links(skel, "before");
	if (maps__attach(skel)) {
		perror("attach");
		return 1;
	}
	tell_links(skel, "attached");
	struct bpf_link *link = skel->links.count;
	printf("again %d, %s link\n", maps__attach(skel),
	       link == skel->links.count ? "the same" : "another");
	maps__detach(skel);
	tell_links(skel, "detached");
	maps__destroy(skel);
	maps__destroy(NULL);

	skel = maps__open_and_load();
	printf("at once: %s\n", skel ? "loaded" : "failed");
	maps__destroy(skel);
#ifdef __cplusplus
	skel = maps::open();
	printf("as C++: load %d, ", maps::load(skel));
	printf("attach %d\n", maps::attach(skel));
	maps::detach(skel);
	maps::destroy(skel);
#endif
	return 0;
}
