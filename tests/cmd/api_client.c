// SPDX-License-Identifier: BSD-2-Clause
/*
 * Calls that clients of libbpf make at its edges, and what libbpf 1.7 answers;
 * tests/cmd/test_edges.sh runs it on tests/bpf/api.bpf.c.
 *
 *	api_client CHECKS FILE [FOLDER]	FOLDER is in a BPF file system
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int failures;

#define CHECK(what)                                                                                \
	do {                                                                                       \
		errno = 0;                                                                         \
		if (!(what)) {                                                                     \
			printf("line %d: %s; errno %d\n", __LINE__, #what, errno);                 \
			failures++;                                                                \
		}                                                                                  \
	} while (0)

/* Attach types that bpf_prog_attach() takes, 0 among them, and those that need a link. */
static void names(const char *file, const char *folder)
{
	static const struct {
		const char *name;
		int type, failed, attach_type;
	} table[] = {
		{"cgroup_skb/ingress", BPF_PROG_TYPE_CGROUP_SKB, 0, BPF_CGROUP_INET_INGRESS},
		{"cgroup_skb/egress", BPF_PROG_TYPE_CGROUP_SKB, 0, BPF_CGROUP_INET_EGRESS},
		{"cgroup/skb", BPF_PROG_TYPE_CGROUP_SKB, -EINVAL, 0},
		{"xdp", BPF_PROG_TYPE_XDP, 0, BPF_XDP},
		{"sk_skb", BPF_PROG_TYPE_SK_SKB, -EINVAL, 0},
		{"sk_lookup", BPF_PROG_TYPE_SK_LOOKUP, 0, BPF_SK_LOOKUP},
		{"cgroup/dev", BPF_PROG_TYPE_CGROUP_DEVICE, 0, BPF_CGROUP_DEVICE},
		{"fentry/vfs_read", BPF_PROG_TYPE_TRACING, -EINVAL, 0},
		{"tp_btf/sched_switch", BPF_PROG_TYPE_TRACING, -EINVAL, 0},
		{"lsm/file_open", BPF_PROG_TYPE_LSM, -EINVAL, 0},
		{"lsm_cgroup/file_open", BPF_PROG_TYPE_LSM, -EINVAL, 0},
		{"kprobe.multi/vfs_*", BPF_PROG_TYPE_KPROBE, -EINVAL, 0},
		{"tcx/ingress", BPF_PROG_TYPE_SCHED_CLS, -EINVAL, 0},
		{"tc", BPF_PROG_TYPE_SCHED_CLS, -EINVAL, 0},
		{"socket", BPF_PROG_TYPE_SOCKET_FILTER, -EINVAL, 0},
		{"?kprobe", -1, -EINVAL, 0},
		{"nosuch", -1, -EINVAL, 0},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		enum bpf_prog_type type = -1;
		enum bpf_attach_type expected, attach_type = 0;
		const int known = libbpf_prog_type_by_name(table[i].name, &type, &expected);

		errno = 0;
		const int failed = libbpf_attach_type_by_name(table[i].name, &attach_type);
		if (known == (table[i].type < 0 ? -ESRCH : 0) && (int)type == table[i].type &&
		    failed == table[i].failed && (int)attach_type == table[i].attach_type &&
		    errno == -failed)
			continue;
		printf("%s: type %d (%d), attach type %d (%d)\n", table[i].name, type, known,
		       attach_type, failed);
		failures++;
	}
}

static void probes(const char *file, const char *folder)
{
	CHECK(libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_SOCKET_FILTER, NULL) == 1);
	CHECK(libbpf_probe_bpf_prog_type(999, NULL) == -EOPNOTSUPP && errno == EOPNOTSUPP);
	CHECK(libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_XDP, "") == -EINVAL);
	CHECK(libbpf_probe_bpf_map_type(BPF_MAP_TYPE_HASH, NULL) == 1);
	CHECK(libbpf_probe_bpf_map_type(999, NULL) == -EOPNOTSUPP);
	CHECK(libbpf_probe_bpf_helper(999, BPF_FUNC_trace_printk, NULL) == -EOPNOTSUPP);
}

static void before_load(const char *file, const char *folder)
{
	struct bpf_object *obj = bpf_object__open(file);
	struct bpf_map *map = bpf_object__find_map_by_name(obj, "first");
	struct bpf_program *prog = bpf_object__find_program_by_name(obj, "on_raw");

	CHECK(bpf_map__fd(map) == -1 && !errno);
	CHECK(bpf_object__find_map_fd_by_name(obj, "first") == -1);
	CHECK(bpf_object__find_map_fd_by_name(obj, "nosuch") == -EINVAL && errno == EINVAL);
	CHECK(!bpf_map__inner_map(map) && errno == EINVAL);
	CHECK(bpf_program__set_attach_target(prog, 0, NULL) == -EINVAL);
	CHECK(bpf_program__set_log_buf(prog, NULL, 5) == -EINVAL);
	CHECK(!bpf_program__set_log_buf(prog, (char *)file, 0));
	bpf_object__close(obj);
}

