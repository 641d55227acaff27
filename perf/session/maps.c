// SPDX-License-Identifier: BSD-2-Clause
/*
 * What was mapped where, in each process and in the kernel.
 *
 * A set of maps is an array sorted by address, in which no two overlap: a new
 * map cuts those it falls on, as the kernel's mmap() did. Look-ups are a
 * binary search after a look at where the last one ended.
 *
 * The kernel has one set: its text, its modules, and the JIT images and
 * trampolines of BPF, which KSYMBOL records announce and take back. The
 * kernel's own map comes as "[kernel.kallsyms]_text"; its pgoff is the address
 * of the symbol that the name ends with (_text or _stext), from which a reader
 * with a vmlinux can tell how far the kernel was moved.
 *
 * A live session is asked about addresses after the fact: a stack is shown
 * when its program has exec'd or ended. So its sets also keep what was cut,
 * with the times from and until it was there, and a look-up may name a time.
 * Maps and DSOs that nobody holds any more are freed.
 *
 * There an exec sets the whole array aside. Most processes fork, exec and end:
 * the array that they set aside is still their parent's, and they need not
 * copy it (a parent may have thousands of maps) to map what is their own.
 */
#include "perf/session/internal.h"

#include <stdio.h>
#include <sys/mman.h>

enum {
	MAX_PAST = 1024, /* of a process: a JIT compiler maps again and again */
	MAX_IMAGES = 4,	 /* of a process: how many exec are looked back on */
};

struct dso_node {
	struct dso pub;
	struct dso_id id;
	uint64_t key;	   /* in dsos */
	unsigned int refs; /* live: maps */
	struct dso_node *same_hash;
	struct dso_node *next, **link; /* of all */
};

/* ---- memory ---- */

static void dso_free(struct dso_node *d)
{
	if (d->pub.priv_free)
		d->pub.priv_free(d->pub.priv);
	free(d);
}

static void dso_put(struct maps_state *m, struct dso_node *d)
{
	if (--d->refs)
		return;
	struct dso_node *first = u64map_get(&m->dsos, d->key);

	if (first != d) {
		while (first->same_hash != d)
			first = first->same_hash;
		first->same_hash = d->same_hash;
	} else if (!d->same_hash || !u64map_put(&m->dsos, d->key, d->same_hash)) {
		u64map_remove(&m->dsos, d->key);
	}
	*d->link = d->next;
	if (d->next)
		d->next->link = d->link;
	dso_free(d);
}

/* Of a live session: one who held the map does no more. */
static void map_put(struct maps_state *m, const struct map *map)
{
	struct map_node *node = (struct map_node *)map;

	if (--node->refs)
		return;
	dso_put(m, (struct dso_node *)map->dso);
	node->next_free = m->free_maps;
	m->free_maps = node;
	m->generation++;
}

static void map_array_put(struct maps_state *m, struct map_array *a)
{
	if (!a || --a->refs)
		return;
	for (size_t i = 0; m->live && i < a->n; i++)
		map_put(m, a->maps[i]);
	free(a);
}

static void map_set_deinit(struct maps_state *m, struct map_set *set)
{
	map_array_put(m, set->array);
	for (size_t i = 0; m->live && i < set->past.n; i++)
		map_put(m, set->past.v[i].map);
	vec_deinit(&set->past);
	for (size_t i = 0; i < set->images.n; i++)
		map_array_put(m, set->images.v[i].array);
	vec_deinit(&set->images);
}

void maps_deinit(struct maps_state *m)
{
	m->live = false; /* it all goes at once */
	for (struct map_set *set = m->sets; set; set = set->next)
		map_set_deinit(m, set);
	map_set_deinit(m, &m->kernel);
	for (struct dso_node *d = m->all_dsos, *next; d; d = next) {
		next = d->next;
		dso_free(d);
	}
	u64map_deinit(&m->dsos);
	u64map_deinit(&m->jitdumps);
	strmap_deinit(&m->build_ids);
	arena_deinit(&m->arena);
}

struct map_set *map_set_new(struct maps_state *m)
{
	struct map_set *set = m->free_sets, *next;

