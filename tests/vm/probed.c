// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the probes of probes.bpf.c see in a guest: files written and read, and
 * TCP connections over the loopback. It counts for itself, and prints a line
 * "NAME VALUE" of each sum. Linked statically: it reads no libraries.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define PORT 4242

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static void files(void)
{
	static char buf[4096];
	long writes = 0, written = 0, reads = 0, asked = 0, got = 0, sizes = 0;
	struct stat st;
	int fd = open("/tmp/perfbpf_probed.dat", O_CREAT | O_TRUNC | O_RDWR, 0600);

	if (fd < 0)
		die("open");
	if (fstat(fd, &st))
		die("fstat");
	for (int i = 0; i < 200; i++) {
		const size_t n = (size_t)(100 + i);

		sizes += written; /* before this one */
		if (write(fd, buf, n) != (ssize_t)n)
			die("write");
		writes++;
		written += (long)n;
	}
	lseek(fd, 0, SEEK_SET);
	for (;;) {
		const ssize_t n = read(fd, buf, 1000);

		if (n < 0)
			die("read");
		reads++;
		asked += 1000;
		got += n;
		if (!n)
			break;
	}
	unlink("/tmp/perfbpf_probed.dat");
	printf("writes %ld\nwritten %ld\nreads %ld\nasked %ld\ngot %ld\n", writes, written, reads,
	       asked, got);
	printf("inodes %ld\nsizes %ld\npositions %ld\nflags %ld\n", writes * (long)st.st_ino, sizes,
	       sizes, writes * fcntl(fd, F_GETFL));
	/* Of both functions. */
	printf("both %ld\nbytes %ld\n", writes + reads, written + asked);
	close(fd);
}

/* Pipes have no access control list, and their inodes say so by a pointer that is none. */
static void pipes(void)
{
	int fds[2];

	if (pipe(fds))
		die("pipe");
	for (int i = 0; i < 5; i++)
		if (write(fds[1], "twelve bytes", 12) != 12)
			die("write");
	printf("piped 60\n");
	close(fds[0]);
	close(fds[1]);
}

static void connections(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(PORT)};
	const int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
	long connects = 0, ports = 0;

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (listener < 0 || bind(listener, (struct sockaddr *)&to, sizeof(to)) ||
	    listen(listener, 8))
		die("listen");
	for (int i = 0; i < 10; i++) {
		struct sockaddr_in own;
		socklen_t len = sizeof(own);
		const int fd = socket(AF_INET, SOCK_STREAM, 0);

		if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)))
			die("connect");
		const int peer = accept(listener, NULL, NULL);
		if (peer < 0 || getsockname(fd, (struct sockaddr *)&own, &len))
			die("accept");
		connects++;
		ports += ntohs(own.sin_port);
		close(fd);
		close(peer);
	}
	close(listener);
	printf("connects %ld\nports %ld\n", connects, ports);
}

int main(void)
{
	files();
	pipes();
	connections();
	return 0;
}
