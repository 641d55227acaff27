// SPDX-License-Identifier: BSD-2-Clause
/*
 * For test_compile.sh: compiles one file as `record` does, and tells how.
 *
 *	compile_file [-b KERNEL_BTF] [-o OBJECT] [-v] FILE.c
 *
 * Prints "NAME cached|compiled MILLISECONDS BYTES".
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/config.h"
#include "compile/compile_object.h"

static void print_log(void *ctx, enum log_level level, const char *fmt, va_list ap)
{
	vprintf(fmt, ap);
	putchar('\n');
}

static int fail(struct error *err)
{
	printf("error %d: %s%s%s\n", err->code, err->where ?: "", err->where ? ": " : "", err->msg);
	if (err->hint)
		printf("hint: %s\n", err->hint);
	error_free(err);
	return 1;
}

int main(int argc, char **argv)
{
	struct log log = {.level = LOG_WARN, .write = print_log};
	struct compile_opts opts = {.log = &log};
	const char *object = NULL;
	_cleanup_config_ struct config *cfg = NULL;
	_cleanup_compiled_ struct compiled out = {0};
	struct timespec from, to;

	for (int opt; (opt = getopt(argc, argv, "b:o:v")) >= 0;) {
		if (opt == 'b')
			opts.kernel_btf = optarg;
		else if (opt == 'o')
			object = optarg;
		else if (opt == 'v')
			log.level = LOG_INFO;
		else
			return 2;
	}
	if (optind != argc - 1)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	struct error *err = config_load(&log, &cfg);
	if (!err)
		err = config_compile_opts(cfg, &opts);
	if (err)
		return fail(err);
	clock_gettime(CLOCK_MONOTONIC, &from);
	err = compile_object(argv[optind], &opts, &out);
	clock_gettime(CLOCK_MONOTONIC, &to);
	if (err)
		return fail(err);
	printf("%s %s %.3f %zu\n", out.name, out.from_cache ? "cached" : "compiled",
	       (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) / 1e6,
	       out.size);
	if (object) {
		_cleanup_fclose_ FILE *file = fopen(object, "w");
		if (!file || fwrite(out.data, 1, out.size, file) != out.size)
			return 1;
	}
	return 0;
}
