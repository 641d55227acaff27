// SPDX-License-Identifier: BSD-2-Clause
/*
 * Links. A multi link takes all points of a form, or none: when the kernel
 * refuses, the half of them is tried, and so on, until those are alone that it
 * does not want; they are reported, with what is known against them, and the
 * others are attached.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "lib/attach/attach.h"
#include "lib/sys/uapi.h"
#include "probe/attach/internal.h"

/* Points of one form, as a link takes them. */
struct batch {
	struct set_prog *prog;
	size_t form;
	size_t *points; /* indices of places */
	unsigned long *places;
	const char **names;
	__u64 *cookies;
	size_t n;
};

static void batch_deinit(struct batch *batch)
{
	free(batch->points);
	free(batch->places);
	free(batch->names);
	free(batch->cookies);
}

static struct error *add_link(struct set_prog *prog, size_t form, struct bpf_link *link,
			      const size_t *points, size_t n)
{
	struct set_link *slot = vec_push(&prog->links);

	if (!slot) {
		bpf_link__destroy(link);
		return error_nomem();
	}
	*slot = (struct set_link){.link = link, .n_points = n, .form = form};
	for (size_t i = 0; i < n; i++)
		prog->places[points[i]].link = prog->links.n;
	return NULL;
}

static const char *shown(const struct probe_point *point)
{
	return point->shown ? point->shown : point->function;
}

/* The kernel's refusal becomes the place's, in the best words that there are. */
static struct error *refuse(struct set_prog *prog, size_t i, struct error *err)
{
	const struct probe_point *point = &prog->points.v[i];
	struct place *place = &prog->places[i];
	_cleanup_error_ struct error *known = NULL;

	if (err->code == ENOMEM)
		return err;
	if (!prog->points.path)
		known = sys_kfunc_refusal(NULL, point->function, place->way != PROBE_WAY_KPROBE);
	struct error *failed = place_refuse(place, "%s: %s", probe_way_name(place->way),
					    known ? known->msg : err->msg);
	error_free(err);
	return failed;
}

/* ---- multi links ---- */

static struct error *link_batch(const struct batch *b, size_t from, size_t n,
				struct bpf_link **link)
{
	const struct form *form = &b->prog->forms.v[b->form];

	if (form->way == PROBE_WAY_UPROBE_MULTI) {
		LIBBPF_OPTS(bpf_uprobe_multi_opts, opts, .offsets = b->places + from,
			    .cookies = b->cookies + from, .cnt = n, .retprobe = form->at_return);
		const pid_t pid = b->prog->set->opts.pid;

		return attach_uprobe_multi(b->prog->prog, pid > 0 ? pid : -1, b->prog->points.path,
					   NULL, &opts, link);
	}
	LIBBPF_OPTS(bpf_kprobe_multi_opts, opts, .cookies = b->cookies + from, .cnt = n,
		    .retprobe = form->at_return);
	if (b->names)
		opts.syms = b->names + from;
	else
		opts.addrs = b->places + from;
	return attach_kprobe_multi(b->prog->prog, NULL, &opts, link);
}

static struct error *attach_batch(const struct batch *b, size_t from, size_t n)
{
	struct bpf_link *link = NULL;
	struct error *err = link_batch(b, from, n, &link);

	if (!err)
		return add_link(b->prog, b->form, link, b->points + from, n);
	if (n == 1)
		return refuse(b->prog, b->points[from], err);
	/* The process is gone, or memory: halves would not be better. */
	if (err->code == ENOMEM || err->code == ESRCH || err->code == EPERM)
		return err;
	error_free(err);
	TRY(attach_batch(b, from, n / 2));
	return attach_batch(b, from + n / 2, n - n / 2);
}

static struct error *fill_batch(struct batch *b)
{
	struct set_prog *prog = b->prog;
	bool by_name = false;

	for (size_t i = 0; i < prog->points.n; i++)
		by_name |= !prog->points.path && !prog->points.v[i].address;
	b->points = calloc(prog->points.n, sizeof(*b->points));
	b->places = calloc(prog->points.n, sizeof(*b->places));
	b->cookies = calloc(prog->points.n, sizeof(*b->cookies));
	b->names = by_name ? calloc(prog->points.n, sizeof(*b->names)) : NULL;
	if (!b->points || !b->places || !b->cookies || (by_name && !b->names))
		return error_nomem();
	for (size_t i = 0; i < prog->points.n; i++) {
		const struct probe_point *point = &prog->points.v[i];

		if (!prog->places[i].way || prog->places[i].form != b->form)
			continue;
		b->points[b->n] = i;
		b->places[b->n] = prog->points.path ? point->file_offset : point->address;
		b->cookies[b->n] = prog->places[i].number;
		if (by_name)
			b->names[b->n] = point->function;
		b->n++;
	}
	return NULL;
}

static struct error *attach_multi(struct set_prog *prog, size_t form)
{
	_cleanup_(batch_deinit) struct batch batch = {.prog = prog, .form = form};

