// SPDX-License-Identifier: BSD-2-Clause
/* Paths of cgroups as runtimes and systemd make them, and what they show. */
#include <stdio.h>
#include <string.h>

#include "lib/base/util.h"
#include "lib/sys/cgroup_names.h"

#define ID1  "4bf12d0b5d3a7a4e8c4fb4ae4e6cf1a3b8d2a0f77c1b4f1d9e0a6b5c4d3e2f10"
#define ID2  "00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee"
#define UID1 "1f6b2c3d-0a1b-4c2d-8e3f-112233445566"
#define UID_ "1f6b2c3d_0a1b_4c2d_8e3f_112233445566"
#define HASH "3b2e1d0c9f8a7b6c5d4e3f2a1b0c9d8e"

static const struct {
	const char *path, *unit, *container, *pod;
	const char *ends; /* "c": the last component names the container, "p": the pod */
} paths[] = {
	/* not containers */
	{"/", "", "", "", ""},
	{"", "", "", "", ""},
	{"/init.scope", "init.scope", "", "", ""},
	{"/system.slice/nginx.service", "nginx.service", "", "", ""},
	{"/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1.service", "", "", ""},
	{"/user.slice/user-1000.slice/session-3.scope", "session-3.scope", "", "", ""},
	{"/user.slice/user-1000.slice/user@1000.service/app.slice/foo.service/sub", "foo.service",
	 "", "", ""},
	{"/system.slice/_cpu.service", "cpu.service", "", "", ""},
	{"/machine.slice/machine-qemu\\x2d1\\x2dvm.scope", "machine-qemu\\x2d1\\x2dvm.scope", "",
	 "", ""},
	{"/process_api/7438fecc823070ced6ec374310ceeaa2", "", "", "", ""},
	/* Docker */
	{"/docker/" ID1, "", ID1, "", "c"},
	{"/system.slice/docker-" ID1 ".scope", "docker-" ID1 ".scope", ID1, "", "c"},
	{"/docker/" ID1 "/docker/" ID2 "/init", "", ID2, "", ""},
	{"/system.slice/docker-" ID1 ".scope/system.slice/cron.service", "cron.service", ID1, "",
	 ""},
	/* Kubernetes, cgroupfs driver */
	{"/kubepods/burstable/pod" UID1 "/" ID1, "", ID1, UID1, "c"},
	{"/kubepods/pod" UID1, "", "", UID1, "p"},
	{"/kubepods/besteffort/pod" HASH "/" ID1, "", ID1, HASH, "c"},
	{"/kubepods/besteffort/pod" UID1 "/crio-" ID1, "", ID1, UID1, "c"},
	{"/kubepods/besteffort/pod" UID1 "/crio-conmon-" ID1, "", "", UID1, ""},
	/* systemd driver, nested slices */
	{"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_ ".slice/"
	 "cri-containerd-" ID1 ".scope",
	 "cri-containerd-" ID1 ".scope", ID1, UID1, "c"},
	{"/kubepods.slice/kubepods-pod" UID_ ".slice/crio-" ID1 ".scope/container",
	 "crio-" ID1 ".scope", ID1, UID1, ""},
	{"/kubepods.slice/kubepods-pod" UID_ ".slice", "", "", UID1, "p"},
	{"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" HASH ".slice/"
	 "docker-" ID1 ".scope",
	 "docker-" ID1 ".scope", ID1, HASH, "c"},
	/* kind: a node that is a container */
	{"/docker/" ID2 "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/"
	 "kubelet-kubepods-burstable-pod" UID_ ".slice/cri-containerd-" ID1 ".scope",
	 "cri-containerd-" ID1 ".scope", ID1, UID1, "c"},
	/* a name for systemd, given to the cgroupfs driver */
	{"/system.slice/containerd.service/kubepods-burstable-pod" UID_
	 ".slice:cri-containerd:" ID1,
	 "containerd.service", ID1, UID1, "cp"},
	/* podman, with and without root, and its pods */
	{"/machine.slice/libpod-" ID1 ".scope/container", "libpod-" ID1 ".scope", ID1, "", ""},
	{"/machine.slice/libpod-conmon-" ID1 ".scope", "libpod-conmon-" ID1 ".scope", "", "", ""},
	{"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID1 ".scope",
	 "libpod-" ID1 ".scope", ID1, "", "c"},
	{"/machine.slice/machine-libpod_pod_" ID2 ".slice/libpod-" ID1 ".scope",
	 "libpod-" ID1 ".scope", ID1, ID2, "c"},
	{"/libpod_parent/libpod-" ID1, "", ID1, "", "c"},
	/* machines of systemd, LXC */
	{"/machine.slice/machine-web\\x2d1.scope/payload", "machine-web\\x2d1.scope", "web-1", "",
	 ""},
	{"/machine.slice/systemd-nspawn@db.service", "systemd-nspawn@db.service", "db", "", "c"},
	{"/lxc.payload.mail", "", "mail", "", "c"},
	{"/lxc/mail/init.scope", "init.scope", "mail", "", ""},
	{"/lxc.monitor.mail", "", "", "", ""},
	/* nearly */
	{"/docker/" ID1 "0", "", "", "", ""},
	{"/docker/x" ID1, "", "", "", ""},
	{"/docker/" ID1 ".scopes", "", "", "", ""},
	{"/kubepods/pod1f6b2c3d-0a1b-4c2d-8e3f-11223344556", "", "", "", ""},
	{"/kubepods/pod1f6b2c3d-0a1b-4c2d-8e3f-11223344556g", "", "", "", ""},
	{"/kubepods/podcast", "", "", "", ""},
	{"/a-pod" UID_, "", "", "", ""},
	{"/.service", "", "", "", ""},
	{"/machine-.scope", "machine-.scope", "", "", ""},
	{"/machine-\\x00a\\x2.scope", "machine-\\x00a\\x2.scope", "\\x00a\\x2", "", "c"},
};

