// SPDX-License-Identifier: BSD-2-Clause
/*
 * Compiling: options become clang's command line; the command line, the
 * source and the surroundings become a key; under the key lies the object, or
 * clang is run and it will. See cache_entry.c for when a cached object holds, and
 * cache.c for where it lies.
 *
 * The command line, and why:
 *	-target bpf -O2		the verifier wants optimized code: -O0's spilled
 *				pointers and calls it refuses
 *	-g			BTF: map types, CO-RE, lines for the verifier's log
 *	-mcpu=v3		32-bit jumps and ALU: every kernel since 5.1
 *	-fno-stack-protector	distributions switch it on; BPF has none
 *	-D__TARGET_ARCH_x86	which registers PT_REGS_PARM1() and its like read
 *	-I FILE's folder	before all others, also for <…>
 *	clang-opt		may override the above
 *	-I headers, vmlinux.h	from the cache; before them, for files in the form of
 *				perf's own BPF C files, the headers of that form
 *	-idirafter		<asm/types.h> lies below the host's triple in
 *				Debian and Ubuntu, where clang looks for the
 *				host's target only
 */
#include "compile/internal.h"

#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>

#include "lib/sys/open_file.h"

#define SOURCE_MAX   (64u << 20)
#define OBJECT_MAX   (256u << 20)
#define KEEP_OBJECTS 200

/* What steers clang besides its command line. */
static const char *const heeded_variables[] = {
	"CPATH",
	"C_INCLUDE_PATH",
	"CCC_OVERRIDE_OPTIONS",
	"SOURCE_DATE_EPOCH",
};

/* One compilation under way. */
struct job {
	const struct compile_opts *opts;
	struct cache cache;
	struct clang clang;
	char *source; /* absolute */
	char *folder; /* the source's */
	char *cwd;
	char *headers; /* -I folders in the cache */
	char *vmlinux;
	struct names dirs; /* where headers are looked for first, in order */
	struct names argv; /* without the output's names */
	struct digest key;
	struct timespec started;
};

static void job_deinit(struct job *j)
{
	cache_close(&j->cache);
	clang_deinit(&j->clang);
	free(j->source);
	free(j->folder);
	free(j->cwd);
	free(j->headers);
	free(j->vmlinux);
	names_deinit(&j->dirs);
	names_deinit(&j->argv);
}

void compiled_deinit(struct compiled *c)
{
	free(c->data);
	free(c->name);
	free(c->dumped);
	*c = (struct compiled){0};
}

bool compile_is_source(const char *path)
{
	size_t n = strlen(path);

	return n > 2 && !strcmp(path + n - 2, ".c");
}

/* "…/slow_writes.bpf.c" is the object "slow_writes". */
static char *object_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *name = strdup(slash ? slash + 1 : path);

	if (!name)
		return NULL;
	for (const char *const *end = (const char *const[]){".c", ".bpf", NULL}; *end; end++) {
		size_t n = strlen(name), m = strlen(*end);
		if (n > m && !strcmp(name + n - m, *end))
			name[n - m] = 0;
	}
	return name;
}

static char *absolute(const char *cwd, const char *path)
{
	char *joined;

	if (*path == '/')
		return strdup(path);
	while (!strncmp(path, "./", 2))
		path += 2;
	return asprintf(&joined, "%s/%s", cwd, path) < 0 ? NULL : joined;
}

/* Reads the source; says what is wrong with it in the user's terms. */
static struct error *read_source(const char *path, char **data, size_t *size)
{
	struct error *err = file_read(AT_FDCWD, path, SOURCE_MAX, data, size);

	if (!err)
		return NULL;
	if (err->code == EISDIR)
		return error_hint(err, "name a C file in that directory");
	if (err->code == EACCES)
		return error_hint(err, "ls -l %s shows who may read it", path);
	if (err->code != ENOENT)
		return err;

