// SPDX-License-Identifier: BSD-2-Clause
/*
 * A cached object, together with all that it was made from.
 *
 * To know that an object is still right without running clang, not even its
 * preprocessor, one must know what clang read: -MD says so. An entry holds
 * the list of those files, each with a hash of its content then, and the
 * object. It is found by a key over everything else: the source's own bytes,
 * the options, the clang, the environment that clang heeds (compile_object.c). It
 * holds when each file still has that content. Times are not trusted; the
 * headers of a BPF program are small, and hashing them takes less than asking
 * for a time would save. The exception is what lies in the cache under a name
 * made of its content (vmlinux.h: 3 MB); of that only the size is compared.
 *
 *	magic, hash of the rest
 *	u32 number of deps; each: u8 kind, u64 size, 32 hex digits, u32 length, path
 *	u64 size of the object, object
 *
 * in the host's byte order; a cache does not travel. The hash keeps a damaged
 * file from reaching the kernel; it is no defence against a forger, who is
 * kept out by the folder's owner and mode.
 */
#include "compile/internal.h"

#include <ctype.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "lib/base/cursor.h"

static const char magic[8] = {'P', 'B', 'F', 'O', 'B', 'J', '1', '\n'};

#define DEP_MAX (64u << 20) /* no header is larger */

void entry_deinit(struct cache_entry *e)
{
	for (size_t i = 0; i < e->n_deps; i++)
		free(e->deps[i].path);
	free(e->deps);
	free(e->object);
	*e = (struct cache_entry){0};
}

struct dep *entry_add_dep(struct cache_entry *e, const char *path, enum dep_kind kind)
{
	if (e->n_deps == e->cap_deps) {
		size_t cap = e->cap_deps ? e->cap_deps * 2 : 16;
		struct dep *bigger = reallocarray(e->deps, cap, sizeof(*bigger));
		if (!bigger)
			return NULL;
		e->deps = bigger;
		e->cap_deps = cap;
	}
	struct dep *dep = &e->deps[e->n_deps];
	*dep = (struct dep){.path = strdup(path), .kind = kind};
	if (!dep->path)
		return NULL;
	e->n_deps++;
	return dep;
}

struct error *dep_measure(struct dep *dep)
{
	if (dep->kind == DEP_FIXED) {
		struct stat st;
		if (stat(dep->path, &st) < 0)
			return error_at(error_errno(errno, "cannot be read"), "%s", dep->path);
		dep->size = (uint64_t)st.st_size;
		return NULL;
	}
	_cleanup_free_ char *data = NULL;
	size_t size;
	TRY(file_read(AT_FDCWD, dep->path, DEP_MAX, &data, &size));
	dep->size = size;
	dep->digest = digest_of(data, size);
	return NULL;
}

bool dep_holds(const struct dep *dep)
{
	struct dep now = {.path = dep->path, .kind = dep->kind};
	struct stat st;

	if (stat(dep->path, &st) < 0 || (uint64_t)st.st_size != dep->size)
		return false;
	_cleanup_error_ struct error *err = dep_measure(&now);
	return !err && now.size == dep->size && !strcmp(now.digest.hex, dep->digest.hex);
}

static void put_u32(struct strbuf *sb, uint32_t v)
{
	strbuf_add(sb, &v, sizeof(v));
}

static void put_u64(struct strbuf *sb, uint64_t v)
{
	strbuf_add(sb, &v, sizeof(v));
}

struct error *entry_encode(const struct cache_entry *e, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf rest = STRBUF_INIT;

	put_u32(&rest, (uint32_t)e->n_deps);
	for (size_t i = 0; i < e->n_deps; i++) {
		const struct dep *dep = &e->deps[i];
		strbuf_addch(&rest, (char)dep->kind);
		put_u64(&rest, dep->size);
		strbuf_add(&rest, dep->digest.hex, DIGEST_LEN);
		put_u32(&rest, (uint32_t)strlen(dep->path));
		strbuf_adds(&rest, dep->path);
	}
	put_u64(&rest, e->object_size);
	strbuf_add(&rest, e->object, e->object_size);
	if (strbuf_failed(&rest))
		return error_nomem();

	struct digest digest = digest_of(rest.str, rest.len);
	strbuf_add(out, magic, sizeof(magic));
	strbuf_add(out, digest.hex, DIGEST_LEN);
	strbuf_add(out, rest.str, rest.len);
	return strbuf_failed(out) ? error_nomem() : NULL;
}

static bool get_dep(struct cursor *c, struct cache_entry *e)
{
	uint8_t kind;
	uint64_t size;
	uint32_t len;
	const char *hex, *path;

	if (!cursor_u8(c, &kind) || kind > DEP_FIXED || !cursor_u64(c, &size) ||
	    !(hex = cursor_bytes(c, DIGEST_LEN)) || !cursor_u32(c, &len) ||
	    !(path = cursor_bytes(c, len)))
		return false;
	_cleanup_free_ char *copy = strndup(path, len);
	struct dep *dep = copy ? entry_add_dep(e, copy, kind) : NULL;
	if (!dep)
		return false;
	dep->size = size;
	memcpy(dep->digest.hex, hex, DIGEST_LEN);
	return true;
}

struct error *entry_decode(const void *data, size_t size, struct cache_entry *out)
{
	struct cursor c = cursor_make(data, size, "cached object");
	_cleanup_entry_ struct cache_entry e = {0};
	const char *head = cursor_bytes(&c, sizeof(magic));
	const char *hex = cursor_bytes(&c, DIGEST_LEN);
	uint32_t n;
	uint64_t object_size;
	const void *object;

	if (!head || memcmp(head, magic, sizeof(magic)) != 0 || !hex)
		return cursor_error(&c, "is not a cached object");
	struct digest digest = digest_of((const char *)data + c.pos, cursor_left(&c));
	if (memcmp(digest.hex, hex, DIGEST_LEN) != 0)
		return cursor_error(&c, "is damaged");
	if (!cursor_u32(&c, &n))
		return cursor_error(&c, "ends early");
	for (uint32_t i = 0; i < n; i++)
		if (!get_dep(&c, &e))
			return cursor_error(&c, "its file list is damaged");
	if (!cursor_u64(&c, &object_size) || object_size != cursor_left(&c) ||
	    !(object = cursor_bytes(&c, object_size)))
		return cursor_error(&c, "ends early");
	e.object = malloc(object_size + 1);
	if (!e.object)
		return error_nomem();
	memcpy(e.object, object, object_size);
	e.object_size = object_size;
	*out = e;
	e = (struct cache_entry){0};
	return NULL;
}

struct error *deps_parse(const char *text, struct names *out)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	const char *p = strchr(text, ':');

	if (!p)
		return error_new(EBADMSG, "clang's list of dependencies has no colon");
	for (p++;; p++) {
		/* A backslash quotes a space or a '#'; before a newline it joins the lines. */
		bool joined = p[0] == '\\' && (p[1] == '\n' || (p[1] == '\r' && p[2] == '\n'));
		if (!*p || joined || isspace((unsigned char)*p)) {
			if (name.len && !names_add(out, name.str))
				return error_nomem();
			strbuf_reset(&name);
			if (!*p || *p == '\n')
				return strbuf_failed(&name) ? error_nomem() : NULL;
			p += joined ? (p[1] == '\r' ? 2 : 1) : 0;
			continue;
		}
		if ((p[0] == '\\' && (p[1] == ' ' || p[1] == '#')) || (p[0] == '$' && p[1] == '$'))
			p++;
		strbuf_addch(&name, *p);
	}
}
