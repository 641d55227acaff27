// SPDX-License-Identifier: BSD-2-Clause
/*
 * Attaching to USDT probes, with the kernel's part played here (the linker
 * sends the library's calls here): what it is asked for, what is given back,
 * and each allocation failing in turn. tests/cmd/test_usdt.sh has a kernel.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "lib/attach/attach.h"
#include "lib/object/open_object.h"
#include "lib/sys/sys.h"
#include "tests/unit/nomem.h"
#include "tests/unit/usdt_image.h"

enum {
	SPECS = 8,
};

/* struct __bpf_usdt_spec of <bpf/usdt.bpf.h> */
struct spec {
	struct {
		uint64_t value;
		uint8_t place, scale;
		uint16_t index;
		int16_t reg;
		uint8_t is_signed, shift;
	} args[12];
	uint64_t cookie;
	int16_t count;
};

static struct {
	bool cookies; /* the kernel has them */
	int link_error;
	int specs_fd, ips_fd;
	struct spec specs[SPECS];
	struct {
		uint64_t ip;
		uint32_t id;
	} ips[8];
	size_t n_ips;
	/* The last link. */
	unsigned long offsets[8];
	uint64_t ids[8];
	uint32_t n, pid;
} kernel;

int __wrap_bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags);
int __wrap_bpf_map_delete_elem(int fd, const void *key);
int __wrap_bpf_link_create(int prog, int target, enum bpf_attach_type type,
			   const struct bpf_link_create_opts *opts);
bool __wrap_sys_bpf_has(enum sys_bpf_feature feature);

int __wrap_bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	if (fd == kernel.specs_fd) {
		uint32_t id;

		memcpy(&id, key, sizeof(id));
		assert_true(id < SPECS);
		memcpy(&kernel.specs[id], value, sizeof(kernel.specs[id]));
		return 0;
	}
	uint64_t ip;
	assert_int_equal(fd, kernel.ips_fd);
	assert_int_equal(flags, BPF_NOEXIST);
	memcpy(&ip, key, sizeof(ip));
	for (size_t i = 0; i < kernel.n_ips; i++)
		if (kernel.ips[i].ip == ip)
			return -EEXIST;
	kernel.ips[kernel.n_ips].ip = ip;
	memcpy(&kernel.ips[kernel.n_ips++].id, value, 4);
	return 0;
}

int __wrap_bpf_map_delete_elem(int fd, const void *key)
{
	uint64_t ip;

	assert_int_equal(fd, kernel.ips_fd);
	memcpy(&ip, key, sizeof(ip));
	for (size_t i = 0; i < kernel.n_ips; i++)
		if (kernel.ips[i].ip == ip) {
			kernel.ips[i] = kernel.ips[--kernel.n_ips];
			return 0;
		}
	fail_msg("%#llx is deleted and was not there", (unsigned long long)ip);
	return 0;
}