	if (set) {
		m->free_sets = set->next_free;
		next = set->next;
		*set = (struct map_set){.next = next};
		return set;
	}
	set = arena_alloc(&m->arena, sizeof(*set));
	if (!set)
		return NULL;
	set->next = m->sets;
	m->sets = set;
	return set;
}

void map_set_free(struct maps_state *m, struct map_set *set)
{
	map_set_deinit(m, set);
	set->array = NULL;
	set->next_free = m->free_sets;
	m->free_sets = set;
}

/* ---- a process's maps ---- */

static void map_set_changed(struct map_set *set)
{
	set->last = NULL;
	set->changes++;
}

void map_set_share(struct maps_state *m, struct map_set *to, struct map_set *from)
{
	if (to == from)
		return;
	if (from->array)
		from->array->refs++;
	map_array_put(m, to->array);
	to->array = from->array;
	map_set_changed(to);
}

/* Room for want maps in an array that nobody shares. */
static struct map_array *map_set_own(struct maps_state *m, struct map_set *set, size_t want)
{
	struct map_array *old = set->array;

	if (old && old->refs == 1 && old->cap >= want)
		return old;
	size_t cap = max_of(want + want / 2, (size_t)16);
	struct map_array *a;
	if (old && old->refs > 1) {
		a = malloc(sizeof(*a) + cap * sizeof(a->maps[0]));
		if (!a)
			return NULL;
		a->n = old->n;
		memcpy(a->maps, old->maps, old->n * sizeof(a->maps[0]));
		for (size_t i = 0; m->live && i < a->n; i++)
			((struct map_node *)a->maps[i])->refs++;
		old->refs--;
	} else {
		a = realloc(old, sizeof(*a) + cap * sizeof(a->maps[0]));
		if (!a)
			return NULL;
		if (!old)
			a->n = 0;
	}
	a->refs = 1;
	a->cap = cap;
	set->array = a;
	return a;
}

void map_set_exec(struct maps_state *m, struct map_set *set)
{
	struct past_image *image;

	if (!set->array)
		return;
	if (set->images.n == MAX_IMAGES) {
		map_array_put(m, set->images.v[0].array);
		set->images.n--;
		memmove(set->images.v, set->images.v + 1, set->images.n * sizeof(set->images.v[0]));
	}
	image = vec_push(&set->images);
	if (!image)
		return; /* what is mapped next cuts it, map by map */
	*image = (struct past_image){set->array, m->now};
	set->array = NULL;
	map_set_changed(set);
}

/* The first map that ends behind addr. */
static size_t map_array_lower(const struct map_array *a, uint64_t addr)
{
	return count_before(a ? a->n : 0, i, a->maps[i]->end <= addr);
}

static size_t map_set_lower(const struct map_set *set, uint64_t addr)
{
	return map_array_lower(set->array, addr);
}

/* [start, end) of a map as a map of its own. */
static const struct map *map_new(struct maps_state *m, const struct map *map, uint64_t start,
				 uint64_t end, uint64_t since)
{
	struct map_node *node = m->free_maps;

	if (node)
		m->free_maps = node->next_free;
	else
		node = arena_alloc(&m->arena, sizeof(*node));
	if (!node)
		return NULL;
	*node = (struct map_node){.pub = *map, .since = since, .refs = 1};
	node->pub.pgoff += start - map->start;
	node->pub.start = start;
	node->pub.end = end;
	((struct dso_node *)map->dso)->refs++;
	return &node->pub;
}

static uint64_t map_since(const struct map *map)
{
	return ((const struct map_node *)map)->since;
}

/* A map that an array held until then belongs to the past; the oldest of too many are forgotten. */
static void past_add(struct maps_state *m, struct map_set *set, const struct map *map,
		     uint64_t until)
{
	struct past_map *past;

	if (set->past.n >= MAX_PAST) {
		for (size_t i = 0; i < MAX_PAST / 2; i++)
			map_put(m, set->past.v[i].map);
		set->past.n -= MAX_PAST / 2;
		memmove(set->past.v, set->past.v + MAX_PAST / 2,
			set->past.n * sizeof(set->past.v[0]));
	}
	past = vec_push(&set->past);
	if (past)
		*past = (struct past_map){map, until};
	else
		map_put(m, map);
}

