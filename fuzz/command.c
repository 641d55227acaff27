// SPDX-License-Identifier: BSD-2-Clause
#include "fuzz/command.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/demangling.h"
#include "cmd/kernel_code.h"
#include "cmd/privileges.h"
#include "cmd/process_files.h"

/* ---- what the program has in place of this ---- */

struct error *privileges_of_reader(const char *const *outputs, size_t n, unsigned needs,
				   const struct log *log)
{
	return NULL;
}

struct error *privileges_of_kernel_reader(const struct log *log)
{
	return NULL;
}

struct error *privileges_of_recorder(enum record_phase phase, const char *buildid_dir,
				     bool gets_files, const struct log *log)
{
	return NULL;
}

struct error *privileges_of_file_series(const char *output, const struct log *log)
{
	return NULL;
}

struct error *privileges_of_writer(const char *const *outputs, size_t n, const struct log *log)
{
	return NULL;
}

struct error *privileges_of_run(bool opens_events, bool finds_maps, const struct log *log)
{
	return NULL;
}

struct error *privileges_of_trace(bool reads_processes, bool opens_events, bool has_workload,
				  const struct log *log)
{
	return NULL;
}

struct error *privileges_of_top(bool opens_events, bool filters_tasks, bool asks,
				const struct log *log)
{
	return NULL;
}

struct error *privileges_of_watch(const struct log *log)
{
	return NULL;
}

struct error *privileges_of_probe(bool tries_programs, const struct log *log)
{
	return NULL;
}

struct error *privileges_of_finder(const struct log *log)
{
	return NULL;
}

struct error *privileges_of_inspector(unsigned access, const char *output, const struct log *log)
{
	return NULL;
}

struct error *privileges_of_server(const struct log *log)
{
	return NULL;
}

struct error *demangling_begin(struct keeper *keeper, const struct log *log, struct demangler **out)
{
	return NULL;
}

struct error *kernel_code_new(struct keeper *keeper, const struct log *log,
			      struct kernel_code **out)
{
	return NULL;
}

void kernel_code_free(struct kernel_code *code)
{
}

struct error *process_files_new(struct keeper *keeper, const struct log *log,
				struct process_files **out)
{
	return NULL;
}

void process_files_free(struct process_files *files)
{
}

struct error *process_files_perf_map(void *ctx, int32_t pid, int *fd)
{
	return error_new(ENOENT, "no perf map");
}

struct error *kernel_code_read(void *ctx, uint64_t address, uint64_t size, struct strbuf *out)
{
	return error_new(ENODATA, "no code");
}

/* ---- running ---- */

static char folder[] = "/tmp/perf-bpf-fuzz.XXXXXX";
static char file[sizeof(folder) + 16], symbols[sizeof(folder) + 16];

static void remove_files(void)
{
	unlink(file);
	unlink(symbols);
	rmdir(folder);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);

/* Nothing of this machine is read or fetched, so that inputs do the same everywhere. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static const char text[] = "ffffffff81000000 T _text\nffffffff81000100 T _etext\n";

	if (!mkdtemp(folder))
		abort();
	setenv("HOME", folder, 1);
	setenv("PERF_CONFIG", "/dev/null", 1);
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("DEBUGINFOD_URLS");
	atexit(remove_files);
	snprintf(file, sizeof(file), "%s/input", folder);
	snprintf(symbols, sizeof(symbols), "%s/kallsyms", folder);
	const int fd = open(symbols, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, text, sizeof(text) - 1) < 0)
		abort();
	close(fd);
	const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (dup2(null, STDOUT_FILENO) < 0)
		abort();
	close(null);
	return 0;
}

/* The command's messages; what the sanitizers and libFuzzer say comes later. */
static int hide_messages(void)
{
	const int old = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);

	dup2(STDOUT_FILENO, STDERR_FILENO);
	return old;
}

static void write_input(const uint8_t *data, size_t size)
{
	const int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
}

int run_command_line(const struct command_line *lines, size_t n, const uint8_t *data, size_t size)
{
	char *argv[COMMAND_WORDS + 2] = {(char *)"perf-bpf"};
	int argc = 1;

	if (!size)
		return 0;
	const struct command_line *line = &lines[data[0] % n];
	write_input(data + 1, size - 1);
	while (argc <= COMMAND_WORDS && line->words[argc - 1]) {
		const char *word = line->words[argc - 1];

		argv[argc++] = !strcmp(word, "@")    ? file
			       : !strcmp(word, "@/") ? folder
			       : !strcmp(word, "@k") ? symbols
						     : (char *)word;
	}
	const int old = getenv("FUZZ_VERBOSE") ? -1 : hide_messages();
	line->run(argc, argv);
	fflush(stdout);
	if (old >= 0) {
		dup2(old, STDERR_FILENO);
		close(old);
	}
	return 0;
}
