// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reading the configuration. inih does sections and names; what git's syntax
 * has beyond the INI files that inih knows is done on the way in, by the
 * reader that hands it its lines: quotes and escapes in values, '#' and ';'
 * behind them, a backslash that joins lines, a name alone that means true,
 * indented lines that are no continuation. inih's lines are short and it
 * strips what it holds; so the reader keeps each value, decoded, and hands
 * over its number in its stead: "clang-opt=0".
 */
#include "cmd/config.h"

#include <ctype.h>
#include <ini.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/config_safety.h"
#include "lib/base/strbuf.h"
#include "lib/base/vec.h"
#include "lib/sys/open_file.h"

#define CONFIG_MAX (1u << 20) /* bytes of a configuration file */

struct setting {
	char *key; /* "section.name" in lower case */
	char *value;
};

struct config {
	VEC(struct setting) settings;
};

struct config *config_new(void)
{
	return calloc(1, sizeof(struct config));
}

void config_free(struct config *cfg)
{
	struct setting *s;

	if (!cfg)
		return;
	vec_for_each (s, &cfg->settings) {
		free(s->key);
		free(s->value);
	}
	vec_deinit(&cfg->settings);
	free(cfg);
}

const char *config_get(const struct config *cfg, const char *key)
{
	for (size_t i = cfg->settings.n; i-- > 0;)
		if (!strcasecmp(cfg->settings.v[i].key, key))
			return cfg->settings.v[i].value;
	return NULL;
}

struct error *config_get_bool(const struct config *cfg, const char *key, bool unset, bool *out)
{
	static const struct {
		const char *word;
		bool is;
	} words[] = {
		{"true", true}, {"yes", true},	{"on", true}, {"1", true}, {"false", false},
		{"no", false},	{"off", false}, {"0", false}, {"", false},
	};
	const char *value = config_get(cfg, key);

	if (!value) {
		*out = unset;
		return NULL;
	}
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcasecmp(words[i].word, value) != 0)
			continue;
		*out = words[i].is;
		return NULL;
	}
	return error_hint(error_new(EINVAL, "configuration: %s has the invalid value '%s'", key,
				    value),
			  "use true or false");
}

/* The text on its way to inih. */
struct config_reader {
	const char *p;
	unsigned line; /* of p, from 1 */
	unsigned wrong_line;
	const char *wrong; /* what the first bad line is lacking; NULL: none yet */
	VEC(char *) values;
	struct config *cfg;
	bool no_memory;
};

static void reader_deinit(struct config_reader *r)
{
	char **value;

	vec_for_each (value, &r->values)
		free(*value);
	vec_deinit(&r->values);
}

static void skip_line(struct config_reader *r)
{
	r->p += strcspn(r->p, "\n");
}

/* Remembers the first mistake; the rest of the line is nothing. */
static const char *reject(struct config_reader *r, const char *why)
{
	if (!r->wrong) {
		r->wrong = why;
		r->wrong_line = r->line;
	}
	skip_line(r);
	return NULL;
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '.';
}

/* [name] or [name "sub"], which comes out as [name.sub]. */
static const char *read_section(struct config_reader *r, struct strbuf *out)
{
	strbuf_addch(out, '[');
	for (r->p++; is_name_char(*r->p); r->p++)
		strbuf_addch(out, *r->p);
	if (out->len == 1)
		return reject(r, "the section has no name");
	r->p += strspn(r->p, " \t");
	if (*r->p == '"') {
		strbuf_addch(out, '.');
		for (r->p++; *r->p && *r->p != '"' && *r->p != '\n'; r->p++) {
			if (*r->p == '\\' && r->p[1] && r->p[1] != '\n')
				r->p++;
			/* "]" or " ;" would end it for inih; no key that is read has them. */
			strbuf_addch(out, is_name_char(*r->p) ? *r->p : '_');
		}
		if (*r->p != '"')
			return reject(r, "the section's quote is not closed");
		r->p++;
	}
	if (*r->p != ']')
		return reject(r, "']' is missing at the end of the section");
	r->p++;
	strbuf_addch(out, ']');
	return strbuf_str(out);
}