	/* A C file of nearly that name in the same folder? */
	_cleanup_free_ char *copy = strdup(path);
	_cleanup_names_ struct names there = {0};
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	struct nearest near = nearest_make(base);
	size_t stem = strlen(base) - strlen(".c");
	if (!copy)
		return err;
	files_list(dirname(copy), ".c", &there);
	for (size_t i = 0; i < there.n; i++) {
		/* prog.c for prog.bpf.c is one slip, whatever the letters say. */
		if (!strncmp(there.v[i], base, stem) && !strcmp(there.v[i] + stem, ".bpf.c"))
			return error_hint(err, "did you mean '%s'?", there.v[i]);
		nearest_offer(&near, there.v[i]);
	}
	return error_suggest(err, &near);
}

static struct error *add_arg(struct job *j, const char *fmt, ...) _printf_(2, 3);

static struct error *add_arg(struct job *j, const char *fmt, ...)
{
	_cleanup_free_ char *arg = NULL;
	va_list ap;

	va_start(ap, fmt);
	int n = vasprintf(&arg, fmt, ap);
	va_end(ap);
	if (n < 0)
		arg = NULL;
	return arg && names_add(&j->argv, arg) ? NULL : error_nomem();
}

/* -I dir, and remembers it as a place that is looked at before those after it. */
static struct error *add_dir(struct job *j, const char *dir)
{
	_cleanup_free_ char *path = absolute(j->cwd, dir);

	if (!path || !names_add(&j->dirs, path))
		return error_nomem();
	return add_arg(j, "-I%s", path);
}

/* The folders that the user's options name by -I stand among the searched ones too. */
static struct error *add_user_options(struct job *j)
{
	_cleanup_names_ struct names words = {0};

	if (!j->opts->clang_opt)
		return NULL;
	TRY(error_hint(words_split(j->opts->clang_opt, &words),
		       "check --clang-opt, and clang-opt in section [llvm] of the configuration"));
	for (size_t i = 0; i < words.n; i++) {
		const char *dir = NULL;
		TRY(add_arg(j, "%s", words.v[i]));
		if (!strcmp(words.v[i], "-I") && i + 1 < words.n)
			dir = words.v[i + 1];
		else if (!strncmp(words.v[i], "-I", 2) && words.v[i][2])
			dir = words.v[i] + 2;
		if (!dir)
			continue;
		_cleanup_free_ char *path = absolute(j->cwd, dir);
		if (!path || !names_add(&j->dirs, path))
			return error_nomem();
	}
	return NULL;
}

/* The macro by which <bpf/bpf_tracing.h> knows the registers, and the triple of Debian. */
static struct error *add_arch(struct job *j)
{
	static const struct {
		const char *machine, *macro, *triple;
	} arches[] = {
		{"x86_64", "x86", "x86_64-linux-gnu"},
		{"aarch64", "arm64", "aarch64-linux-gnu"},
		{"riscv64", "riscv", "riscv64-linux-gnu"},
		{"s390x", "s390", "s390x-linux-gnu"},
		{"ppc64le", "powerpc", "powerpc64le-linux-gnu"},
		{"loongarch64", "loongarch", "loongarch64-linux-gnu"},
	};
	struct utsname uts;

	uname(&uts);
	for (size_t i = 0; i < ARRAY_SIZE(arches); i++) {
		if (strcmp(arches[i].machine, uts.machine) != 0)
			continue;
		TRY(add_arg(j, "-D__TARGET_ARCH_%s", arches[i].macro));
		TRY(add_arg(j, "-idirafter"));
		TRY(add_arg(j, "/usr/include/%s", arches[i].triple));
		return names_add(&j->dirs, j->argv.v[j->argv.n - 1]) ? NULL : error_nomem();
	}
	return NULL;
}

/* Whether it is in the form of perf's own BPF C files: include/perf/bpf.h. */
static bool is_of_perf(const char *source)
{
	static const char mark[] = "\nlicense(";

	return strstr(source, mark) || !strncmp(source, mark + 1, sizeof(mark) - 2);
}

