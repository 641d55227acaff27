// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/report_browse.h"

#include <errno.h>
#include <stdlib.h>

#include "cmd/browse.h"
#include "cmd/job.h"
#include "perf/print/print_header.h"

struct report_browse {
	const struct report_browse_opts *opts;
	struct browser *browser;
	struct results results;
};

static struct error *show_results(struct report_browse *rb)
{
	TRY(browser_set_results(rb->browser, NULL));
	results_deinit(&rb->results);
	rb->results = (struct results){0};
	TRY(summary_results(rb->opts->summary, &rb->results));
	return browser_set_results(rb->browser, &rb->results);
}

static struct error *show(void *ctx)
{
	struct report_browse *rb = ctx;
	const struct browser_view *view = browser_view(rb->browser);
	const struct summary_view wanted = {
		.sort = view->sort,
		.zoom =
			{
				.comm = view->comm,
				.tid = view->tid,
				.no_kernel = view->no_kernel,
				.no_user = view->no_user,
				.dso = view->dso,
				.symbol = view->symbol,
				.has_socket = view->has_socket,
				.socket = view->socket,
			},
		.symbol_filter = view->filter,
		.has_group_sort = view->has_group_sort,
		.group_sort = view->group_sort,
		.relative = view->relative,
		.least_percent = view->least_percent,
	};
	struct error *err = summary_show(rb->opts->summary, &wanted);

	if (err && err->code == EINVAL) { /* keys that are not known: nothing has changed */
		browser_undo(rb->browser);
		return err;
	}
	TRY(err);
	rb->opts->chain->min_percent =
		view->least_percent > 0 ? view->least_percent : rb->opts->sums->chain.min_percent;
	return show_results(rb);
}

/* Which of the annotator's functions is wanted. */
static struct error *find_function(struct report_browse *rb, const struct browser_choice *choice,
				   size_t *out)
{
	struct annotator *annotator = rb->opts->annotator;
	size_t i = annotator_size(annotator);

	if (choice->module)
		i = annotator_find(annotator, summary_event_of(rb->opts->summary, choice->event),
				   choice->module, choice->function);
	if (i == annotator_size(annotator))
		return error_new(ENOENT, "%s has no samples of its own", choice->function);
	if (choice->is_call) {
		const size_t caller = i;

		TRY(annotator_called(annotator, caller, choice->called, &i));
		if (i == annotator_size(annotator))
			return error_new(ENOENT, "the called function is unknown");
	}
	*out = i;
	return NULL;
}

static struct error *annotate(void *ctx, const struct browser_choice *choice)
{
	_cleanup_annotation_ struct annotation annotation = {0};
	struct report_browse *rb = ctx;
	struct annotator *annotator = rb->opts->annotator;
	size_t i = 0;

	TRY(find_function(rb, choice, &i));
	TRY(error_prefix(annotator_function(annotator, i, &annotation), "cannot show %s",
			 annotator_name(annotator, i)));
	return browser_show_annotation(rb->browser, &annotation);
}

static struct error *header(void *ctx, struct strbuf *out)
{
	const struct report_browse *rb = ctx;
	const struct opened_recording *r = rb->opts->recording;

	print_header(session_header(r->session), r->path, true, out);
	return strbuf_failed(out) ? error_nomem() : NULL;
}

static struct error *sample(void *ctx, const struct browser_sample *of, struct strbuf *out)
{
	const struct report_browse *rb = ctx;
	const struct report_browse_opts *opts = rb->opts;
	struct sample_context_opts context = *opts->context;
	const size_t event = summary_event_of(opts->summary, of->event);

	context.log = opts->log;
	return sample_context_print(&context, of, session_event(opts->recording->session, event),
				    out);
}

static struct error *run(struct report_browse *rb)
{
	_cleanup_(loop_freep) struct loop *loop = NULL; /* behind what it watches for */
	_cleanup_(browse_freep) struct browse *browse = NULL;

	TRY(loop_new(&loop));
	TRY(loop_end_if_busy(loop));
	TRY(tty_listen(rb->opts->tty));
	const struct browse_opts opts = {
		.tty = rb->opts->tty,
		.loop = loop,
		.browser = rb->browser,
		.show = show,
		.annotate = annotate,
		.header = header,
		.sample = sample,
		.ctx = rb,
	};
	TRY(browse_new(&opts, &browse));
	/* with several events, which of them is asked first */
	if (rb->opts->symbol && browser_n_events(rb->browser) == 1)
		TRY(browse_press(browse, 'a'));
	TRY(browse_draw(browse));
	while (!loop_ended(loop))
		TRY(loop_turn(loop, -1));
	return NULL;
}

struct error *report_browse_terminal(struct tty **out)
{
	_cleanup_(tty_freep) struct tty *tty = NULL;

	TRY(tty_new(&tty));
	if (!tty)
		return NULL;
	job_begin();
	TRY(tty_begin(tty));
	if (tty_has_keys(tty))
		*out = steal_ptr(tty);
	return NULL;
}

static struct error *show_first(struct report_browse *rb)
{
	const struct report_browse_opts *opts = rb->opts;

	browser_view(rb->browser)->relative = opts->sums->table.relative;
	browser_view(rb->browser)->least_percent = opts->sums->table.least_percent;
	if (!opts->symbol)
		return show_results(rb);
	TRY(browser_zoom_symbol(rb->browser, opts->symbol));
	return show(rb);
}

struct error *report_browse(const struct report_browse_opts *opts)
{
	const struct browser_opts browser_opts = {.sz = sizeof(browser_opts),
						  .text = opts->text,
						  .annotates = true,
						  .has_header = true,
						  .opens_code = opts->opens_code,
						  .code_only = opts->symbol,
						  .look = opts->look,
						  .command = opts->command};
	const struct log log = *opts->log;
	struct report_browse rb = {.opts = opts};

	TRY(browser_new(&browser_opts, &rb.browser));
	struct error *err = show_first(&rb);
	*opts->log = browse_log(rb.browser);
	if (!err)
		err = run(&rb);
	tty_end(opts->tty);
	*opts->log = log;
	browser_free(rb.browser);
	results_deinit(&rb.results);
	return err;
}