int __wrap_bpf_link_create(int prog, int target, enum bpf_attach_type type,
			   const struct bpf_link_create_opts *opts)
{
	assert_int_equal((int)type, BPF_TRACE_UPROBE_MULTI);
	if (kernel.link_error)
		return -kernel.link_error;
	kernel.n = opts->uprobe_multi.cnt;
	kernel.pid = opts->uprobe_multi.pid;
	assert_true(kernel.n <= 8);
	for (uint32_t i = 0; i < kernel.n; i++) {
		kernel.offsets[i] = opts->uprobe_multi.offsets[i];
		kernel.ids[i] = opts->uprobe_multi.cookies[i];
	}
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

bool __wrap_sys_bpf_has(enum sys_bpf_feature feature)
{
	return feature != SYS_BPF_COOKIE || kernel.cookies;
}

/* ---- an object that is as good as loaded, and a file with probes ---- */

static char *bytes;
static size_t n_bytes;
static char path[] = "/tmp/perf-bpf-test-usdt.XXXXXX";

static struct bpf_program *load(struct bpf_object **obj)
{
	memset(&kernel, 0, sizeof(kernel));
	kernel.cookies = true;
	assert_null(object_open_mem(bytes, n_bytes, NULL, NULL, obj));
	struct bpf_program *prog = bpf_object__find_program_by_name(*obj, "on_probe");
	struct bpf_map *specs = bpf_object__find_map_by_name(*obj, "__bpf_usdt_specs");
	struct bpf_map *ips = bpf_object__find_map_by_name(*obj, "__bpf_usdt_ip_to_spec_id");
	assert_true(prog && specs && ips);
	assert_int_equal(specs->value_size, sizeof(struct spec));
	specs->max_entries = SPECS;
	specs->fd = kernel.specs_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ips->fd = kernel.ips_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	prog->fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	prog->attach_type = BPF_TRACE_UPROBE_MULTI;
	return prog;
}

static void write_file(uint16_t type, const struct probe *probes, size_t n)
{
	struct image body = {0}, file = {0};

	for (size_t i = 0; i < n; i++)
		put_note(&body, &probes[i]);
	make_file(&file, type, body.sb.str, body.sb.len, SHT_NOTE, 0);
	FILE *f = fopen(path, "w");
	assert_int_equal(fwrite(file.sb.str, 1, file.sb.len, f), file.sb.len);
	fclose(f);
	strbuf_deinit(&body.sb);
	strbuf_deinit(&file.sb);
}

static const struct probe probes[] = {
	{"p", "q", "-4@%edi 8@$7", CODE + 0x10, 0, 0},
	{"p", "other", "8@%rax", CODE + 0x18, 0, 0},
	{"p", "q", "-4@-8(%rsp) 8@$7", CODE + 0x20, 0, 0},
	{"p", "q", "-4@%edi 8@$7", CODE + 0x30, 0, 0},
	{"p", "float", "8f@%xmm0", CODE + 0x40, 0, 0},
	{"p", "data", "", DATA, 0, 0},
};

static struct bpf_link *attach(struct bpf_program *prog, const char *name, uint64_t cookie)
{
	LIBBPF_OPTS(bpf_usdt_opts, opts, .usdt_cookie = cookie);

	return bpf_program__attach_usdt(prog, -1, path, "p", name, &opts);
}

static void places_have_their_offsets_and_descriptions(void **state)
{
	struct bpf_object *obj;
	struct bpf_program *prog = load(&obj);

	write_file(ET_EXEC, probes, ARRAY_SIZE(probes));
	struct bpf_link *link = attach(prog, "q", 0xabcdef);
	assert_non_null(link);
	assert_int_equal(kernel.n, 3);
	assert_int_equal(kernel.pid, 0);
	assert_int_equal(kernel.offsets[0], 0x1010);
	assert_int_equal(kernel.offsets[1], 0x1020);
	assert_int_equal(kernel.offsets[2], 0x1030);
	assert_int_equal(kernel.ids[0], kernel.ids[2]);
	assert_int_not_equal(kernel.ids[0], kernel.ids[1]);
	assert_int_equal(kernel.n_ips, 0);

	const struct spec *reg = &kernel.specs[kernel.ids[0]], *mem = &kernel.specs[kernel.ids[1]];
	assert_int_equal(reg->cookie, 0xabcdef);
	assert_int_equal(reg->count, 2);
	assert_int_equal(reg->args[0].place, 1);
	assert_int_equal(reg->args[0].reg, 112);
	assert_int_equal(reg->args[0].is_signed, 1);
	assert_int_equal(reg->args[0].shift, 32);
	assert_int_equal(reg->args[1].place, 0);
	assert_int_equal(reg->args[1].value, 7);
	assert_int_equal(reg->args[1].shift, 0);
	assert_int_equal(mem->args[0].place, 2);
	assert_int_equal(mem->args[0].reg, 152);
	assert_int_equal((int64_t)mem->args[0].value, -8);
	bpf_link__destroy(link);
	bpf_object__close(obj);
}

static void descriptions_are_given_back(void **state)
{
	struct bpf_object *obj;
	struct bpf_program *prog = load(&obj);
	struct bpf_link *links[SPECS];

	/* Four times two are all there is room for. */
	for (int i = 0; i < 4; i++)
		assert_non_null(links[i] = attach(prog, "q", (uint64_t)i));
	assert_null(attach(prog, "q", 4));
	assert_int_equal(errno, E2BIG);
	assert_null(attach(prog, "other", 4));
	const uint64_t second[] = {kernel.ids[0], kernel.ids[1]};
	bpf_link__destroy(links[3]);
	/* Room for two of one each. The failure before took none away. */
	assert_non_null(links[3] = attach(prog, "other", 5));
	assert_non_null(links[4] = attach(prog, "other", 6));
	assert_true(kernel.ids[0] == second[0] || kernel.ids[0] == second[1]);
	assert_null(attach(prog, "other", 7));

	/* What is let go stays in use, and so does what is pinned. */
	bpf_link__disconnect(links[4]);
	bpf_link__destroy(links[4]);
	assert_null(attach(prog, "other", 8));
	bpf_link__destroy(links[3]);
	kernel.link_error = EPERM;
	assert_null(attach(prog, "other", 9));
	assert_int_equal(errno, EPERM);
	kernel.link_error = 0;
	assert_non_null(links[3] = attach(prog, "other", 10));
	assert_int_equal(kernel.specs[kernel.ids[0]].cookie, 10);
	bpf_object__close(obj);
	for (int i = 0; i < 4; i++)
		bpf_link__destroy(links[i]);
}

static void without_cookies_addresses_tell(void **state)
{
	struct bpf_object *obj;
	struct bpf_program *prog = load(&obj);

	kernel.cookies = false;
	struct bpf_link *link = attach(prog, "q", 1);
	assert_non_null(link);
	assert_int_equal(kernel.n_ips, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(kernel.ips[i].ip, CODE + 0x10 + i * 0x10);
		assert_int_equal(kernel.ips[i].id, kernel.ids[i]);
	}
	assert_null(attach(prog, "q", 2));
	assert_int_equal(errno, EEXIST);
	assert_int_equal(kernel.n_ips, 3);
	bpf_link__destroy(link);
	assert_int_equal(kernel.n_ips, 0);

	/* Loaded anywhere: a process must be named, and must have it. */
	write_file(ET_DYN, probes, ARRAY_SIZE(probes));
	assert_null(attach(prog, "q", 1));
	assert_int_equal(errno, EOPNOTSUPP);
	assert_null(bpf_program__attach_usdt(prog, 0, path, "p", "q", NULL));
	assert_int_equal(errno, ESRCH);
	assert_int_equal(kernel.n_ips, 0);
	write_file(ET_EXEC, probes, ARRAY_SIZE(probes));
	bpf_object__close(obj);
}

static void what_cannot_be_attached_is_said(void **state)
{
	static const struct {
		const char *name, *error, *hint;
		int code;
	} cases[] = {
		{"float", "probe p:float (note at offset 0x", NULL, EOPNOTSUPP},
		{"float", "argument 1, '8f@%xmm0': a floating-point register", NULL, EOPNOTSUPP},
		{"data", "it is at 0x603000, where the file has no code", NULL, EBADMSG},
		{"othr", "has no USDT probe p:othr", "did you mean 'p:other'?", ENOENT},
		{"nowhere near", "", "it has p:data, p:float, p:other, p:q", ENOENT},
	};
	struct bpf_object *obj;
	struct bpf_program *prog = load(&obj);

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_null(attach(prog, cases[i].name, 0));
		assert_int_equal(errno, cases[i].code);
		if (!strstr(perf_bpf_last_error(), cases[i].error))
			fail_msg("%s", perf_bpf_last_error());
		if (cases[i].hint && strcmp(perf_bpf_last_hint(), cases[i].hint))
			fail_msg("%s", perf_bpf_last_hint());
	}
	prog->attach_type = 0;
	close(prog->fd);
	prog->fd = -1;
	assert_null(attach(prog, "q", 0));
	assert_non_null(strstr(perf_bpf_last_error(), "the program is not loaded"));
	bpf_object__close(obj);
}