static struct error *build_argv(struct job *j, const char *source)
{
	static const char *const fixed[] = {
		"-target",
		"bpf",
		"-c",
		"-O2",
		"-g",
		"-mcpu=v3",
		"-fno-stack-protector",
		"-fno-crash-diagnostics", /* else a crash leaves files in /tmp */
		/* Habits of BPF code that are no mistakes there. */
		"-Wno-unknown-warning-option",
		"-Wno-compare-distinct-pointer-types",
		"-Wno-address-of-packed-member",
		"-Wno-gnu-variable-sized-type-not-at-end",
		"-Wno-missing-declarations",
	};

	TRY(add_arg(j, "%s", j->clang.path));
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		TRY(add_arg(j, "%s", fixed[i]));
	if (isatty(2))
		TRY(add_arg(j, "-fcolor-diagnostics"));
	TRY(add_dir(j, j->folder));
	for (const char *const *dir = j->opts->include_dirs; dir && *dir; dir++)
		TRY(add_dir(j, *dir));
	for (const char *const *define = j->opts->defines; define && *define; define++)
		TRY(add_arg(j, "-D%s", *define));
	TRY(add_user_options(j));
	TRY(headers_path(&j->cache, &j->headers));
	if (is_of_perf(source)) {
		_cleanup_free_ char *dir = text_format("%s/perf", j->headers);

		if (!dir)
			return error_nomem();
		TRY(add_dir(j, dir));
	}
	TRY(add_dir(j, j->headers));
	TRY(vmlinux_path(&j->cache, j->opts->kernel_btf, &j->vmlinux));
	TRY(add_dir(j, j->vmlinux));
	/* clang's own, in its order; for is_shadowed() only. */
	if (!names_add(&j->dirs, "/usr/local/include") || !names_add(&j->dirs, "/usr/include"))
		return error_nomem();
	return add_arch(j);
}

static struct error *build_key(struct job *j, const void *source, size_t size)
{
	_cleanup_hasher_ struct hasher *h = hasher_new();

	if (!h)
		return error_nomem();
	hasher_add_str(h, PERF_BPF_VERSION);
	hasher_add_str(h, j->clang.identity.hex);
	for (size_t i = 0; i < j->argv.n; i++)
		if (strcmp(j->argv.v[i], "-fcolor-diagnostics") != 0)
			hasher_add_str(h, j->argv.v[i]);
	for (size_t i = 0; i < ARRAY_SIZE(heeded_variables); i++)
		hasher_add_str(h, getenv(heeded_variables[i]));
	/* Only the user's own options can name files relative to where we stand. */
	hasher_add_str(h, j->opts->clang_opt ? j->cwd : NULL);
	hasher_add_str(h, j->source);
	hasher_add(h, source, size);
	j->key = hasher_end(h);
	return NULL;
}

static bool is_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return !strncmp(path, dir, n) && path[n] == '/';
}

/*
 * Whether clang would now find another file than path first: one of the same
 * name in a folder that is searched earlier and was not there before.
 */
static bool is_shadowed(const struct job *j, const char *path)
{
	size_t in = j->dirs.n, longest = 0;

	/* Where it lies: the innermost of the searched folders that hold it. */
	for (size_t i = 0; i < j->dirs.n; i++) {
		size_t len = strlen(j->dirs.v[i]);
		if (len <= longest || !is_below(path, j->dirs.v[i]))
			continue;
		in = i;
		longest = len;
	}
	for (size_t i = 0; in < j->dirs.n && i < in; i++) {
		char other[PATH_MAX];
		snprintf(other, sizeof(other), "%s%s", j->dirs.v[i], path + longest);
		if (access(other, F_OK) == 0)
			return true;
	}
	return false;
}

/* The cached object, if there is one that holds. */
static bool take_cached(const struct job *j, struct cache_entry *out)
{
	_cleanup_free_ char *data = NULL;
	_cleanup_entry_ struct cache_entry e = {0};
	_cleanup_close_ int folder = -1;
	size_t size;
	_cleanup_error_ struct error *err = cache_folder(&j->cache, "objects", &folder);

	if (!err)
		err = file_read(folder, j->key.hex, OBJECT_MAX, &data, &size);
	if (!err)
		err = entry_decode(data, size, &e);
	if (err) {
		if (err->code != ENOENT)
			log_info(j->cache.log, "%s: %s", err->where ?: j->key.hex, err->msg);
		return false;
	}
	for (size_t i = 0; i < e.n_deps; i++) {
		if (dep_holds(&e.deps[i]) && !is_shadowed(j, e.deps[i].path))
			continue;
		log_info(j->cache.log, "%s has changed", e.deps[i].path);
		return false;
	}
	utimensat(folder, j->key.hex, NULL, 0); /* the newest are kept */
	*out = e;
	e = (struct cache_entry){0};
	return true;
}

