// SPDX-License-Identifier: BSD-2-Clause
/*
 * The text of an approval:
 *
 *	perf-bpf approval 1
 *	object 9f86d0…		64 digits
 *	name runqlat
 *	user 1000		or: group 50
 *	target own		or: cgroup, all
 *	max-share 0.02
 *	max-ms 600000
 *	set min_us=50		any number of them
 *
 * Each line but "set" comes once, and in this order: what is written otherwise was not written by
 * perf-bpf.
 */
#include "delegate/approval_store.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/names.h"
#include "lib/sys/open_file.h"
#include "lib/sys/sys.h"

enum {
	MAX_TEXT = 65536,
	MAX_OBJECT = 64 << 20,
};

#define FIRST_LINE "perf-bpf approval 1"
#define SUFFIX	   ".approval"

static char *approval_file(const char *id)
{
	return text_format("%s" SUFFIX, id);
}

void approval_deinit(struct approval *a)
{
	char **text;

	vec_for_each (text, &a->sets)
		free(*text);
	vec_deinit(&a->sets);
}

void approvals_deinit(struct approvals *list)
{
	struct approval *a;

	vec_for_each (a, list)
		approval_deinit(a);
	vec_deinit(list);
}

static const char *const target_names[APPROVAL_TARGETS] = {
	[APPROVAL_OWN] = "own",
	[APPROVAL_CGROUP] = "cgroup",
	[APPROVAL_ALL] = "all",
};

const char *approval_target_text(enum approval_target target)
{
	return target < APPROVAL_TARGETS ? target_names[target] : "unknown";
}

bool approval_target_parse(const char *text, enum approval_target *target)
{
	for (size_t i = 0; i < APPROVAL_TARGETS; i++)
		if (!strcmp(text, target_names[i])) {
			*target = (enum approval_target)i;
			return true;
		}
	return false;
}

/* ---- text ---- */

void approval_write_text(const struct approval *a, struct strbuf *text)
{
	strbuf_adds(text, FIRST_LINE "\nobject ");
	strbuf_add_bytes(text, a->object, SHA256_BYTES);
	strbuf_addf(text,
		    "\nname %s\n%s %" PRIu32 "\ntarget %s\nmax-share %.9g\nmax-ms %" PRIu64 "\n",
		    a->name, a->for_group ? "group" : "user", a->who,
		    approval_target_text(a->target), a->max_share, a->max_ms);
	/* the others are of a time when there was no other command */
	if (a->command != DELEGATE_RUN)
		strbuf_addf(text, "command %s\n", delegate_command_text(a->command));
	for (size_t i = 0; i < a->sets.n; i++)
		strbuf_addf(text, "set %s\n", a->sets.v[i]);
}

/* The value of the next line, whose key it must have; NULL: another one. */
static char *next_value(char **rest, const char *key)
{
	char *line = *rest, *end = line ? strchr(line, '\n') : NULL;
	const size_t n = strlen(key);

	if (!end || strncmp(line, key, n) != 0 || line[n] != ' ')
		return NULL;
	*end = '\0';
	*rest = end + 1;
	return line + n + 1;
}

static bool parse_hex(const char *text, uint8_t *bytes, size_t n)
{
	if (strlen(text) != 2 * n || strspn(text, "0123456789abcdef") != 2 * n)
		return false;
	for (size_t i = 0; i < n; i++) {
		const char digits[] = {text[2 * i], text[2 * i + 1], 0};

		bytes[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	return true;
}

static bool parse_number(const char *text, uint64_t max, uint64_t *value)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return !errno && !*end && *value <= max;
}

static bool parse_share(const char *text, double *value)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	*value = strtod(text, &end);
	return !*end && *value > 0 && *value <= 1;
}

static bool parse_lines(char *text, struct approval *a, bool *no_memory)
{
	char *rest = text, *object, *name, *who, *target, *share, *ms, *command, *set;
	uint64_t number;

	if (strncmp(rest, FIRST_LINE "\n", strlen(FIRST_LINE) + 1) != 0)
		return false;
	rest += strlen(FIRST_LINE) + 1;
	if (!(object = next_value(&rest, "object")) || !parse_hex(object, a->object, SHA256_BYTES))
		return false;
	if (!(name = next_value(&rest, "name")) || strlen(name) >= sizeof(a->name))
		return false;
	strcpy(a->name, name);
	if (!(who = next_value(&rest, "user"))) {
		a->for_group = true;
		who = next_value(&rest, "group");
	}
	/* -1 is no user and no group */
	if (!who || !parse_number(who, UINT32_MAX - 1, &number))
		return false;
	a->who = (uint32_t)number;
	if (!(target = next_value(&rest, "target")) || !approval_target_parse(target, &a->target))
		return false;
	if (!(share = next_value(&rest, "max-share")) || !parse_share(share, &a->max_share))
		return false;
	if (!(ms = next_value(&rest, "max-ms")) || !parse_number(ms, UINT64_MAX, &a->max_ms) ||
	    !a->max_ms)
		return false;
	if ((command = next_value(&rest, "command")) &&
	    (!delegate_command_parse(command, &a->command) || a->command == DELEGATE_RUN))
		return false;
	while ((set = next_value(&rest, "set"))) {
		char **slot = vec_push(&a->sets);

		if (!slot || !(*slot = strdup(set))) {
			*no_memory = true;
			return false;
		}
	}
	return !*rest;
}

