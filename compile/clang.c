// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finding clang, and running it.
 *
 * Candidates are clang and clang-NN of every folder of PATH, and
 * /usr/lib/llvm-NN/bin/clang, where Debian and Ubuntu keep all they have
 * installed. The newest that has a BPF target wins. A clang is asked what it
 * is (some 20 ms each) only once: the answer is kept in the cache under the
 * file's path, size and time.
 */
#include "compile/internal.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "lib/sys/open_file.h"

#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#define INSTALL_HINT "install one: apt install clang"

extern char **environ;

void clang_deinit(struct clang *c)
{
	free(c->path);
	free(c->version);
	*c = (struct clang){0};
}

unsigned clang_parse_major(const char *version)
{
	const char *p = strstr(version, "version ");

	return p ? (unsigned)strtoul(p + strlen("version "), NULL, 10) : 0;
}

struct error *words_split(const char *text, struct names *out)
{
	_cleanup_strbuf_ struct strbuf word = STRBUF_INIT;
	bool in_word = false;
	char quote = 0;

	for (const char *p = text;; p++) {
		if (!*p && quote)
			return error_new(EINVAL, "the quote %c in '%s' is not closed", quote, text);
		if (!*p || (!quote && isspace((unsigned char)*p))) {
			if (in_word && !names_add(out, strbuf_str(&word)))
				return error_nomem();
			if (strbuf_failed(&word))
				return error_nomem();
			strbuf_reset(&word);
			in_word = false;
			if (!*p)
				return NULL;
			continue;
		}
		in_word = true;
		if (*p == quote) {
			quote = 0;
		} else if (!quote && (*p == '\'' || *p == '"')) {
			quote = *p;
		} else if (*p == '\\' && p[1] &&
			   (!quote || (quote == '"' && strchr("\"\\$`", p[1])))) {
			strbuf_addch(&word, *++p);
		} else {
			strbuf_addch(&word, *p);
		}
	}
}

struct error *process_run(char *const argv[], int out_fd, int err_fd, int *status)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none, all;
	pid_t pid;

	/* A fresh start: what the caller blocks or ignores is nothing to clang. */
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	if (out_fd >= 0)
		posix_spawn_file_actions_adddup2(&actions, out_fd, 1);
	else
		posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	if (err_fd >= 0)
		posix_spawn_file_actions_adddup2(&actions, err_fd, 2);
	int code = posix_spawn(&pid, argv[0], &actions, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	if (code)
		return error_at(error_errno(code, "cannot be run"), "%s", argv[0]);
	while (waitpid(pid, status, 0) < 0)
		if (errno != EINTR)
			return error_at(error_errno(errno, "cannot wait for it"), "%s", argv[0]);
	return NULL;
}

char *process_output(int fd)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	if (!strbuf_reserve(&sb, 65536))
		return NULL;
	ssize_t n = pread(fd, sb.str, 65536, 0);
	if (n < 0)
		return NULL;
	sb.str[n] = 0;
	sb.len = (size_t)n;
	return strbuf_steal(&sb);
}

/* What the program prints; NULL: it failed. */
static char *output_of(char *const argv[])
{
	_cleanup_close_ int fd = memfd_create("clang", MFD_CLOEXEC);
	_cleanup_close_ int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int status;

	if (fd < 0 || nowhere < 0)
		return NULL;
	_cleanup_error_ struct error *err = process_run(argv, fd, nowhere, &status);
	return err || status != 0 ? NULL : process_output(fd);
}

/* The first line of --version, with " (no BPF target)" where there is none; NULL: it fails. */
static char *ask_version(char *path)
{
	_cleanup_free_ char *version = output_of((char *[]){path, "--version", NULL});

	if (!version)
		return NULL;
	version[strcspn(version, "\n")] = 0;
	if (!strstr(version, "clang") || !clang_parse_major(version))
		return NULL;

	/* A clang too old for -print-targets fails, and is given the benefit of the doubt. */
	_cleanup_free_ char *targets = output_of((char *[]){path, "-print-targets", NULL});
	char *answer = NULL;
	if (asprintf(&answer, "%s%s", version,
		     targets && !strstr(targets, "bpf") ? " (no BPF target)" : "") < 0)
		return NULL;
	return answer;
}

/*
 * What the file at path is, from the cache or by asking it; ENOEXEC when it is
 * no clang.
 */
static struct error *identify(const struct cache *cache, const char *path, struct clang *out)
{
	_cleanup_clang_ struct clang c = {.path = realpath(path, NULL)};
	_cleanup_hasher_ struct hasher *h = hasher_new();
	_cleanup_close_ int folder = -1;
	struct stat st;