/* A record that comes late, when what took the map's place is known already. */
static bool add_late(struct maps_state *m, struct map_set *set, const struct map *map,
		     uint64_t until)
{
	const struct map *late = map_new(m, map, map->start, map->end, m->now);

	if (late)
		past_add(m, set, late, until);
	return late != NULL;
}

/* The map was there already, as /proc and a record, or two records, may say. */
static bool is_same_map(const struct map *a, const struct map *b)
{
	return a->start == b->start && a->end == b->end && a->pgoff == b->pgoff && a->dso == b->dso;
}

static bool map_set_insert(struct maps_state *m, struct map_set *set, struct map map)
{
	if (map.start >= map.end)
		return true;
	size_t first = map_set_lower(set, map.start), last = first;
	const struct map *pieces[3];
	size_t n = 0;

	while (set->array && last < set->array->n && set->array->maps[last]->start < map.end)
		last++;
	if (m->live && last == first + 1 && is_same_map(set->array->maps[first], &map))
		return true;
	for (size_t i = first; m->live && i < last; i++)
		if (m->now && map_since(set->array->maps[i]) > m->now)
			return add_late(m, set, &map, map_since(set->array->maps[i]));
	if (m->now && set->images.n && vec_last(&set->images)->until > m->now)
		return add_late(m, set, &map, vec_last(&set->images)->until);
	if (last > first && set->array->maps[first]->start < map.start) {
		const struct map *old = set->array->maps[first];
		pieces[n] = map_new(m, old, old->start, map.start, map_since(old));
		if (!pieces[n++])
			return false;
	}
	pieces[n] = map_new(m, &map, map.start, map.end, m->now);
	if (!pieces[n++])
		return false;
	if (last > first && set->array->maps[last - 1]->end > map.end) {
		const struct map *old = set->array->maps[last - 1];
		pieces[n] = map_new(m, old, map.end, old->end, map_since(old));
		if (!pieces[n++])
			return false;
	}

	size_t total = (set->array ? set->array->n : 0) - (last - first) + n;
	struct map_array *a = map_set_own(m, set, max_of(total, set->array ? set->array->n : 0));
	if (!a)
		return false;
	for (size_t i = first; m->live && i < last; i++)
		past_add(m, set, a->maps[i], m->now);
	memmove(&a->maps[first + n], &a->maps[last], (a->n - last) * sizeof(a->maps[0]));
	memcpy(&a->maps[first], pieces, n * sizeof(pieces[0]));
	a->n = total;
	map_set_changed(set);
	return true;
}

static void map_set_remove_at(struct maps_state *m, struct map_set *set, uint64_t addr)
{
	size_t i = map_set_lower(set, addr);

	if (!set->array || i >= set->array->n || set->array->maps[i]->start > addr)
		return;
	struct map_array *a = map_set_own(m, set, set->array->n);
	if (!a)
		return;
	if (m->live)
		past_add(m, set, a->maps[i], m->now);
	memmove(&a->maps[i], &a->maps[i + 1], (a->n - i - 1) * sizeof(a->maps[0]));
	a->n--;
	map_set_changed(set);
}

static const struct map *map_set_find(struct map_set *set, uint64_t addr)
{
	if (set->last && addr >= set->last->start && addr < set->last->end)
		return set->last;
	size_t i = map_set_lower(set, addr);
	if (!set->array || i >= set->array->n || set->array->maps[i]->start > addr)
		return NULL;
	set->last = set->array->maps[i];
	return set->last;
}

static const struct map *array_find_at(const struct map_array *a, uint64_t time, uint64_t addr)
{
	const size_t i = map_array_lower(a, addr);
	const struct map *map = i < a->n && a->maps[i]->start <= addr ? a->maps[i] : NULL;

	return map && (!time || map_since(map) <= time) ? map : NULL;
}