/* The value behind '=', decoded; NULL: it is wrong, and r says so. */
static char *read_value(struct config_reader *r)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	bool quoted = false;
	size_t keep = 0; /* blanks behind this are stripped unless more follows */

	for (r->p += strspn(r->p, " \t"); *r->p && *r->p != '\n'; r->p++) {
		char c = *r->p;
		if (c == '\r' && r->p[1] == '\n')
			continue;
		if (!quoted && (c == ';' || c == '#')) {
			skip_line(r);
			break;
		}
		if (c == '"') {
			quoted = !quoted;
			keep = sb.len;
			continue;
		}
		if (c == '\\') {
			c = *++r->p;
			if (c == '\r' && r->p[1] == '\n')
				c = *++r->p;
			if (c == '\n') {
				r->line++;
				continue;
			}
			static const char codes[] = "\\\\\"\"n\nt\tb\b";
			const char *code = NULL;
			for (const char *at = codes; c && *at && !code; at += 2)
				code = *at == c ? at : NULL;
			if (!code) {
				if (!c)
					r->p--;
				reject(r, "a backslash must be followed by \\ \" n t b or the end "
					  "of the line");
				return NULL;
			}
			c = code[1];
			strbuf_addch(&sb, c);
			keep = sb.len;
			continue;
		}
		strbuf_addch(&sb, c);
		if (quoted || !isspace((unsigned char)c))
			keep = sb.len;
	}
	if (quoted) {
		reject(r, "a quote is not closed");
		return NULL;
	}
	if (sb.str)
		sb.str[keep] = 0;
	char *value = strbuf_failed(&sb) ? NULL : strdup(strbuf_str(&sb));
	r->no_memory = r->no_memory || !value;
	return value;
}

static const char *read_setting(struct config_reader *r, struct strbuf *out)
{
	char *value;

	for (; is_name_char(*r->p); r->p++)
		strbuf_addch(out, (char)tolower((unsigned char)*r->p));
	if (!out->len)
		return reject(r, "a name must begin with a letter, a section with '['");
	r->p += strspn(r->p, " \t\r");
	if (*r->p == '=') {
		r->p++;
		value = read_value(r);
	} else if (!*r->p || strchr("\n#;", *r->p)) {
		skip_line(r);
		value = strdup("true");
	} else {
		return reject(r, "'=' is missing after the name");
	}
	char **slot = value ? vec_push(&r->values) : NULL;
	if (!slot) {
		r->no_memory = r->no_memory || value;
		free(value);
		return NULL;
	}
	*slot = value;
	strbuf_addf(out, "=%zu", r->values.n - 1);
	return strbuf_str(out);
}

/* As fgets() for inih: the next line, in the form inih knows. */
static char *next_line(char *to, int size, void *stream)
{
	struct config_reader *r = stream;
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	const char *line = NULL;

	while (!line) {
		r->p += strspn(r->p, " \t\r");
		if (*r->p == '\n') {
			r->p++;
			r->line++;
			continue;
		}
		if (!*r->p || r->wrong || r->no_memory)
			return NULL;
		strbuf_reset(&out);
		if (*r->p == '#' || *r->p == ';')
			skip_line(r);
		else if (*r->p == '[')
			line = read_section(r, &out);
		else
			line = read_setting(r, &out);
		if (line && (int)out.len + 2 > min_of(size, 190)) {
			reject(r, "the name is too long");
			return NULL;
		}
	}
	snprintf(to, (size_t)size, "%s\n", line);
	return to;
}

/* inih found a setting. value is the number of the one that the reader kept. */
static int take_setting(void *ctx, const char *section, const char *name, const char *value)
{
	struct config_reader *r = ctx;
	char **kept = &r->values.v[strtoul(value, NULL, 10)];
	char *key;

	if (!*section) {
		reject(r, "the setting is before the first [section]");
		return 0;
	}
	if (asprintf(&key, "%s.%s", section, name) < 0) {
		r->no_memory = true;
		return 0;
	}
	struct setting *s = vec_push(&r->cfg->settings);
	if (!s) {
		free(key);
		r->no_memory = true;
		return 0;
	}
	*s = (struct setting){.key = key, .value = *kept};
	*kept = NULL;
	return 1;
}

struct error *config_parse(struct config *cfg, const char *name, const char *text)
{
	static const char bom[] = "\xef\xbb\xbf";
	_cleanup_(reader_deinit) struct config_reader r = {.p = text, .line = 1, .cfg = cfg};

	if (!strncmp(text, bom, 3))
		r.p += 3;
	int bad = ini_parse_stream(next_line, &r, take_setting, &r);
	if (r.no_memory || bad == -2)
		return error_nomem();
	if (r.wrong)
		return error_at(error_new(EINVAL, "%s", r.wrong), "%s:%u", name, r.wrong_line);
	if (bad)
		return error_at(error_new(EINVAL, "is not a valid setting"), "%s:%u", name, r.line);
	return NULL;
}

/*
 * Reads a file that may not be there. home: it is below, a regular file, and only the user and root
 * can change what is there; NULL: it is the administrator's, or the user has named it.
 */