	if (!h)
		return error_nomem();
	if (!c.path || stat(c.path, &st) < 0 || access(c.path, X_OK) < 0)
		return error_at(error_errno(errno, "cannot be run"), "%s", path);
	if (S_ISDIR(st.st_mode))
		return error_at(error_errno(EISDIR, "cannot be run"), "%s", path);
	hasher_add_str(h, c.path);
	hasher_add(h, &st.st_size, sizeof(st.st_size));
	hasher_add(h, &st.st_mtim.tv_sec, sizeof(st.st_mtim.tv_sec));
	hasher_add(h, &st.st_mtim.tv_nsec, sizeof(st.st_mtim.tv_nsec));
	struct digest file = hasher_end(h);

	size_t size;
	TRY(cache_folder(cache, "clang", &folder));
	_cleanup_error_ struct error *miss = file_read(folder, file.hex, 4096, &c.version, &size);
	if (miss) {
		c.version = ask_version(c.path);
		if (!c.version)
			return error_at(error_new(ENOEXEC,
						  "does not print its version as clang does"),
					"%s", path);
		_cleanup_error_ struct error *unkept =
			file_replace(folder, file.hex, c.version, strlen(c.version), 0600);
		if (unkept)
			log_info(cache->log, "%s: %s", unkept->where, unkept->msg);
		cache_prune(cache, "clang", 32);
	}
	c.major = clang_parse_major(c.version);
	hasher_add_str(h, c.version);
	c.identity = hasher_end(h);
	*out = c;
	c = (struct clang){0};
	return NULL;
}

/* Adds the real path of what may be a clang, once. */
static bool add_candidate(struct names *found, const char *path)
{
	_cleanup_free_ char *real = access(path, X_OK) == 0 ? realpath(path, NULL) : NULL;

	if (!real)
		return true;
	for (size_t i = 0; i < found->n; i++)
		if (!strcmp(found->v[i], real))
			return true;
	return names_add(found, real);
}

/* "clang" or "clang-14", not clang-format, clang++ and the like. */
static bool is_clang_name(const char *name)
{
	if (strncmp(name, "clang", 5) != 0)
		return false;
	if (!name[5])
		return true;
	return name[5] == '-' && name[6] && !name[6 + strspn(name + 6, "0123456789")];
}

static bool add_candidates(struct names *found)
{
	/* With file capabilities only clang of the system compiles what is loaded. */
	const char *env = secure_getenv("PATH");
	_cleanup_free_ char *paths = strdup(env ? env : DEFAULT_PATH);
	bool ok = paths != NULL;

	char *rest = paths;
	for (char *folder; ok && (folder = strsep(&rest, ":"));) {
		/* Relative folders: root must not run what lies where it happens to stand. */
		if (*folder != '/')
			continue;
		DIR *dir = opendir(folder);
		if (!dir)
			continue;
		for (struct dirent *d; ok && (d = readdir(dir));) {
			char path[PATH_MAX];
			if (!is_clang_name(d->d_name))
				continue;
			snprintf(path, sizeof(path), "%s/%s", folder, d->d_name);
			ok = add_candidate(found, path);
		}
		closedir(dir);
	}

	glob_t llvm;
	if (ok && glob("/usr/lib/llvm-*/bin/clang", GLOB_NOSORT, NULL, &llvm) == 0) {
		for (size_t i = 0; ok && i < llvm.gl_pathc; i++)
			ok = add_candidate(found, llvm.gl_pathv[i]);
		globfree(&llvm);
	}
	return ok;
}

struct error *clang_find(const struct cache *cache, const char *path, struct clang *out)
{
	if (path && *path) {
		struct error *err = identify(cache, path, out);
		return error_hint(
			err, "it comes from clang-path in section [llvm] of the configuration");
	}

	_cleanup_names_ struct names found = {0};
	_cleanup_clang_ struct clang best = {0};
	if (!add_candidates(&found))
		return error_nomem();
	for (size_t i = 0; i < found.n; i++) {
		_cleanup_clang_ struct clang c = {0};
		_cleanup_error_ struct error *err = identify(cache, found.v[i], &c);
		if (err) {
			log_info(cache->log, "not used: %s: %s", err->where, err->msg);
		} else if (strstr(c.version, "(no BPF target)")) {
			log_info(cache->log, "not used: %s: %s", c.path, c.version);
		} else if (c.major > best.major) {
			clang_deinit(&best);
			best = c;
			c = (struct clang){0};
		}
	}
	if (!best.path && found.n)
		return error_hint(
			error_new(ENOPKG, "none of the installed clang compilers has a BPF target"),
			INSTALL_HINT);
	if (!best.path)
		return error_hint(
			error_new(ENOPKG,
				  "clang is not installed, and compiling a BPF program needs it"),
			INSTALL_HINT);
	*out = best;
	best = (struct clang){0};
	return NULL;
}
