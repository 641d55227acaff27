// SPDX-License-Identifier: BSD-2-Clause
/*
 * Iterators (5.8): the link only says what is walked; the program runs once for
 * each element, and once more at the end, when a descriptor of
 * bpf_iter_create() is read. Without link_info, all there is of its kind.
 */
#include "lib/attach/internal.h"

static struct error *iter_attach_info(const struct bpf_program *prog,
				      const struct bpf_iter_attach_opts *user,
				      struct bpf_link **link)
{
	_cleanup_strbuf_ struct strbuf where = STRBUF_INIT;

	TRY(OPTS_CHECK(user, bpf_iter_attach_opts));
	LIBBPF_OPTS(bpf_link_create_opts, opts, .iter_info = OPTS_GET(user, link_info, NULL),
		    .iter_info_len = OPTS_GET(user, link_info_len, 0));
	strbuf_addf(&where, "the iterator %s", program_section(prog)->target);
	if (strbuf_failed(&where))
		return error_nomem();
	struct error *err = link_attach(prog, 0, where.str, &opts, link);
	if (err && !opts.iter_info && (err->code == EBADF || err->code == EINVAL))
		return error_hint(err, "an iterator over map elements or cgroups needs link_info: "
				       "see bpf_program__attach_iter()");
	return err;
}

struct error *iter_attach(const struct bpf_program *prog, struct bpf_link **link)
{
	return iter_attach_info(prog, NULL, link);
}

struct bpf_link *bpf_program__attach_iter(const struct bpf_program *prog,
					  const struct bpf_iter_attach_opts *opts)
{
	struct bpf_link *link = NULL;
	struct error *err = attach_error_at(prog, iter_attach_info(prog, opts, &link));

	return err ? edge_null(err) : link;
}