static struct error *run_clang(struct job *j, const char *object, const char *deps)
{
	_cleanup_free_ char **argv = calloc(j->argv.n + 10, sizeof(*argv));
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;
	_cleanup_close_ int said = -1;
	size_t n = 0;
	int status;

	if (!argv)
		return error_nomem();
	for (; n < j->argv.n; n++)
		argv[n] = j->argv.v[n];
	if (j->opts->said) {
		argv[n++] = (char *)"-fno-caret-diagnostics";
		argv[n++] = (char *)"-fno-color-diagnostics";
		argv[n++] = (char *)"-Werror=implicit-function-declaration";
		said = memfd_create("clang", MFD_CLOEXEC);
		if (said < 0)
			return error_errno(errno, "cannot create a file in memory");
	}
	argv[n++] = (char *)"-MD";
	argv[n++] = (char *)"-MF";
	argv[n++] = (char *)deps;
	argv[n++] = (char *)"-o";
	argv[n++] = (char *)object;
	argv[n++] = j->source;
	for (size_t i = 0; i < n; i++)
		strbuf_addf(&line, "%s%s", i ? " " : "", argv[i]);
	log_info(j->cache.log, "%s: %s", j->clang.version, strbuf_str(&line));
	TRY(process_run(argv, -1, said, &status));
	if (said >= 0) {
		_cleanup_free_ char *text = process_output(said);

		if (!text)
			return error_nomem();
		j->opts->said(j->opts->said_ctx, text);
	}
	if (WIFSIGNALED(status))
		return error_new(EIO, "%s was ended by signal %d (%s)", j->clang.path,
				 WTERMSIG(status), strsignal(WTERMSIG(status)));
	if (WEXITSTATUS(status) != 0)
		return error_new(ENOEXEC, "clang could not compile it");
	return NULL;
}

static bool is_later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/*
 * Fills in what the object was made from. *certain becomes false when a file
 * was changed since clang was started: what it read of it is not known.
 */
static struct error *collect_deps(struct job *j, const char *deps, struct cache_entry *e,
				  bool *certain)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_names_ struct names files = {0};
	size_t size;

	TRY(file_read(AT_FDCWD, deps, SOURCE_MAX, &text, &size));
	TRY(deps_parse(text, &files));
	*certain = true;
	for (size_t i = 0; i < files.n; i++) {
		_cleanup_free_ char *path = absolute(j->cwd, files.v[i]);
		struct stat st;
		if (!path)
			return error_nomem();
		bool fixed = is_below(path, j->headers) || is_below(path, j->vmlinux);
		struct dep *dep = entry_add_dep(e, path, fixed ? DEP_FIXED : DEP_HASHED);
		if (!dep)
			return error_nomem();
		TRY(dep_measure(dep));
		if (!fixed && stat(path, &st) == 0 && is_later(&st.st_mtim, &j->started))
			*certain = false;
	}
	return NULL;
}

static struct error *keep(struct job *j, const struct cache_entry *e)
{
	_cleanup_strbuf_ struct strbuf bytes = STRBUF_INIT;
	_cleanup_close_ int folder = -1;

	TRY(entry_encode(e, &bytes));
	TRY(cache_folder(&j->cache, "objects", &folder));
	TRY(file_replace(folder, j->key.hex, bytes.str, bytes.len, 0600));
	cache_prune(&j->cache, "objects", KEEP_OBJECTS);
	return NULL;
}

static struct error *compile_in(struct job *j, const char *scratch, struct cache_entry *e)
{
	_cleanup_free_ char *object = NULL, *deps = NULL;
	bool certain;

