// SPDX-License-Identifier: BSD-2-Clause
#include "lib/sys/descriptors.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/cleanup.h"
#include "lib/sys/open_file.h"

void descriptors_close_others(const int *keep, size_t n)
{
	for (int from = STDERR_FILENO + 1;;) {
		int next = INT32_MAX;

		for (size_t i = 0; i < n; i++)
			if (keep[i] >= from)
				next = min_of(next, keep[i]);
		if (next > from)
			close_range((unsigned)from, next == INT32_MAX ? ~0u : (unsigned)next - 1,
				    0);
		if (next == INT32_MAX)
			return;
		from = next + 1;
	}
}

union one_descriptor {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

ssize_t descriptor_send(int socket, const void *data, size_t size, int fd, int flags)
{
	union one_descriptor control = {0};
	struct iovec iov = {(void *)data, size};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	ssize_t n;

	if (fd >= 0) {
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
		control.align.cmsg_level = SOL_SOCKET;
		control.align.cmsg_type = SCM_RIGHTS;
		control.align.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.align), &fd, sizeof(int));
	}
	do {
		n = sendmsg(socket, &msg, flags | MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	return n;
}

ssize_t descriptor_receive(int socket, void *data, size_t size, int *fd)
{
	union one_descriptor control;
	struct iovec iov = {data, size};
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	ssize_t n;

	do {
		n = recvmsg(socket, &msg, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	const struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&msg) : NULL;
	*fd = -1;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(fd, CMSG_DATA(c), sizeof(int));
	return n;
}

struct error *memory_file_new(const char *name, const void *data, size_t size, int *fd)
{
	_cleanup_close_ int file = memfd_create(name, MFD_CLOEXEC);

	if (file < 0)
		return error_errno(errno, "cannot create a file in memory");
	TRY(error_prefix(file_write(file, data, size), "a file in memory"));
	*fd = steal_fd(&file);
	return NULL;
}

struct error *memory_file_read(int fd, struct strbuf *out)
{
	struct stat st;

	if (fstat(fd, &st) || st.st_size < 0)
		return error_errno(errno, "cannot examine a file in memory");
	const size_t size = (size_t)st.st_size;
	if (!strbuf_reserve(out, size))
		return error_nomem();
	for (size_t done = 0; done < size;) {
		const ssize_t n = pread(fd, out->str + out->len, size - done, (off_t)done);

		if (n <= 0)
			return error_errno(n ? errno : EIO, "cannot read a file in memory");
		out->len += (size_t)n;
		done += (size_t)n;
	}
	out->str[out->len] = 0;
	return NULL;
}