static struct error *read_file(struct config *cfg, const char *path, const char *home,
			       const struct log *log)
{
	_cleanup_fclose_ FILE *in = NULL;
	struct stat st;

	if (home) {
		if (!stat(path, &st) && !config_dirs_are_safe(path, home, log))
			return NULL;
		struct error *err = fopen_regular(path, NULL, &in);
		if (err && (err->code == ENOENT || err->code == ENOTDIR || err->code == EACCES)) {
			error_free(err);
			return NULL;
		}
		TRY(err);
	} else {
		in = fopen(path, "re");
		if (!in && (errno == ENOENT || errno == ENOTDIR))
			return NULL;
	}
	if (!in || fstat(fileno(in), &st) < 0)
		return error_at(error_errno(errno, "cannot be read"), "%s", path);
	if (S_ISDIR(st.st_mode))
		return error_at(error_errno(EISDIR, "cannot be read"), "%s", path);
	if (home && !config_file_is_safe(path, fileno(in), log))
		return NULL;
	_cleanup_free_ char *text = malloc(CONFIG_MAX + 1);
	if (!text)
		return error_nomem();
	size_t n = fread(text, 1, CONFIG_MAX, in);
	if (ferror(in))
		return error_at(error_errno(errno, "cannot be read"), "%s", path);
	if (n == CONFIG_MAX)
		return error_at(error_new(EFBIG, "is too large for a configuration file"), "%s",
				path);
	text[n] = 0;
	if (strlen(text) != n)
		return error_at(error_new(EINVAL, "contains a NUL byte"), "%s", path);
	return config_parse(cfg, path, text);
}

/* Whether the program knows the key but does nothing by it. */
static void warn_of_unused(const struct config *cfg, const struct log *log)
{
	if (config_get(cfg, "llvm.clang-bpf-cmd-template"))
		log_warn(log, "clang-bpf-cmd-template in section [llvm] is ignored; use clang-path "
			      "and clang-opt");
}

struct error *config_load(const struct log *log, struct config **out)
{
	_cleanup_config_ struct config *cfg = config_new();
	const char *only = secure_getenv("PERF_CONFIG");
	const char *home = secure_getenv("HOME");
	const char *xdg = secure_getenv("XDG_CONFIG_HOME");
	_cleanup_free_ char *perfs = NULL, *own = NULL;

	if (!cfg)
		return error_nomem();
	if (getauxval(AT_SECURE))
		log_info(log,
			 "perf-bpf has file capabilities: PERF_CONFIG, the configuration files "
			 "below HOME, PATH (for clang), PERF_BPF_CACHE_DIR, PERF_BUILDID_DIR, "
			 "DEBUGINFOD_URLS and LIBBPF_BPF_TOKEN_PATH are ignored");
	if (only && *only) {
		TRY(read_file(cfg, only, NULL, log));
	} else {
		if (home && *home && asprintf(&perfs, "%s/.perfconfig", home) < 0)
			return error_nomem();
		if (xdg && *xdg == '/') {
			if (asprintf(&own, "%s/perf-bpf/config", xdg) < 0)
				return error_nomem();
		} else if (home && *home) {
			if (asprintf(&own, "%s/.config/perf-bpf/config", home) < 0)
				return error_nomem();
		}
		TRY(read_file(cfg, "/etc/perfconfig", NULL, log));
		TRY(read_file(cfg, "/etc/perf-bpf.conf", NULL, log));
		if (perfs)
			TRY(read_file(cfg, perfs, home, log));
		if (own)
			TRY(read_file(cfg, own, xdg && *xdg == '/' ? xdg : home, log));
	}
	warn_of_unused(cfg, log);
	*out = steal_ptr(cfg);
	return NULL;
}

struct error *config_compile_opts(const struct config *cfg, struct compile_opts *opts)
{
	const char *path = config_get(cfg, "llvm.clang-path");
	const char *opt = config_get(cfg, "llvm.clang-opt");

	TRY(config_get_bool(cfg, "llvm.dump-obj", opts->dump_obj, &opts->dump_obj));
	if (path && *path)
		opts->clang_path = path;
	if (opt && *opt)
		opts->clang_opt = opt;
	return NULL;
}

struct error *config_load_compile(const struct log *log, const char *clang_opt, struct config **out,
				  struct compile_opts *opts)
{
	_cleanup_config_ struct config *config = NULL;

	TRY(config_load(log, &config));
	TRY(config_compile_opts(config, opts));
	opts->log = log;
	if (clang_opt)
		opts->clang_opt = clang_opt;
	*out = steal_ptr(config);
	return NULL;
}