	TRY(fill_batch(&batch));
	return batch.n ? attach_batch(&batch, 0, batch.n) : NULL;
}

/* ---- one point each ---- */

static struct error *link_kprobe(struct set_prog *prog, size_t i, struct bpf_link **link)
{
	const struct probe_point *point = &prog->points.v[i];
	char place[32];
	LIBBPF_OPTS(bpf_kprobe_opts, opts, .retprobe = point->at_return,
		    .bpf_cookie = way_has_cookie(prog->places[i].way) ? prog->places[i].number : 0);

	/* An address means one place; of names there may be several. */
	snprintf(place, sizeof(place), "0x%" PRIx64, point->address);
	if (!point->address)
		opts.offset = point->at_return ? 0 : point->offset;
	return attach_kprobe(prog->prog, point->address ? place : point->function, &opts, link);
}

static struct error *link_uprobe(struct set_prog *prog, size_t i, struct bpf_link **link)
{
	const struct probe_point *point = &prog->points.v[i];
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .retprobe = point->at_return,
		    .bpf_cookie = way_has_cookie(prog->places[i].way) ? prog->places[i].number : 0);
	const pid_t pid = prog->set->opts.pid;

	return attach_uprobe(prog->prog, pid > 0 ? pid : -1, prog->points.path, point->file_offset,
			     &opts, link);
}

static struct error *attach_one(struct set_prog *prog, size_t i)
{
	struct bpf_link *link = NULL;
	struct error *err;

	program_use_form(prog->prog, prog->places[i].form);
	switch (prog->places[i].way) {
	case PROBE_WAY_FENTRY:
		err = attach_trace(prog->prog, NULL, &link);
		break;
	case PROBE_WAY_KPROBE:
		err = link_kprobe(prog, i, &link);
		break;
	default:
		err = link_uprobe(prog, i, &link);
	}
	return err ? refuse(prog, i, err) : add_link(prog, prog->places[i].form, link, &i, 1);
}

struct error *places_attach(struct set_prog *prog)
{
	const pid_t pid = prog->set->opts.pid;

	if (prog->points.path && pid > 0 && kill(pid, 0) && errno == ESRCH)
		return error_new(ESRCH, "process %d does not exist", (int)pid);
	for (size_t f = 0; f < prog->forms.n; f++) {
		const enum probe_way way = prog->forms.v[f].way;

		program_use_form(prog->prog, f);
		if (way == PROBE_WAY_KPROBE_MULTI || way == PROBE_WAY_UPROBE_MULTI)
			TRY(attach_multi(prog, f));
		if (way == PROBE_WAY_UPROBE_MULTI)
			TRY(fault_in_attach(prog, f));
	}
	for (size_t i = 0; i < prog->points.n; i++) {
		const enum probe_way way = prog->places[i].way;

		if (way == PROBE_WAY_FENTRY || way == PROBE_WAY_KPROBE || way == PROBE_WAY_UPROBE)
			TRY(attach_one(prog, i));
	}
	if (prog->links.n)
		return NULL;
	for (size_t i = 0; i < prog->points.n; i++)
		if (prog->places[i].refused)
			return error_new(EOPNOTSUPP,
					 "none of its probe points could be attached: %s: %s",
					 shown(&prog->points.v[i]), prog->places[i].refused);
	return error_new(EOPNOTSUPP, "none of its probe points could be attached");
}

/* ---- misses ---- */

/* All zero where it cannot be read. */
static struct bpf_prog_info form_info(const struct set_prog *prog, size_t form)
{
	const int fd = bpf_program__nth_fd(prog->prog, (int)form);
	struct bpf_prog_info info = {0};
	__u32 len = sizeof(info);

	if (fd < 0 || bpf_prog_get_info_by_fd(fd, &info, &len))
		return (struct bpf_prog_info){0};
	return info;
}

static uint64_t missed_by(const struct set_link *link)
{
	return link->link ? link_missed(link->link) : link->missed;
}

uint64_t link_misses(const struct set_prog *prog, const struct set_link *link, size_t *n_points)
{
	/* Of the program: 5.12. */
	const uint64_t own = form_info(prog, link->form).recursion_misses;

	*n_points = own ? prog->forms.v[link->form].n_points : link->n_points;
	return own + missed_by(link);
}

struct error *probe_set_cost(const struct probe_set *set, const struct bpf_program *prog,
			     struct probe_cost *cost)
{
	for (size_t i = 0; i < set->progs.n; i++) {
		const struct set_prog *p = set->progs.v[i];
		const struct set_link *link;

		if (p->prog != prog)
			continue;
		*cost = (struct probe_cost){0};
		for (size_t f = 0; f < p->forms.n; f++) {
			const struct bpf_prog_info info = form_info(p, f);

			cost->runs += info.run_cnt;
			cost->ns += info.run_time_ns;
			cost->misses += info.recursion_misses;
		}
		vec_for_each (link, &p->links)
			cost->misses += missed_by(link);
		return NULL;
	}
	return error_new(ENOENT, "program %s has no probe definition", bpf_program__name(prog));
}
