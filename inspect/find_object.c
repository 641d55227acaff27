// SPDX-License-Identifier: BSD-2-Clause
#include "inspect/find_object.h"

#include <bpf/bpf.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/strbuf.h"
#include "lib/base/vec.h"
#include "lib/sys/missing_caps.h"

static const struct kind {
	const char *name;
	int (*next_id)(__u32 start_id, __u32 *next_id);
	int (*open)(__u32 id);
} kinds[KOBJ_KINDS] = {
	[KOBJ_MAP] = {"map", bpf_map_get_next_id, bpf_map_get_fd_by_id},
	[KOBJ_PROG] = {"program", bpf_prog_get_next_id, bpf_prog_get_fd_by_id},
	[KOBJ_LINK] = {"link", bpf_link_get_next_id, bpf_link_get_fd_by_id},
	[KOBJ_BTF] = {"BTF object", bpf_btf_get_next_id, bpf_btf_get_fd_by_id},
};

void kobj_ids_deinit(struct kobj_ids *ids)
{
	vec_deinit(ids);
}

static struct error *no_right(struct error *err)
{
	return sys_hint_caps(err, NULL, SYS_CAP(SYS_CAP_SYS_ADMIN), NULL);
}

struct error *kobj_ids_all(enum kobj_kind kind, struct kobj_ids *ids)
{
	uint32_t id = 0;

	while (!kinds[kind].next_id(id, &id)) {
		uint32_t *slot = vec_push(ids);

		if (!slot)
			return error_nomem();
		*slot = id;
	}
	if (errno == ENOENT)
		return NULL;
	struct error *err = error_errno(errno, "cannot list %ss", kinds[kind].name);
	return errno == EPERM ? no_right(err) : err;
}

int kobj_open(enum kobj_kind kind, uint32_t id)
{
	return kinds[kind].open(id);
}

/* What is looked for by its words: the description of one object of the kernel. */
struct description {
	uint32_t id;
	const char *name; /* "" */
	char tag[2 * BPF_TAG_SIZE + 1];
	union {
		struct bpf_map_info map;
		struct bpf_prog_info prog;
		struct bpf_link_info link;
		struct bpf_btf_info btf;
	};
	char btf_name[64];
};

static int describe(enum kobj_kind kind, int fd, struct description *d)
{
	__u32 len;
	int code;

	memset(d, 0, sizeof(*d));
	d->name = "";
	switch (kind) {
	case KOBJ_MAP:
		len = sizeof(d->map);
		code = bpf_map_get_info_by_fd(fd, &d->map, &len);
		d->id = d->map.id;
		d->name = d->map.name;
		return code;
	case KOBJ_PROG:
		len = sizeof(d->prog);
		code = bpf_prog_get_info_by_fd(fd, &d->prog, &len);
		d->id = d->prog.id;
		d->name = d->prog.name;
		text_bytes(d->tag, d->prog.tag, BPF_TAG_SIZE);
		return code;
	case KOBJ_LINK:
		len = sizeof(d->link);
		code = bpf_link_get_info_by_fd(fd, &d->link, &len);
		d->id = d->link.id;
		return code;
	default:
		d->btf.name = (uintptr_t)d->btf_name;
		d->btf.name_len = sizeof(d->btf_name);
		len = sizeof(d->btf);
		code = bpf_btf_get_info_by_fd(fd, &d->btf, &len);
		d->id = d->btf.id;
		d->name = d->btf_name;
		return code;
	}
}

static struct error *add_id(struct kobj_ids *ids, uint32_t id)
{
	uint32_t *slot = vec_push(ids);

	if (!slot)
		return error_nomem();
	*slot = id;
	return NULL;
}

static struct error *find_id(enum kobj_kind kind, const char *text, struct kobj_ids *ids)
{
	char *end;

	errno = 0;
	unsigned long id = strtoul(text, &end, 0);
	if (!isdigit((unsigned char)*text) || *end || errno || id > UINT32_MAX)
		return error_usage("'%s' is not a number", text);
	_cleanup_close_ int fd = kobj_open(kind, id);
	if (fd < 0 && errno == ENOENT)
		return error_hint(error_new(ENOENT, "no %s has the id %lu", kinds[kind].name, id),
				  "'perf-bpf %s list' shows the ones that are loaded",
				  kind == KOBJ_PROG  ? "prog"
				  : kind == KOBJ_BTF ? "btf"
						     : kinds[kind].name);
	if (fd < 0)
		return no_right(error_errno(errno, "cannot open %s %lu", kinds[kind].name, id));
	return add_id(ids, id);
}