/* What a program attaches to may be fixed when it is loaded; then no name is needed. */
static void no_name(const char *file, const char *folder)
{
	struct bpf_object *obj = bpf_object__open(file);
	struct bpf_link *link;

	CHECK(!bpf_object__load(obj));
	CHECK((link = bpf_program__attach_raw_tracepoint(
		       bpf_object__find_program_by_name(obj, "on_typed"), NULL)));
	bpf_link__destroy(link);
	CHECK(!bpf_program__attach_raw_tracepoint(bpf_object__find_program_by_name(obj, "on_raw"),
						  NULL) &&
	      errno);
	CHECK(!bpf_program__attach_raw_tracepoint(bpf_object__find_program_by_name(obj, "on_raw"),
						  "") &&
	      errno == EINVAL);
	bpf_object__close(obj);
}

/* The kernel's log on the BTF goes to the object's buffer, of whatever size that is. */
static void logs(const char *file, const char *folder)
{
	static char all[1 << 20], one[1 << 20];
	LIBBPF_OPTS(bpf_object_open_opts, opts, .kernel_log_buf = all, .kernel_log_level = 1);

	for (int round = 0; round < 3; round++) {
		struct bpf_program *prog;

		opts.kernel_log_size = round == 0 ? sizeof(all) : round == 1 ? 100 : 0;
		memset(all, 0, sizeof(all));
		memset(one, 0, sizeof(one));
		struct bpf_object *obj = bpf_object__open_file(file, &opts);
		CHECK(obj);
		bpf_object__for_each_program (prog, obj) {
			CHECK(bpf_program__log_level(prog) == 1);
			CHECK(!bpf_program__set_log_buf(prog, one, sizeof(one)));
		}
		CHECK(!bpf_object__load(obj));
		CHECK(!strstr(all, "DATASEC .bss") == (round > 0));
		CHECK(strstr(one, "processed "));
		CHECK(round != 2 || !all[0]);
		bpf_object__close(obj);
	}
}

/* Of maps that pin themselves, what a load that fails has pinned goes again; the rest stays. */
static void pins(const char *file, const char *folder)
{
	char own[512], others[512], deep[512];
	struct bpf_object *obj = bpf_object__open(file);

	snprintf(own, sizeof(own), "%s/own", folder);
	snprintf(others, sizeof(others), "%s/others", folder);
	snprintf(deep, sizeof(deep), "%s/new/link", folder);
	const int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "others", 4, 4, 1, NULL);
	CHECK(!bpf_obj_pin(fd, others));
	close(fd);
	CHECK(!bpf_map__set_pin_path(bpf_object__find_map_by_name(obj, "first"), own));
	CHECK(!bpf_map__set_pin_path(bpf_object__find_map_by_name(obj, "second"), others));
	CHECK(bpf_object__load(obj) == -EINVAL);
	CHECK(access(own, F_OK) && errno == ENOENT);
	CHECK(!access(others, F_OK));
	CHECK(!bpf_map__is_pinned(bpf_object__find_map_by_name(obj, "first")));
	bpf_object__close(obj);

	/* A map that the caller gives gets its name as well. */
	obj = bpf_object__open(file);
	const int given = bpf_map_create(BPF_MAP_TYPE_ARRAY, "given", 4, 8, 3, NULL);
	CHECK(!bpf_map__reuse_fd(bpf_object__find_map_by_name(obj, "second"), given));
	CHECK(!bpf_map__set_pin_path(bpf_object__find_map_by_name(obj, "second"), own));
	CHECK(!bpf_object__load(obj));
	CHECK(!access(own, F_OK));
	const int pinned = bpf_obj_get(own);
	struct bpf_map_info info[2] = {0};
	__u32 len = sizeof(*info);
	CHECK(!bpf_map_get_info_by_fd(given, &info[0], &len));
	len = sizeof(*info);
	CHECK(!bpf_map_get_info_by_fd(pinned, &info[1], &len));
	CHECK(info[0].id == info[1].id);
	close(pinned);
	close(given);
	bpf_object__close(obj);
	CHECK(!unlink(own));

	/* Of several that load at once one gives the name, and all have that map. */
	for (int i = 0; i < 8; i++)
		if (!fork()) {
			obj = bpf_object__open(file);
			bpf_map__set_pin_path(bpf_object__find_map_by_name(obj, "first"), own);
			_exit(bpf_object__load(obj) ? 1 : 0);
		}
	for (int i = 0, status; i < 8; i++) {
		CHECK(wait(&status) > 0);
		CHECK(!status);
	}
	CHECK(!unlink(own));

	/* A link's name, too, may be in a folder that is not there yet. */
	obj = bpf_object__open(file);
	CHECK(!bpf_object__load(obj));
	struct bpf_link *link =
		bpf_program__attach(bpf_object__find_program_by_name(obj, "on_raw"));
	CHECK(link);
	CHECK(!bpf_link__pin(link, deep));
	CHECK(!access(deep, F_OK));
	CHECK(!bpf_link__unpin(link));
	CHECK(bpf_link__pin(link, "/tmp/api_client_is_no_bpffs") == -EINVAL);
	bpf_link__destroy(link);
	bpf_object__close(obj);
	CHECK(!unlink(others));
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*fn)(const char *file, const char *folder);
	} checks[] = {{"names", names},	    {"probes", probes}, {"before_load", before_load},
		      {"no_name", no_name}, {"logs", logs},	{"pins", pins}};

	for (size_t i = 0; argc > 2 && i < sizeof(checks) / sizeof(*checks); i++)
		if (!strcmp(argv[1], checks[i].name)) {
			checks[i].fn(argv[2], argc > 3 ? argv[3] : "");
			return failures ? 1 : 0;
		}
	return 2;
}