struct error *approval_parse(const char *text, size_t size, struct approval *out)
{
	_cleanup_approval_ struct approval a = {0};
	_cleanup_free_ char *copy = strndup(text, size);
	uint8_t digest[SHA256_BYTES];
	bool no_memory = !copy;

	if (no_memory || strlen(copy) != size || !parse_lines(copy, &a, &no_memory))
		return no_memory ? error_nomem() : error_new(EBADMSG, "it is not an approval");
	sha256(text, size, digest);
	text_bytes(a.id, digest, (DELEGATE_ID - 1) / 2);
	*out = a;
	a = (struct approval){0};
	return NULL;
}

/* ---- files ---- */

/* The store's directory, which nobody else can write to. */
static struct error *open_store(const char *store, int *fd)
{
	_cleanup_close_ int dir = open(store, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (dir < 0 || fstat(dir, &st))
		return error_errno(errno, "%s", store);
	if ((st.st_uid && st.st_uid != geteuid()) || st.st_mode & 022)
		return error_hint(error_new(EPERM, "%s: others than root can write to it", store),
				  "type: chown root %s; chmod 700 %s", store, store);
	*fd = steal_fd(&dir);
	return NULL;
}

/* As mkdir -p, with mode 0700. */
static struct error *make_store(const char *store)
{
	_cleanup_free_ char *path = strdup(store);

	if (!path)
		return error_nomem();
	for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(path, 0755);
		*p = '/';
	}
	if (mkdir(path, 0700) && errno != EEXIST)
		return error_errno(errno, "cannot create %s", store);
	return NULL;
}

static char *object_name(const struct approval *a)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;

	strbuf_add_bytes(&name, a->object, SHA256_BYTES);
	strbuf_adds(&name, ".o");
	return strbuf_steal(&name);
}

struct error *approval_add(const char *store, const void *image, size_t size, struct approval *a)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_approval_ struct approval again = {0};
	_cleanup_close_ int dir = -1;

	if (!size)
		return error_new(EINVAL, "the object is empty");
	if (size > MAX_OBJECT)
		return error_new(EFBIG, "the object is larger than %d MiB", MAX_OBJECT >> 20);
	sha256(image, size, a->object);
	approval_write_text(a, &text);
	if (strbuf_failed(&text))
		return error_nomem();
	TRY(approval_parse(strbuf_str(&text), text.len, &again));
	memcpy(a->id, again.id, sizeof(a->id));
	TRY(make_store(store));
	TRY(open_store(store, &dir));
	_cleanup_free_ char *object = object_name(a), *file = approval_file(a->id);
	if (!object || !file)
		return error_nomem();
	/* the object first: an approval without its object is refused */
	TRY(error_at(file_replace(dir, object, image, size, 0600), "%s/%s", store, object));
	return error_at(file_replace(dir, file, strbuf_str(&text), text.len, 0600), "%s/%s", store,
			file);
}

static struct error *read_approval(const char *store, const char *name, struct approval *out)
{
	_cleanup_free_ char *path = text_format("%s/%s", store, name), *text = NULL;
	size_t size;

	if (!path)
		return error_nomem();
	TRY(sys_read_file(path, MAX_TEXT, &text, &size));
	struct error *err = approval_parse(text, size, out);
	if (!err && strncmp(out->id, name, strlen(out->id)) != 0) {
		approval_deinit(out);
		*out = (struct approval){0};
		err = error_new(EBADMSG, "it was changed after it was approved");
	}
	return error_at(err, "%s", path);
}

static int by_name(const void *a, const void *b)
{
	const struct approval *x = a, *y = b;
	const int order = strcmp(x->name, y->name);

	return order ? order : strcmp(x->id, y->id);
}

struct error *approvals_read(const char *store, struct approvals *out)
{
	_cleanup_approvals_ struct approvals list = {0};
	_cleanup_names_ struct names names = {0};
	_cleanup_close_ int dir = -1;
	struct error *err = open_store(store, &dir);