TEST(test_paths)
{
	struct cgroup_names names;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		cgroup_names_of(paths[i].path, &names);
		print_message("# %s\n", paths[i].path);
		assert_string_equal(names.unit, paths[i].unit);
		assert_string_equal(names.container, paths[i].container);
		assert_string_equal(names.pod, paths[i].pod);
		assert_int_equal(names.ends_container, !!strchr(paths[i].ends, 'c'));
		assert_int_equal(names.ends_pod, !!strchr(paths[i].ends, 'p'));
	}
}

/* What does not fit is not shown, rather than cut off: another unit may begin like it. */
TEST(test_long_names)
{
	struct cgroup_names names;
	char path[600];

	(void)state;
	for (size_t n = 250; n < 262; n++) {
		snprintf(path, sizeof(path), "/a.service/%0*d.service", (int)n, 0);
		cgroup_names_of(path, &names);
		assert_int_equal(strlen(names.unit), n + 8 < sizeof(names.unit) ? n + 8 : 9);
	}
}

TEST(test_what_is_inside)
{
	const char *inner = "/docker/" ID1 "/docker/" ID2 "/init";
	const char *pod = "/kubepods.slice/kubepods-pod" UID_ ".slice/crio-" ID1 ".scope/container";

	(void)state;
	assert_true(cgroup_is_in_container(inner, ID1));
	assert_true(cgroup_is_in_container(inner, ID2));
	assert_true(cgroup_is_in_container(inner, "4bf12d0b5d3a"));
	assert_true(cgroup_is_in_container(inner, "00"));
	assert_false(cgroup_is_in_container(inner, "4bf12d0b5d3b"));
	assert_false(cgroup_is_in_container("/docker", ""));
	assert_true(cgroup_is_in_pod(pod, UID1));
	assert_false(cgroup_is_in_pod(pod, UID_));
	assert_false(cgroup_is_in_pod(pod, "1f6b2c3d"));
	assert_true(cgroup_is_in_container(pod, ID1));
	assert_false(cgroup_is_in_container(pod, UID1));
	assert_true(cgroup_is_below("/a/b", "/a"));
	assert_true(cgroup_is_below("/a/b", "/a/"));
	assert_true(cgroup_is_below("/a", "/a"));
	assert_true(cgroup_is_below("/a", "/"));
	assert_false(cgroup_is_below("/ab", "/a"));
	assert_false(cgroup_is_below("/", "/a"));
}
