// SPDX-License-Identifier: BSD-2-Clause
/* dedup_client N FILE...: all types of the files, N times, without what is double. */
#include <bpf/btf.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	struct btf *all = btf__new_empty();

	for (int n = argc > 1 ? atoi(argv[1]) : 0; n > 0; n--)
		for (int i = 2; i < argc; i++) {
			struct btf *btf = btf__parse(argv[i], NULL);

			if (!btf || btf__add_btf(all, btf) < 0) {
				perror(argv[i]);
				return 1;
			}
			btf__free(btf);
		}
	const __u32 before = btf__type_cnt(all);
	if (btf__dedup(all, NULL)) {
		perror("dedup");
		return 1;
	}
	printf("%u of %u\n", btf__type_cnt(all), before);
	btf__free(all);
	return 0;
}
