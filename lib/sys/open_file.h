/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opening files safely as root. Two cases:
 *
 * A path that comes from data (a binary's name in a recording, /tmp/perf-PID.map, the
 * .dwo file that a binary names) can lead anywhere: to a FIFO that nobody writes, to
 * a device whose open has an effect (/dev/watchdog, /dev/ptmx), to a sparse file of
 * terabytes. open_regular() opens nothing but regular files. What a process sees at a path is
 * /proc/PID/root/PATH; links below such a root are followed inside of it.
 *
 * A path that the user gives for output can lead through a symbolic link that another
 * user put there, in /tmp for example. output_find() follows only links that belong
 * to root or to the caller; what it returns is used with the *at() system calls, so
 * that nobody can change the path in between.
 */
#ifndef PB_SYS_OPEN_FILE_H
#define PB_SYS_OPEN_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "lib/base/error.h"

struct open_regular_opts {
	bool no_link; /* fails if the path's last component is a symbolic link */
	/*
	 * Fails unless it belongs to root, the caller or owner, and path_check of open_in_root.h
	 * allows the path.
	 */
	bool owned;
	uid_t owner;	    /* with owned: whose data has the path; 0: of nobody else */
	uint64_t max_bytes; /* 0: any size. The file may grow, so count what is read, too. */
};

/*
 * What another user wrote may claim to be of any size, which costs nothing in a hole: no more than
 * this of one file is kept in memory.
 */
#define OTHERS_MAX_BYTES ((uint64_t)144 << 20)
/* How many bytes of an open file may be kept: any, if it is root's or the caller's. */
uint64_t file_max_bytes(int fd);

/*
 * Opens a regular file for reading; *fd is the caller's. opts may be NULL. Nothing
 * else is ever opened: devices and FIFOs are recognized without opening them. Errors:
 * ENOENT, EACCES, … as open(2); EINVAL, EISDIR: not a regular file; ELOOP: a symbolic link;
 * EPERM: it, or a link, belongs to another user, or owner could not read it; EFBIG.
 */
struct error *open_regular(const char *path, const struct open_regular_opts *opts, int *fd);
/* The same as a stream; *out is the caller's. */
struct error *fopen_regular(const char *path, const struct open_regular_opts *opts, FILE **out);

/*
 * Opens what the user names as input, and may be a pipe: a regular file or a directory of anybody.
 * force: anything. Otherwise EPERM: a FIFO of another user, whose open would wait; EINVAL: a device
 * or a socket, which is not opened.
 */
struct error *open_input(const char *path, bool force, int *fd);

/* Where an output file is, or will be. */
struct output_path {
	int dir_fd;
	char name[256]; /* in dir_fd; never a symbolic link, unless is_magic */
	bool exists;
	bool is_special; /* a pipe, a terminal or another device, a socket: written in place */
	bool is_dir;	 /* of output_find_dir() */
	bool is_magic;	 /* of procfs: what a process has open (/dev/stdout leads there) */
	bool is_ours;	 /* the caller owns it; a file: it has no other name (link(2)) */
	mode_t mode;	 /* its permissions */
};

/*
 * Finds the directory and the name that a path leads to; the last component need not
 * exist. Errors, all "cannot write 'PATH': …": as openat(2); EPERM: a symbolic link on the
 * way, or the FIFO, belongs to another user; EISDIR: it is a directory; ELOOP: more than 40 links.
 */
struct error *output_find(const char *path, struct output_path *out);
/* The same where a directory is to be: what exists may be one. */
struct error *output_find_dir(const char *path, struct output_path *out);
void output_path_deinit(struct output_path *out);
#define _cleanup_output_path_ _cleanup_(output_path_deinit)

/*
 * Opens the file that was found, which is not special, to write it from its start; flags: O_WRONLY
 * or O_RDWR. What is the caller's is emptied; what is another user's, or has other names, is
 * removed, so that nobody else owns what is written. Errors, "cannot write 'PATH': …": as
 * openat(2); EEXIST: somebody else created it meanwhile.
 */
struct error *output_create(const struct output_path *out, const char *path, int flags, mode_t mode,
			    int *fd);

/* The name of a file that is not complete yet. */
enum { TEMPORARY_NAME_SIZE = 64 };
/*
 * Creates a file in the directory, under a name that nothing has; flags: O_WRONLY or O_RDWR. -1:
 * errno, as openat(2).
 */
int open_temporary(int dir_fd, char name[TEMPORARY_NAME_SIZE], int flags, mode_t mode);

/*
 * Puts a new file with these bytes in the place of name, in one step: a reader sees the old
 * file or the new one, and a link or file that somebody else put there is replaced, not
 * written to. The file gets mode, less the umask. Errors: as openat(2), write(2).
 */
struct error *file_replace(int dir_fd, const char *name, const void *data, size_t n, mode_t mode);

/* Writes the content of a new file. */
typedef struct error *file_content_fn(int fd, void *ctx);
/* The same; write() is called once. If it fails, the old file stays and its error is returned. */
struct error *file_replace_by(int dir_fd, const char *name, mode_t mode, file_content_fn *write,
			      void *ctx);
/* Writes all n bytes. Errors: as write(2), without a name. */
struct error *file_write(int fd, const void *data, size_t n);
/* The same at an offset; the file's own does not change. Errors: as pwrite(2), without a name. */
struct error *file_write_at(int fd, const void *data, size_t n, uint64_t offset);

#endif