/* What was there until an exec, unless something was there until later; time 0: the newest. */
static const struct map *images_find_at(const struct map_set *set, uint64_t time, uint64_t addr,
					uint64_t later)
{
	for (size_t i = set->images.n; i-- > 0;) {
		const struct past_image *image = &set->images.v[i];

		if (image->until < later || (time && time >= image->until))
			break;
		const struct map *map = array_find_at(image->array, time, addr);
		if (map)
			return map;
	}
	return NULL;
}

const struct map *map_set_find_at(struct map_set *set, uint64_t time, uint64_t addr)
{
	const struct map *map = map_set_find(set, addr), *found = NULL;
	uint64_t until = 0;

	if (map && (!time || map_since(map) <= time))
		return map;
	for (size_t i = set->past.n; i-- > 0 && !found;) {
		const struct past_map *past = &set->past.v[i];

		if (addr >= past->map->start && addr < past->map->end &&
		    (!time || (map_since(past->map) <= time && time < past->until))) {
			found = past->map;
			until = past->until;
		}
	}
	map = images_find_at(set, time, addr, until);
	return map ? map : found;
}

/* ---- DSOs ---- */

static bool has_prefix(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

/* In the map of file names: a file name with several build-ids. */
#define SEVERAL_BUILD_IDS ((void *)-1)

/*
 * Build-ids that the header's table gives by file name; it grows while a pipe is read. *unsure: the
 * table has several for the name (one path in two mount namespaces) and does not say which is
 * whose. *out: NULL, there is none. false: no memory.
 */
static bool header_build_id(struct session *s, const char *path, const struct data_build_id **out,
			    bool *unsure)
{
	struct maps_state *m = &s->maps;

	/* What is kept is the index, and one: the array moves when it grows. */
	for (; m->n_build_ids_known < s->header.n_build_ids; m->n_build_ids_known++) {
		const struct data_build_id *all = s->header.build_ids,
					   *b = &all[m->n_build_ids_known], *other;
		void *value = (void *)(m->n_build_ids_known + 1), *old;

		old = strmap_get(&m->build_ids, b->filename);
		other = old && old != SEVERAL_BUILD_IDS ? &all[(size_t)old - 1] : NULL;
		if (old && (!other || b->size != other->size || memcmp(b->id, other->id, b->size)))
			value = SEVERAL_BUILD_IDS;
		if (!strmap_put(&m->build_ids, b->filename, value))
			return false;
	}
	void *found = strmap_get(&m->build_ids, path);
	*unsure = found == SEVERAL_BUILD_IDS;
	*out = found && !*unsure ? &s->header.build_ids[(size_t)found - 1] : NULL;
	return true;
}

static bool dso_id_equal(const struct dso_id *a, const struct dso_id *b)
{
	return a->maj == b->maj && a->min == b->min && a->ino == b->ino &&
	       a->ino_generation == b->ino_generation && a->build_id_size == b->build_id_size &&
	       !memcmp(a->build_id, b->build_id, a->build_id_size);
}

/* Of a record: with a build-id, which says more, it has no inode. */
static struct dso_id dso_id_of(const struct record_mmap *m)
{
	struct dso_id id = {m->maj, m->min, m->ino, m->ino_generation};

	if (m->build_id && m->build_id_size) {
		id = (struct dso_id){.build_id_size = m->build_id_size};
		memcpy(id.build_id, m->build_id, m->build_id_size);
	}
	return id;
}

/* The same of what is one file whatever its inode: only builds are told apart. */
static struct dso_id build_of(const struct record_mmap *m)
{
	struct dso_id id = dso_id_of(m);

	return id.build_id_size ? id : (struct dso_id){0};
}

static struct dso *dso_get(struct session *s, enum dso_kind kind, const char *path,
			   const char *short_name, const struct dso_id *id)
{
	struct maps_state *m = &s->maps;
	uint64_t build = 0;

	memcpy(&build, id->build_id, min_of((size_t)id->build_id_size, sizeof(build)));
	uint64_t key = hash_str(path) ^ hash_u64(id->ino) ^
		       hash_u64((uint64_t)id->maj << 32 | id->min) ^ hash_u64(build);
	struct dso_node *first = u64map_get(&m->dsos, key);

	for (struct dso_node *d = first; d; d = d->same_hash)
		if (d->pub.kind == kind && dso_id_equal(&d->id, id) && !strcmp(d->pub.path, path))
			return &d->pub;
	const struct data_build_id *b = NULL;
	bool unsure = false;
	if (!id->build_id_size && !header_build_id(s, path, &b, &unsure))
		return NULL;
	size_t path_size = strlen(path) + 1, name_size = strlen(short_name) + 1;
	struct dso_node *d = calloc(1, sizeof(*d) + path_size + name_size);
	if (!d || !u64map_put(&m->dsos, key, d)) {
		free(d);
		return NULL;
	}
	d->id = *id;
	d->key = key;
	d->pub.kind = kind;
	d->pub.path = memcpy(d + 1, path, path_size);
	d->pub.short_name = memcpy((char *)(d + 1) + path_size, short_name, name_size);
	d->same_hash = first;
	d->link = &m->all_dsos;
	d->next = m->all_dsos;
	if (d->next)
		d->next->link = &d->next;
	m->all_dsos = d;
	d->pub.maj = id->maj;
	d->pub.min = id->min;
	d->pub.ino = id->ino;
	d->pub.build_id_unsure = unsure;
	d->pub.build_id_size = b ? b->size : id->build_id_size;
	memcpy(d->pub.build_id, b ? b->id : id->build_id, d->pub.build_id_size);
	return &d->pub;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Which names of maps are no files: as perf has them. */
static bool is_anonymous(const char *name)
{
	static const char *const prefixes[] = {"//anon", "/dev/zero", "/anon_hugepage",
					       "[stack", "/SYSV",     "[heap]"};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (has_prefix(name, prefixes[i]))
			return true;
	return false;
}

static uint64_t range_end(uint64_t addr, uint64_t len)
{
	return len > UINT64_MAX - addr ? UINT64_MAX : addr + len;
}

/* The map that the record tells of; its dso is yet to be found. */
static struct map map_of(const struct record_mmap *m)
{
	return (struct map){
		.start = m->addr,
		.end = range_end(m->addr, m->len),
		.pgoff = m->pgoff,
		.prot = m->prot,
		.flags = m->flags,
	};
}

/* What a JIT compiler maps so that profilers find it: sym/jitdump.h. */
static bool is_jitdump(const char *path)
{
	int pid, len = 0;

	path = base_name(path);
	return has_prefix(path, "jit-") && sscanf(path, "jit-%d.dump%n", &pid, &len) == 1 && len &&
	       !path[len];
}

static bool keep_jitdump(struct maps_state *m, int32_t pid, const char *path)
{
	const char *copy = arena_strdup(&m->arena, path);

	return copy && u64map_put(&m->jitdumps, (uint32_t)pid, (void *)copy);
}

const char *session_jitdump(struct session *s, int32_t pid)
{
	return u64map_get(&s->maps.jitdumps, (uint32_t)pid);
}

bool maps_add_user(struct session *s, struct map_set *set, int32_t pid, const struct record_mmap *m)
{
	struct dso_id id = dso_id_of(m), build = build_of(m);
	struct map map = map_of(m);
	char jit[40], tid[32];

	if (!strcmp(m->filename, "[vdso]")) {
		map.pgoff = 0;
		map.dso = dso_get(s, DSO_VDSO, m->filename, m->filename, &build);
	} else if (is_anonymous(m->filename) || m->flags & MAP_HUGETLB ||
		   (s->maps.live && has_prefix(m->filename, "/memfd:"))) {
		const char *path = m->filename, *name = base_name(path);

		if (m->prot & PROT_EXEC) {
			/* Code that a JIT compiler made, which may tell its names there. */
			snprintf(jit, sizeof(jit), "/tmp/perf-%d.map", pid);
			snprintf(tid, sizeof(tid), "[JIT] tid %d", pid);
			path = jit;
			name = tid;
		}
		map.pgoff = map.start;
		map.dso = dso_get(s, DSO_ANON, path, name, &(struct dso_id){0});
	} else {
		map.dso = dso_get(s, DSO_USER, m->filename, base_name(m->filename), &id);
		if (map.dso)
			map.dso->pid = pid;
		if (!s->maps.live && is_jitdump(m->filename) &&
		    !keep_jitdump(&s->maps, pid, m->filename))
			return false;
	}
	if (!map.dso)
		return false;
	return map_set_insert(&s->maps, set, map);
}

/* "[ext4]" for "/lib/modules/6.1/kernel/fs/ext4/ext4.ko.xz"; '-' is '_' in the kernel. */
static void module_name(const char *path, char *name, size_t size)
{
	if (path[0] == '[') {
		snprintf(name, size, "%s", path);
		return;
	}
	const char *base = base_name(path), *dot = strstr(base, ".ko");
	int len = dot ? (int)(dot - base) : (int)strlen(base);
	snprintf(name, size, "[%.*s]", min_of(len, (int)size - 3), base);
	for (char *p = name; *p; p++)
		if (*p == '-')
			*p = '_';
}

bool maps_add_kernel(struct session *s, const struct record_mmap *m)
{
	static const char kernel[] = "[kernel.kallsyms]", guest[] = "[guest.kernel.kallsyms";
	struct dso_id build = build_of(m);
	struct map map = map_of(m);
	char name[256];

	if (has_prefix(m->filename, guest))
		return true;
	if (has_prefix(m->filename, kernel)) {
		/* A length of 0: perf knew no end. */
		if (!m->len)
			map.end = UINT64_MAX;
		map.dso = dso_get(s, DSO_KERNEL, kernel, kernel, &build);
	} else {
		module_name(m->filename, name, sizeof(name));
		map.dso = dso_get(s, DSO_MODULE, m->filename, name, &build);
	}
	if (!map.dso)
		return false;
	return map_set_insert(&s->maps, &s->maps.kernel, map);
}

bool maps_add_ksymbol(struct session *s, const struct record_ksymbol *k)
{
	if (k->flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER) {
		const struct map *map = map_set_find(&s->maps.kernel, k->addr);
		if (map && map->dso->kind == DSO_BPF)
			map_set_remove_at(&s->maps, &s->maps.kernel, k->addr);
		return true;
	}
	struct map map = {
		.start = k->addr,
		.end = range_end(k->addr, k->len),
		.prot = PROT_EXEC,
	};
	/* Programs are loaded again and again under one name, each elsewhere. */
	struct dso_id id = {.ino = k->addr, .min = k->len};
	map.dso = dso_get(s, DSO_BPF, k->name, k->name, &id);
	return map.dso && map_set_insert(&s->maps, &s->maps.kernel, map);
}

const struct map *session_find_map_at(struct session *s, int32_t pid, uint64_t time,
				      uint8_t cpumode, uint64_t addr)
{
	return cpumode == PERF_RECORD_MISC_KERNEL ? map_set_find_at(&s->maps.kernel, time, addr)
						  : threads_find_map(s, pid, time, addr);
}

const struct map *session_kernel_map(struct session *s)
{
	const struct map_array *a = s->maps.kernel.array;

	for (size_t i = 0; a && i < a->n; i++)
		if (a->maps[i]->dso->kind == DSO_KERNEL)
			return a->maps[i];
	return NULL;
}

const struct map *thread_find_map(const struct thread *thread, uint64_t addr)
{
	return thread->maps->array ? array_find_at(thread->maps->array, 0, addr) : NULL;
}

uint64_t session_maps_version(const struct session *s, const struct thread *thread)
{
	/* Both only grow. */
	return thread->maps->changes + s->maps.kernel.changes;
}

const struct map *session_find_map(struct session *s, const struct thread *thread, uint8_t cpumode,
				   uint64_t addr)
{
	if (cpumode == PERF_RECORD_MISC_KERNEL)
		return map_set_find(&s->maps.kernel, addr);
	if (cpumode == PERF_RECORD_MISC_USER && thread)
		return map_set_find(thread->maps, addr);
	return NULL;
}
