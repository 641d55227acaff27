// SPDX-License-Identifier: BSD-2-Clause
/* TCP congestion control in BPF, tests/bpf/struct_ops.bpf.c: see kinds_client.c. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <unistd.h>

#include "kinds.h"

/* As the object declares it, with programs where functions are. */
struct control {
	struct bpf_program *init;
	char name[16];
	int no_such_number;
	struct bpf_program *no_such_function, *undo_cwnd, *ssthresh, *cong_avoid;
};

static struct control *control_of(struct bpf_object *obj, const char *name, struct bpf_map **map)
{
	size_t size;

	*map = bpf_object__find_map_by_name(obj, name);
	CHECK(*map && bpf_map__type(*map) == BPF_MAP_TYPE_STRUCT_OPS);
	CHECK(!bpf_map__is_internal(*map) && bpf_map__autoattach(*map));
	struct control *control = bpf_map__initial_value(*map, &size);
	CHECK(control && size == sizeof(*control));
	/* The names are the whole machine's. */
	snprintf(control->name, sizeof(control->name), "pb_cc_%d", (int)getpid() % 1000000);
	return control;
}

static int is_registered(const char *name)
{
	char text[4096];
	const int fd =
		open("/proc/sys/net/ipv4/tcp_available_congestion_control", O_RDONLY | O_CLOEXEC);
	const ssize_t n = read(fd, text, sizeof(text) - 1);

	CHECK(n > 0);
	text[n] = 0;
	close(fd);
	return strstr(text, name) != NULL;
}

/* A connection that is controlled by it: init() is called for the socket that chooses it. */
static void use(const char *name)
{
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in at = loopback(0);
	socklen_t len = sizeof(at);
	const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char chosen[16] = "";
	socklen_t chosen_len = sizeof(chosen);

	CHECK(!bind(listener, (struct sockaddr *)&at, sizeof(at)) && !listen(listener, 1));
	CHECK(!getsockname(listener, (struct sockaddr *)&at, &len));
	CHECK(!setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)strlen(name)));
	CHECK(!getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, chosen, &chosen_len));
	CHECK(!strcmp(chosen, name));
	CHECK(!connect(fd, (struct sockaddr *)&at, sizeof(at)));
	CHECK(write(fd, "x", 1) == 1);
	close(fd);
	close(listener);
}

/* Sockets that were controlled by it go after a while, and only then does it. */
static int goes(const char *name)
{
	for (int i = 0; i < 600; i++) {
		if (!is_registered(name))
			return 1;
		usleep(100000);
	}
	return 0;
}

static unsigned int *counters_of(struct bpf_object *obj)
{
	size_t size;
	unsigned int *counters =
		bpf_map__initial_value(bpf_object__find_map_by_name(obj, ".bss"), &size);

	CHECK(counters && size == 8);
	return counters;
}

void kind_struct_ops(void)
{
	struct bpf_object *obj = bpf_object__open_file(file, NULL);
	struct bpf_map *map;

	CHECK(obj);
	struct control *control = control_of(obj, "plain", &map);
	struct bpf_program *never = bpf_object__find_program_by_name(obj, "never");
	CHECK(control->init == bpf_object__find_program_by_name(obj, "on_init"));
	CHECK(control->no_such_function == never);
	/* What this kernel does not have must be zero. */
	CHECK(bpf_object__load(obj) == -ENOTSUP);
	CHECK(strstr(perf_bpf_last_error(), "no member 'no_such_function'"));
	bpf_object__close(obj);

	obj = bpf_object__open_file(file, NULL);
	CHECK(obj);
	control = control_of(obj, "plain", &map);
	never = bpf_object__find_program_by_name(obj, "never");
	control->no_such_function = NULL;
	control->no_such_number = 0;
	CHECK(!bpf_object__load(obj));
	/* Not loaded: what only a struct that is not created has, and what none has any more. */
	CHECK(bpf_program__fd(never) < 0 && !bpf_program__autoload(never));
	CHECK(bpf_program__fd(bpf_object__find_program_by_name(obj, "on_init_of_second")) < 0);
	CHECK(bpf_map__fd(bpf_object__find_map_by_name(obj, "first")) < 0);

	CHECK(!is_registered(control->name));
	struct bpf_link *link = bpf_map__attach_struct_ops(map);
	CHECK(link);
	CHECK(is_registered(control->name));
	use(control->name);
	CHECK(counters_of(obj)[0] + counters_of(obj)[1] == 1);
	CHECK(bpf_link__update_map(link, map) < 0);
	CHECK(!bpf_link__destroy(link));
	CHECK(goes(control->name));
	CHECK(!bpf_map__attach_struct_ops(bpf_object__find_map_by_name(obj, ".bss")));
	CHECK(errno == EINVAL);
	CHECK(!bpf_map__attach_struct_ops(bpf_object__find_map_by_name(obj, "first")));
	CHECK(errno == EINVAL && strstr(perf_bpf_last_hint(), "bpf_map__set_autocreate"));
	bpf_object__close(obj);
}

void kind_struct_ops_link(void)
{
	struct bpf_object *obj = bpf_object__open_file(file, NULL);
	struct bpf_map *plain, *first, *second;

	CHECK(obj);
	control_of(obj, "plain", &plain);
	struct control *control = control_of(obj, "first", &first);
	control_of(obj, "second", &second);
	CHECK(bpf_map__autocreate(plain) && !bpf_map__autocreate(first));
	CHECK(!bpf_map__set_autocreate(plain, false) && !bpf_map__set_autocreate(first, true) &&
	      !bpf_map__set_autocreate(second, true));
	CHECK(!bpf_object__load(obj));
	CHECK(bpf_map__fd(plain) < 0 && bpf_map__fd(first) >= 0);

	struct bpf_link *link = bpf_map__attach_struct_ops(first);
	CHECK(link);
	/* The same name again. */
	CHECK(!bpf_map__attach_struct_ops(second));
	CHECK(is_registered(control->name));
	use(control->name);
	const unsigned int *counters = counters_of(obj);
	const int one = counters[0] == 1 ? 0 : 1;
	CHECK(counters[one] == 1 && !counters[!one]);
	CHECK(!bpf_link__update_map(link, second));
	use(control->name);
	CHECK(counters[one] == 1 && counters[!one] == 1);
	CHECK(!bpf_link__destroy(link));
	CHECK(goes(control->name));
	bpf_object__close(obj);
}