	if (asprintf(&object, "%s/object.o", scratch) < 0 ||
	    asprintf(&deps, "%s/object.d", scratch) < 0)
		return error_nomem();
	TRY(headers_write(&j->cache, j->headers));
	TRY(vmlinux_write(&j->cache, j->opts->kernel_btf, j->vmlinux));
	clock_gettime(CLOCK_REALTIME, &j->started);
	TRY(run_clang(j, object, deps));
	TRY(error_prefix(file_read(AT_FDCWD, object, OBJECT_MAX, &e->object, &e->object_size),
			 "clang's output"));

	/* The object is good; that it cannot be kept is no reason to fail. */
	_cleanup_error_ struct error *err = collect_deps(j, deps, e, &certain);
	if (!err && !certain)
		err = error_new(EAGAIN, "a file changed while clang read it");
	if (!err)
		err = keep(j, e);
	if (err)
		log_info(j->cache.log, "not cached: %s%s%s", err->where ?: "",
			 err->where ? ": " : "", err->msg);
	return NULL;
}

static struct error *compile_anew(struct job *j, struct cache_entry *e)
{
	_cleanup_free_ char *scratch = NULL;

	TRY(cache_scratch(&j->cache, &scratch));
	struct error *err = compile_in(j, scratch, e);
	tree_remove(scratch);
	return err;
}

/* FILE.o beside FILE.c. */
static struct error *dump_object(const struct job *j, const struct cache_entry *e, char **dumped)
{
	_cleanup_free_ char *path = strdup(j->source);
	_cleanup_close_ int folder = open(j->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (!path)
		return error_nomem();
	path[strlen(path) - 1] = 'o';
	if (folder < 0)
		return error_at(error_errno(errno, "cannot be opened"), "%s", j->folder);
	log_info(j->cache.log, "LLVM: dumping %s", path);
	const char *name = strrchr(path, '/') + 1;
	struct error *err = file_replace(folder, name, e->object, e->object_size, 0644);
	if (err)
		return error_hint(err,
				  "dump-obj in section [llvm] of the configuration requests it");
	*dumped = steal_ptr(path);
	return NULL;
}

static struct error *job_init(struct job *j, const char *path)
{
	j->cwd = getcwd(NULL, 0);
	if (!j->cwd)
		return error_errno(errno, "the current directory");
	j->source = absolute(j->cwd, path);
	_cleanup_free_ char *copy = j->source ? strdup(j->source) : NULL;
	j->folder = copy ? strdup(dirname(copy)) : NULL;
	return j->folder ? NULL : error_nomem();
}

static struct error *compile_job(struct job *j, const char *path, struct compiled *out)
{
	_cleanup_compiled_ struct compiled c = {0};
	_cleanup_entry_ struct cache_entry e = {0};
	_cleanup_free_ char *source = NULL;
	size_t size;

	if (!compile_is_source(path))
		return error_at(error_new(EINVAL, "is not a C file (its name does not end in .c)"),
				"%s", path);
	TRY(read_source(path, &source, &size));
	TRY(job_init(j, path));
	TRY(cache_open(j->opts->cache_dir, j->opts->log, &j->cache));
	TRY(clang_find(&j->cache, j->opts->clang_path, &j->clang));
	TRY(build_argv(j, source));
	TRY(build_key(j, source, size));
	c.from_cache = take_cached(j, &e);
	if (!c.from_cache)
		TRY(error_at(compile_anew(j, &e), "%s", path));
	if (j->opts->dump_obj)
		TRY(dump_object(j, &e, &c.dumped));
	c.name = object_name(path);
	if (!c.name)
		return error_nomem();
	c.data = steal_ptr(e.object);
	c.size = e.object_size;
	*out = c;
	c = (struct compiled){0};
	return NULL;
}

struct error *compile_object(const char *path, const struct compile_opts *opts,
			     struct compiled *out)
{
	static const struct compile_opts none;
	_cleanup_(job_deinit) struct job j = {.opts = opts ? opts : &none};

	return compile_job(&j, path, out);
}
