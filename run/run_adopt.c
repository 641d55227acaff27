// SPDX-License-Identifier: BSD-2-Clause
/*
 * One process loads and attaches an object and passes descriptors of its maps to another one, which
 * shows them and needs no privilege for that.
 */
#include <errno.h>
#include <stdlib.h>

#include "lib/object/object.h"
#include "run/run_state.h"

struct error *run_adopt_object(const struct run *run, struct bpf_object *obj)
{
	_cleanup_free_ int *fds = NULL;
	struct bpf_map *map;
	size_t n = 0;

	if (run->opts.unwinds)
		return error_new(ENOTSUP, "--call-graph dwarf cannot be used with programs that "
					  "another process loads (perf-bpf delegate)");
	bpf_object__for_each_map (map, obj)
		n++;
	fds = malloc((n + 1) * sizeof(*fds));
	if (!fds)
		return error_nomem();
	for (size_t i = 0; i < n; i++)
		fds[i] = -1;
	struct error *err = run->opts.adopt(run->opts.adopt_ctx, obj, fds, n);
	if (!err)
		err = object_adopt_maps(obj, fds, n);
	for (size_t i = 0; i < n; i++)
		closep(&fds[i]);
	return err;
}

struct error *run_pass_maps(const struct run *run, int *fds, size_t max, size_t *n)
{
	const struct bpf_object *obj = run->objects.v[0].obj;
	struct bpf_map *map;

	*n = 0;
	bpf_object__for_each_map (map, obj) {
		if (*n == max)
			return error_new(E2BIG, "the object has more than %zu maps", max);
		fds[*n] = -1;
		if (bpf_map__fd(map) >= 0)
			TRY(object_pass_map(map, &fds[*n]));
		++*n;
	}
	return NULL;
}
