// SPDX-License-Identifier: BSD-2-Clause
/*
 * For test_compile.sh: compiles one file as `record` does, and tells how.
 *
 *	compile_file [-b KERNEL_BTF] [-o OBJECT] [-v] FILE.c
 *
 * Prints "NAME cached|compiled MILLISECONDS BYTES": the CPU time, also that of the compiler.
 */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
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

/* Of this process and of the compilers that it waited for. */
static double cpu_time_ms(void)
{
	double ms = 0;

	for (int i = 0; i < 2; i++) {
		struct rusage used;

		getrusage(i ? RUSAGE_CHILDREN : RUSAGE_SELF, &used);
		ms += (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
		      (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e3;
	}
	return ms;
}

int main(int argc, char **argv)
{
	struct log log = {.level = LOG_WARN, .write = print_log};
	struct compile_opts opts = {.log = &log};
	const char *object = NULL;
	_cleanup_config_ struct config *cfg = NULL;
	_cleanup_compiled_ struct compiled out = {0};
	double cpu_ms;

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
	cpu_ms = cpu_time_ms();
	err = compile_object(argv[optind], &opts, &out);
	cpu_ms = cpu_time_ms() - cpu_ms;
	if (err)
		return fail(err);
	printf("%s %s %.3f %zu\n", out.name, out.from_cache ? "cached" : "compiled", cpu_ms,
	       out.size);
	if (object) {
		_cleanup_fclose_ FILE *file = fopen(object, "w");
		if (!file || fwrite(out.data, 1, out.size, file) != out.size)
			return 1;
	}
	return 0;
}