static void lack_of_memory_is_said(void **state)
{
	for (int cookies = 0; cookies < 2; cookies++) {
		long n = 0;

		do {
			struct bpf_object *obj;
			struct bpf_program *prog = load(&obj);
			const int fd = prog->fd;

			kernel.cookies = cookies;
			failed = false;
			countdown = n++;
			struct bpf_link *link = attach(prog, "q", 1);
			countdown = -1;
			if (!link) {
				assert_true(failed);
				assert_int_equal(errno, ENOMEM);
				assert_int_equal(kernel.n_ips, 0);
				assert_non_null(link = attach(prog, "q", 1));
				assert_true(kernel.ids[0] < 2 && kernel.ids[1] < 2);
			}
			bpf_link__destroy(link);
			bpf_object__close(obj);
			assert_int_equal(fcntl(fd, F_GETFD), -1);
		} while (failed);
		assert_true(n > 10);
	}
}

static int setup(void **state)
{
	const char *src = getenv("SRC");
	char object[512];

	snprintf(object, sizeof(object), "%s/fuzz/corpus/object/usdt.o", src ? src : ".");
	error_free(sys_read_file(object, 1 << 20, &bytes, &n_bytes));
	int fd = mkstemp(path);
	if (fd >= 0)
		close(fd);
	return bytes && fd >= 0 ? 0 : -1;
}

static int teardown(void **state)
{
	unlink(path);
	free(bytes);
	return 0;
}

static void probes_of_another_machine(void **state)
{
	print_message("the file's probes are of x86-64\n");
	skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_have_their_offsets_and_descriptions),
		cmocka_unit_test(descriptions_are_given_back),
		cmocka_unit_test(without_cookies_addresses_tell),
		cmocka_unit_test(what_cannot_be_attached_is_said),
		cmocka_unit_test(lack_of_memory_is_said),
	};

	const struct CMUnitTest none[] = {cmocka_unit_test(probes_of_another_machine)};

	if (sizeof(void *) != 8 || strcmp(MACHINE, "x86_64"))
		return cmocka_run_group_tests(none, NULL, NULL);
	return cmocka_run_group_tests(tests, setup, teardown);
}