static struct error *find_pinned(enum kobj_kind kind, const char *path, struct kobj_ids *ids)
{
	struct description d;
	_cleanup_close_ int fd = bpf_obj_get(path);

	if (fd < 0)
		return error_at(error_errno(errno, "cannot open a pinned %s at this path",
					    kinds[kind].name),
				"%s", path);
	if (describe(kind, fd, &d) || !d.id)
		return error_at(error_new(EINVAL, "the object pinned at this path is not a %s",
					  kinds[kind].name),
				"%s", path);
	return add_id(ids, d.id);
}

static struct error *find_named(enum kobj_kind kind, const char *name, bool by_tag,
				struct kobj_ids *ids)
{
	_cleanup_kobj_ids_ struct kobj_ids all = {0};
	struct nearest near = nearest_make(name);
	_cleanup_strbuf_ struct strbuf names = STRBUF_INIT;

	TRY(kobj_ids_all(kind, &all));
	for (size_t i = 0; i < all.n; i++) {
		struct description d;
		_cleanup_close_ int fd = kobj_open(kind, all.v[i]);

		if (fd < 0 || describe(kind, fd, &d))
			continue; /* gone meanwhile */
		/* the kernel keeps the first 15 bytes of a name */
		if (by_tag ? !strcmp(d.tag, name)
			   : !strcmp(d.name, name) ||
				     (strlen(d.name) == BPF_OBJ_NAME_LEN - 1 &&
				      !strncmp(d.name, name, BPF_OBJ_NAME_LEN - 1)))
			TRY(add_id(ids, d.id));
		strbuf_adds(&names, by_tag ? d.tag : d.name);
		strbuf_add(&names, "", 1);
	}
	if (ids->n)
		return NULL;
	for (const char *p = strbuf_str(&names); p < strbuf_str(&names) + names.len;
	     p += strlen(p) + 1)
		if (*p)
			nearest_offer(&near, p);
	struct error *err = error_new(ENOENT, "no %s %s '%s'", kinds[kind].name,
				      by_tag ? "has the tag" : "is called", name);
	return error_suggest(err, &near);
}

struct error *kobj_find(enum kobj_kind kind, char *const *words, size_t n, size_t *used,
			struct kobj_ids *ids)
{
	static const char *const keys[] = {"id", "name", "pinned", "tag"};
	_cleanup_kobj_ids_ struct kobj_ids found = {0};
	size_t took = 2, key;

	if (!n)
		return error_hint(error_usage("which %s?", kinds[kind].name),
				  "use 'id ID', 'name NAME' or 'pinned PATH'");
	for (key = 0; key < ARRAY_SIZE(keys); key++)
		if (!strcmp(words[0], keys[key]))
			break;
	if (key < ARRAY_SIZE(keys) && n < 2)
		return error_usage("the %2$s needs a value for '%1$s'", words[0], kinds[kind].name);
	if (key == ARRAY_SIZE(keys)) {
		took = 1;
		key = strchr(words[0], '/') ? 2 : isdigit((unsigned char)words[0][0]) ? 0 : 1;
	}
	const char *text = words[took - 1];
	if (key == 0)
		TRY(find_id(kind, text, &found));
	else if (key == 2)
		TRY(find_pinned(kind, text, &found));
	else if (kind == KOBJ_LINK || (key == 3 && kind != KOBJ_PROG))
		return error_hint(error_usage("a %s has no %s", kinds[kind].name,
					      key == 3 ? "tag" : "name"),
				  "use 'id ID' or 'pinned PATH'");
	else
		TRY(find_named(kind, text, key == 3, &found));
	*used = took;
	*ids = found;
	found = (struct kobj_ids){0};
	return NULL;
}

struct error *kobj_find_one(enum kobj_kind kind, char *const *words, size_t n, size_t *used,
			    int *fd)
{
	_cleanup_kobj_ids_ struct kobj_ids ids = {0};
	_cleanup_strbuf_ struct strbuf list = STRBUF_INIT;

	TRY(kobj_find(kind, words, n, used, &ids));
	if (ids.n > 1) {
		for (size_t i = 0; i < ids.n; i++)
			strbuf_addf(&list, "%s%u", i ? ", " : "", ids.v[i]);
		return error_hint(error_new(ENOTUNIQ, "%zu %ss have the name '%s'", ids.n,
					    kinds[kind].name, words[*used - 1]),
				  "use one of these ids: %s", strbuf_str(&list));
	}
	int opened = kobj_open(kind, ids.v[0]);
	if (opened < 0)
		return error_errno(errno, "cannot open %s %u", kinds[kind].name, ids.v[0]);
	*fd = opened;
	return NULL;
}