	if (err && err->code == ENOENT) {
		error_free(err);
		return NULL;
	}
	if (err)
		return err;
	TRY(sys_list_dir(store, DT_REG, &names));
	for (size_t i = 0; i < names.n; i++) {
		const size_t n = strlen(names.v[i]);

		if (n != DELEGATE_ID - 1 + strlen(SUFFIX) ||
		    strcmp(names.v[i] + DELEGATE_ID - 1, SUFFIX) != 0)
			continue;
		struct approval *slot = vec_push(&list);
		if (!slot)
			return error_nomem();
		TRY(read_approval(store, names.v[i], slot));
	}
	if (list.n)
		qsort(list.v, list.n, sizeof(*list.v), by_name);
	*out = list;
	list = (struct approvals){0};
	return NULL;
}

struct error *approval_revoke(const char *store, const char *id)
{
	_cleanup_approvals_ struct approvals list = {0};
	_cleanup_close_ int dir = -1;
	const struct approval *a, *found = NULL;
	struct nearest near = nearest_make(id);
	bool shared = false;

	TRY(approvals_read(store, &list));
	vec_for_each (a, &list) {
		nearest_offer(&near, a->id);
		if (!strcmp(a->id, id))
			found = a;
	}
	if (!found)
		return error_hint(error_suggest(error_new(ENOENT, "there is no approval '%s'", id),
						&near),
				  "'perf-bpf approve --list' lists them");
	vec_for_each (a, &list)
		shared |= a != found && !memcmp(a->object, found->object, SHA256_BYTES);
	TRY(open_store(store, &dir));
	_cleanup_free_ char *object = object_name(found), *file = approval_file(id);
	if (!object || !file)
		return error_nomem();
	if (unlinkat(dir, file, 0))
		return error_errno(errno, "cannot remove %s/%s", store, file);
	if (!shared && unlinkat(dir, object, 0) && errno != ENOENT)
		return error_errno(errno, "cannot remove %s/%s", store, object);
	return NULL;
}

struct error *approval_watch(const char *store, const struct approval *a, int *fd)
{
	_cleanup_close_ int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC), dir = -1;
	_cleanup_free_ char *file = approval_file(a->id);

	if (!file)
		return error_nomem();
	if (watch < 0 ||
	    inotify_add_watch(watch, store,
			      IN_DELETE | IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF) < 0)
		return error_errno(errno, "cannot watch %s", store);
	/* it may have gone since it was read */
	TRY(open_store(store, &dir));
	if (faccessat(dir, file, F_OK, 0))
		return error_errno(errno, "%s/%s", store, file);
	*fd = steal_fd(&watch);
	return NULL;
}

bool approval_is_gone(int fd, const struct approval *a)
{
	union {
		struct inotify_event align;
		char bytes[4096];
	} buffer;
	const struct inotify_event *event;
	const ssize_t n = read(fd, buffer.bytes, sizeof(buffer));

	if (n < 0)
		return errno != EAGAIN && errno != EINTR;
	for (ssize_t at = 0; at < n; at += (ssize_t)(sizeof(*event) + event->len)) {
		event = (const struct inotify_event *)(buffer.bytes + at);
		/* without a name: the store itself, or events were lost */
		if (!event->len || !strncmp(event->name, a->id, strlen(a->id)))
			return true;
	}
	return false;
}

struct error *approval_object(const char *store, const struct approval *a, char **path)
{
	_cleanup_free_ char *name = object_name(a), *data = NULL;
	_cleanup_free_ char *got = name ? text_format("%s/%s", store, name) : NULL;
	uint8_t digest[SHA256_BYTES];
	size_t size;

	if (!got)
		return error_nomem();
	TRY(sys_read_file(got, MAX_OBJECT, &data, &size));
	sha256(data, size, digest);
	if (memcmp(digest, a->object, sizeof(digest)) != 0)
		return error_at(error_new(EBADMSG, "it is not the object that was approved"), "%s",
				got);
	*path = steal_ptr(got);
	return NULL;
}

/* ---- who may ---- */

static bool is_for(const struct approval *a, uint32_t uid, const uint32_t *gids, size_t n_gids)
{
	if (!a->for_group)
		return a->who == uid;
	for (size_t i = 0; i < n_gids; i++)
		if (gids[i] == a->who)
			return true;
	return false;
}

static bool is_wider(const struct approval *a, const struct approval *b)
{
	return !b || a->target > b->target ||
	       (a->target == b->target && a->max_share > b->max_share);
}

const struct approval *approvals_find(const struct approvals *list,
				      const struct delegate_request *request, uint32_t uid,
				      const uint32_t *gids, size_t n_gids,
				      enum delegate_status *why)
{
	const struct approval *a, *best = NULL;

	*why = DELEGATE_UNAPPROVED;
	vec_for_each (a, list) {
		if (!is_for(a, uid, gids, n_gids))
			continue;
		if (!strcmp(a->name, request->name))
			*why = DELEGATE_CHANGED;
		if (memcmp(a->object, request->object, SHA256_BYTES))
			continue;
		if (a->command != request->command)
			*why = DELEGATE_OTHER_COMMAND;
		else if (is_wider(a, best))
			best = a;
	}
	if (best)
		*why = DELEGATE_OK;
	return best;
}
