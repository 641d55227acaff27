// SPDX-License-Identifier: BSD-2-Clause
/*
 * Asks probe/dwarf/ about an image, for the tests:
 *
 *	dwarf-ask [-d DEBUGDIR]... [-s SYMFS] [-k RELEASE] IMAGE [-V|-G|-L|-F] DEFINITION
 *
 * prints a line for each place ("FUNCTION+OFFSET FILE:LINE" and what more there
 * is), and below each its arguments with their fetch programs, or (-V) its
 * variables, with (-G) global ones; or the lines that have code, or functions.
 * -k takes IMAGE for the kernel's ("") or a module's name. On standard error,
 * with -t, how long it took and how much memory it had.
 */
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "lib/base/strbuf.h"
#include "lib/base/util.h"
#include "probe/dwarf/dwarf.h"
#include "probe/fetch/regs.h"

static int fail(struct error *err)
{
	fprintf(stderr, "error %d: %s%s%s\n", err->code, err->where ? err->where : "",
		err->where ? ": " : "", err->msg);
	if (err->hint)
		fprintf(stderr, "hint: %s\n", err->hint);
	error_free(err);
	return 1;
}

static void write_log(void *ctx, enum log_level level, const char *fmt, va_list ap)
{
	fputs("log: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

static struct error *print_variable(void *ctx, const struct dwarf_variable *var)
{
	printf("\t%s %s (%s)%s%s\n", var->type, var->name,
	       var->is_parameter ? "parameter"
	       : var->is_global	 ? "global"
				 : "local",
	       var->obstacle ? ": " : "", var->obstacle ? var->obstacle : "");
	return NULL;
}

static struct error *print_line(void *ctx, const struct dwarf_line *line)
{
	if (line->can)
		printf("%s:%u %u\n", line->file, line->line, line->line - line->first);
	return NULL;
}

static struct error *print_name(void *ctx, const char *name)
{
	puts(name);
	return NULL;
}

static struct error *print_args(struct dwarf_image *image, const struct dwarf_place *place,
				const struct probe_def *def)
{
	for (size_t i = 0; i < def->n_args; i++) {
		struct fetch_value value = {0};
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

		TRY(pb_dwarf_place_arg(image, place, &def->args[i], &value));
		if (!value.obstacle)
			fetch_value_text(&value, regs_of(pb_dwarf_image_machine(image)), &text);
		printf("\t%s: %s: %s%s\n", value.name, value.type ? value.type : "-",
		       value.obstacle ? "cannot be read: " : "",
		       value.obstacle ? value.obstacle : strbuf_str(&text));
		fetch_value_deinit(&value);
	}
	return NULL;
}

static struct error *print_places(struct dwarf_image *image, const struct probe_def *def, char what)
{
	_cleanup_dwarf_places_ struct dwarf_places places = {0};

	TRY(pb_dwarf_places_find(image, def, &places));
	for (size_t i = 0; i < places.n; i++) {
		const struct dwarf_place *p = &places.v[i];
		const char *slash = p->file ? strrchr(p->file, '/') : NULL;

		printf("%s+%" PRIu64 " %s:%u", p->shown, p->offset,
		       slash	 ? slash + 1
		       : p->file ? p->file
				 : "?",
		       p->line);
		if (p->inlined)
			printf(" copy of %s", p->inlined);
		if (p->at_return)
			printf(" return");
		if (p->after_prologue)
			printf(" behind the prologue");
		printf(" at %#" PRIx64 " %s+%" PRIu64 "\n", p->address, p->symbol ? p->symbol : "?",
		       p->symbol_offset);
		if (what)
			TRY(pb_dwarf_place_variables(image, p, what == 'G', print_variable, NULL));
		else
			TRY(print_args(image, p, def));
	}
	return NULL;
}

static struct error *ask(struct dwarf_image *image, char what, const char *text)
{
	_cleanup_probe_def_ struct probe_def def = {0};

	if (what == 'F')
		return pb_dwarf_functions(image, text, print_name, NULL);
	TRY(probe_def_parse(text, &def));
	if (what == 'L')
		return pb_dwarf_lines(image, &def, print_line, NULL);
	return print_places(image, &def, what);
}

int main(int argc, char **argv)
{
	static const struct log log = {LOG_DEBUG, write_log, NULL};
	const char *dirs[8] = {NULL}, *release = NULL;
	struct dwarf_opts opts = {.log = &log};
	struct dwarf_image *image = NULL;
	struct timespec start, end;
	size_t n_dirs = 0;
	bool timed = false;
	char what = 0;
	int c;

	while ((c = getopt(argc, argv, "+d:s:k:t")) > 0) {
		if (c == 'd' && n_dirs + 1 < ARRAY_SIZE(dirs))
			dirs[n_dirs++] = optarg;
		else if (c == 's')
			opts.symfs = optarg;
		else if (c == 'k')
			release = optarg;
		else if (c == 't')
			timed = true;
	}
	argc -= optind;
	argv += optind;
	if (n_dirs)
		opts.debug_dirs = dirs;
	if (argc == 3 && argv[1][0] == '-')
		what = argv[1][1];
	else if (argc != 2)
		return 2;
	clock_gettime(CLOCK_MONOTONIC, &start);
	struct error *err = release ? pb_dwarf_image_open_kernel(release, *argv[0] ? argv[0] : NULL,
								 &opts, &image)
				    : pb_dwarf_image_open(argv[0], &opts, &image);
	if (!err)
		err = ask(image, what, argv[argc - 1]);
	clock_gettime(CLOCK_MONOTONIC, &end);
	pb_dwarf_image_free(image);
	if (timed) {
		struct rusage usage;

		getrusage(RUSAGE_SELF, &usage);
		fprintf(stderr, "%.3f s, %ld MB\n",
			(double)(end.tv_sec - start.tv_sec) +
				(double)(end.tv_nsec - start.tv_nsec) / 1e9,
			usage.ru_maxrss / 1024);
	}
	return err ? fail(err) : 0;
}
