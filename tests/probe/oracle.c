// SPDX-License-Identifier: BSD-2-Clause
/*
 * The oracle's judge: runs a program of generate.py with a breakpoint at each
 * place that the definitions lead to, evaluates every argument there, and
 * compares with what the program itself says.
 *
 *	dwarf-oracle [-v] PROGRAM POINTS
 *
 * It prints "N compared, N obstacles, N without id, N wrong", and a line for
 * each wrong value; it fails when there is one, when a place was not passed as
 * often as the program says (functions out of line), or when a definition could
 * not be resolved though the function is there.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/hash.h"
#include "lib/base/vec.h"
#include "probe/dwarf/dwarf.h"
#include "tests/probe/fetch_eval.h"

struct point {
	unsigned int number;
	char kind; /* entry, line, return */
	struct probe_def def;
	struct dwarf_places places;
	struct fetch_value *values; /* places.n times def.n_args */
	unsigned long hits, told;
	bool out_of_line; /* all its places are */
};

/* A value of a pass, told by the program or seen by us. */
struct seen {
	unsigned int point, id, arg;
	char *text;
	struct strbuf bytes;
	const struct fetch_value *value;
	const struct dwarf_place *place;
};

/* The instruction of a breakpoint, and how far the counter is behind it when the process stops. */
#if defined(__x86_64__)
static const uint8_t breakpoint[] = {0xcc};
#define BEHIND 1
#elif defined(__aarch64__)
static const uint8_t breakpoint[] = {0x00, 0x00, 0x20, 0xd4};
#define BEHIND 0
#endif

struct trap {
	uint64_t address;
	uint8_t original[sizeof(breakpoint)];
	bool is_return;
};

struct call {
	unsigned int point, id;
	bool has_id;
	uint64_t at, stack;
};

struct judge {
	struct dwarf_image *image;
	bool verbose;
	VEC(struct point) points;
	VEC(struct trap) traps;
	VEC(struct seen) seen;
	VEC(struct call) calls;
	struct strmap told; /* "POINT ID ARG" to VALUE */
	struct fetch_process process;
	unsigned long compared, obstacles, no_id, wrong, partial, unread;
};

static int fail(struct error *err)
{
	fprintf(stderr, "dwarf-oracle: %s%s%s%s%s\n", err->where ? err->where : "",
		err->where ? ": " : "", err->msg, err->hint ? "; " : "",
		err->hint ? err->hint : "");
	error_free(err);
	return 1;
}

static int resolve(struct judge *j, const char *text, struct point *point)
{
	struct error *err = probe_def_parse(text, &point->def);

	if (err)
		return fail(error_at(err, "%s", text));
	err = pb_dwarf_places_find(j->image, &point->def, &point->places);
	if (err && err->code == ENOENT) {
		/* Never called, or only copies of it that do not return. */
		if (j->verbose)
			printf("%s: %s\n", text, err->msg);
		error_free(err);
		return 0;
	}
	if (err)
		return fail(error_at(err, "%s", text));
	point->out_of_line = true;
	point->values = calloc(point->places.n * point->def.n_args + 1, sizeof(*point->values));
	for (size_t i = 0; i < point->places.n; i++) {
		struct dwarf_place *place = &point->places.v[i];

		point->out_of_line = point->out_of_line && !place->inlined;
		for (size_t a = 0; a < point->def.n_args; a++) {
			struct fetch_value *value = &point->values[i * point->def.n_args + a];

			err = pb_dwarf_place_arg(j->image, place, &point->def.args[a], value);
			/* A local whose DIE the compiler dropped with its value is not there. */
			if (err && err->code == ENOENT && point->kind == 'l') {
				error_free(err);
				value->obstacle = strdup("dropped");
				err = NULL;
			}
			if (err)
				return fail(error_at(err, "%s", text));
			if (value->obstacle) {
				j->obstacles++;
				if (j->verbose)
					printf("%s at %#" PRIx64 ": %s: %s\n", text, place->address,
					       point->def.args[a].text, value->obstacle);
			}
		}
	}
	return 0;
}

static int read_points(struct judge *j, const char *path)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;
	int r = 0;

	if (!f)
		return 1;
	while (!r && (n = getline(&line, &cap, f)) > 0) {
		struct point *point = vec_push(&j->points);
		char kind[16];
		int at;

		line[n - 1] = 0;
		if (sscanf(line, "%u %15s %n", &point->number, kind, &at) != 2)
			return 1;
		point->kind = kind[0];
		r = resolve(j, line + at, point);
	}
	free(line);
	fclose(f);
	return r;
}

/* ---- The process ---- */

static struct trap *trap_at(struct judge *j, uint64_t address)
{
	struct trap *trap;

	vec_for_each (trap, &j->traps) {
		if (trap->address == address)
			return trap;
	}
	return NULL;
}

static bool poke(struct judge *j, uint64_t address, const uint8_t *insn)
{
	return pwrite(j->process.mem, insn, sizeof(breakpoint), (off_t)address) ==
	       sizeof(breakpoint);
}

/* The registers by their DWARF numbers; the process goes on at the breakpoint. */
static uint64_t stop_at_breakpoint(struct fetch_process *p)
{
	struct user_regs_struct r = {0};
	struct iovec iov = {&r, sizeof(r)};

	ptrace(PTRACE_GETREGSET, p->pid, NT_PRSTATUS, &iov);
#if defined(__x86_64__)
	r.rip -= BEHIND;
	const uint64_t values[] = {r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8,
				   r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, r.rip};
	memcpy(p->regs, values, sizeof(values));
#elif defined(__aarch64__)
	memcpy(p->regs, r.regs, sizeof(r.regs));
	p->regs[31] = r.sp;
	p->regs[32] = r.pc;
#endif
	if (BEHIND)
		ptrace(PTRACE_SETREGSET, p->pid, NT_PRSTATUS, &iov);
	return p->regs[regs_ip(p->machine)];
}

/* At an entry: where the function returns to, and the stack pointer then. */
static void return_of(const struct fetch_process *p, uint64_t *at, uint64_t *stack)
{
	*stack = p->regs[regs_stack(p->machine)];
#if defined(__x86_64__)
	fetch_read(p, *stack, at, sizeof(*at));
	*stack += sizeof(*at);
#elif defined(__aarch64__)
	*at = p->regs[30];
#endif
}

static bool set_trap(struct judge *j, uint64_t address, bool is_return)
{
	struct trap *trap = trap_at(j, address);

	if (trap) {
		trap->is_return |= is_return;
		return true;
	}
	trap = vec_push(&j->traps);
	trap->address = address;
	trap->is_return = is_return;
	return fetch_read(&j->process, address, trap->original, sizeof(breakpoint)) &&
	       poke(j, address, breakpoint);
}

static uint64_t load_base(pid_t pid, const char *program)
{
	char path[64];
	uint64_t pair[2], entry = 0;
	Elf64_Ehdr ehdr = {0};

	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	while (read(fd, pair, sizeof(pair)) == sizeof(pair)) {
		if (pair[0] == AT_ENTRY)
			entry = pair[1];
	}
	close(fd);
	fd = open(program, O_RDONLY | O_CLOEXEC);
	if (read(fd, &ehdr, sizeof(ehdr)) != sizeof(ehdr))
		ehdr.e_entry = entry;
	close(fd);
	return entry - ehdr.e_entry;
}

static void see(struct judge *j, const struct point *point, const struct dwarf_place *place,
		unsigned int id, unsigned int arg, const struct fetch_value *value)
{
	struct strbuf bytes = STRBUF_INIT;
	const char *why = "";

	for (size_t i = 0; i < value->n_pieces; i++) {
		if (value->pieces[i].gives == FETCH_NOTHING) {
			j->partial++;
			return;
		}
	}
	if (!fetch_eval(&j->process, value, &bytes, &why)) {
		printf("wrong: %s at %#" PRIx64 ": %s: %s\n", point->def.text, place->address,
		       point->def.args[arg].text, why);
		j->wrong++;
		return;
	}
	struct seen *seen = vec_push(&j->seen);
	*seen = (struct seen){.point = point->number,
			      .id = id,
			      .arg = arg,
			      .bytes = bytes,
			      .value = value,
			      .place = place};
}

static bool id_of(struct judge *j, const struct fetch_value *value, unsigned int *id)
{
	struct strbuf bytes = STRBUF_INIT;
	const char *why;
	bool ok =
		!value->obstacle && fetch_eval(&j->process, value, &bytes, &why) && bytes.len == 4;

	if (ok)
		memcpy(id, bytes.str, 4);
	strbuf_deinit(&bytes);
	return ok;
}

static void hit(struct judge *j, uint64_t address)
{
	struct point *point;

	vec_for_each (point, &j->points) {
		for (size_t i = 0; i < point->places.n; i++) {
			const struct dwarf_place *place = &point->places.v[i];
			struct fetch_value *values = &point->values[i * point->def.n_args];
			unsigned int id = 0;

			if (place->address + j->process.base != address || point->kind == 'r')
				continue;
			point->hits++;
			bool has_id = id_of(j, &values[0], &id);
			if (point->kind == 'e' && !place->inlined &&
			    point + 1 < j->points.v + j->points.n && point[1].kind == 'r' &&
			    point[1].places.n && !place->after_prologue) {
				struct call *call = vec_push(&j->calls);

				*call = (struct call){point[1].number, id, has_id, 0, 0};
				return_of(&j->process, &call->at, &call->stack);
				set_trap(j, call->at, true);
			}
			if (!has_id) {
				j->no_id++;
				continue;
			}
			for (unsigned int a = 0; a < point->def.n_args; a++) {
				if (!values[a].obstacle)
					see(j, point, place, id, a, &values[a]);
			}
		}
	}
}

static void returned(struct judge *j, uint64_t address)
{
	while (j->calls.n) {
		struct call call = *vec_last(&j->calls);

		if (call.stack != j->process.regs[regs_stack(j->process.machine)] ||
		    call.at != address)
			return;
		j->calls.n--;
		struct point *point = &j->points.v[call.point];
		point->hits++;
		if (!call.has_id) {
			j->no_id++;
			continue;
		}
		if (!point->values[0].obstacle)
			see(j, point, &point->places.v[0], call.id, 0, &point->values[0]);
	}
}

static int run(struct judge *j, const char *program, int out)
{
	pid_t pid = fork();
	char path[64];
	int status;

	if (!pid) {
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		dup2(out, 1);
		execl(program, program, (char *)NULL);
		_exit(127);
	}
	j->process.pid = pid;
	j->process.machine = regs_of(EM_NONE);
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return 1;
	ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_EXITKILL);
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	j->process.mem = open(path, O_RDWR | O_CLOEXEC);
	j->process.base = load_base(pid, program);
	struct point *point;
	vec_for_each (point, &j->points) {
		for (size_t i = 0; i < point->places.n && point->kind != 'r'; i++) {
			if (!set_trap(j, point->places.v[i].address + j->process.base, false))
				return 1;
		}
	}
	for (;;) {
		ptrace(PTRACE_CONT, pid, 0, 0);
		if (waitpid(pid, &status, 0) != pid)
			return 1;
		if (WIFEXITED(status))
			return WEXITSTATUS(status);
		if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP) {
			printf("the program died of signal %d\n",
			       WIFSTOPPED(status) ? WSTOPSIG(status) : WTERMSIG(status));
			kill(pid, SIGKILL);
			return 1;
		}
		uint64_t address = stop_at_breakpoint(&j->process);
		struct trap *trap = trap_at(j, address);
		if (!trap)
			return 1;
		if (trap->is_return)
			returned(j, address);
		hit(j, address);
		trap = trap_at(j, address); /* the array may have moved */
		poke(j, address, trap->original);
		ptrace(PTRACE_SINGLESTEP, pid, 0, 0);
		if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
			return 1;
		poke(j, address, breakpoint);
	}
}

/* ---- The comparison ---- */

static int read_truth(struct judge *j, FILE *f)
{
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;

	while ((n = getline(&line, &cap, f)) > 0) {
		unsigned int point, arg;

		line[n - 1] = 0;
		char *value = strrchr(line, ' ');
		if (!value || sscanf(line, "%u %*u %u", &point, &arg) != 2 || point >= j->points.n)
			return 1;
		*value = 0;
		if (!arg)
			j->points.v[point].told++;
		if (!strmap_put(&j->told, strdup(line), strdup(value + 1)))
			return 1;
	}
	free(line);
	return 0;
}

static bool same(const struct seen *seen, const char *told)
{
	const struct fetch_value *value = seen->value;
	char own[20];

	if (told[1] == ':') {
		told += 2;
		if (strlen(told) != 2 * seen->bytes.len)
			return false;
		for (size_t i = 0; i < seen->bytes.len; i++) {
			snprintf(own, sizeof(own), "%02x", (uint8_t)seen->bytes.str[i]);
			if (memcmp(own, told + 2 * i, 2))
				return false;
		}
		return true;
	}
	uint64_t is = 0, should = strtoull(told, NULL, 16);
	if (seen->bytes.len > 8)
		return false;
	memcpy(&is, strbuf_str(&seen->bytes), seen->bytes.len);
	unsigned int bits = value->bit_size ? value->bit_size : value->size * 8;
	uint64_t mask = UINT64_MAX >> (64 - bits);
	return (is & mask) == (should & mask);
}

static void compare(struct judge *j)
{
	struct seen *seen;
	struct point *point;

	vec_for_each (seen, &j->seen) {
		char key[64];
		point = &j->points.v[seen->point];
		const struct probe_arg *arg = &point->def.args[seen->arg];

		snprintf(key, sizeof(key), "%u %u %u", seen->point, seen->id, seen->arg);
		const char *told = strmap_get(&j->told, key);
		j->compared++;
		if (told && same(seen, told))
			continue;
		j->wrong++;
		printf("wrong: point %u %s%s%s at %#" PRIx64 ", id %u: %s is ", seen->point,
		       point->def.text, seen->place->inlined ? " inlined into " : "",
		       seen->place->inlined ? seen->place->function : "", seen->place->address,
		       seen->id, arg->text);
		for (size_t i = seen->bytes.len; i--;)
			printf("%02x", (uint8_t)seen->bytes.str[i]);
		printf(", should be %s\n", told ? told : "no such id");
	}
	vec_for_each (point, &j->points) {
		if (point->kind != 'e' || !point->out_of_line || !point->places.n)
			continue;
		if (point->hits != point->told) {
			printf("wrong: %s: %lu hits, called %lu times\n", point->def.text,
			       point->hits, point->told);
			j->wrong++;
		}
	}
}

int main(int argc, char **argv)
{
	static struct judge j; /* not to be freed: the kernel takes it back */
	int at = 1;

	if (argc > 1 && !strcmp(argv[1], "-v")) {
		j.verbose = true;
		at++;
	}
	if (argc - at != 2) {
		fprintf(stderr, "usage: dwarf-oracle [-v] PROGRAM POINTS\n");
		return 2;
	}
	struct error *err = pb_dwarf_image_open(argv[at], NULL, &j.image);
	if (err)
		return fail(err);
	if (read_points(&j, argv[at + 1]))
		return 1;
	FILE *out = tmpfile();
	if (!out || run(&j, argv[at], fileno(out))) {
		fprintf(stderr, "dwarf-oracle: %s did not run to its end\n", argv[at]);
		return 1;
	}
	rewind(out);
	if (read_truth(&j, out)) {
		fprintf(stderr, "dwarf-oracle: %s did not print what generate.py describes\n",
			argv[at]);
		return 1;
	}
	compare(&j);
	printf("%lu compared, %lu obstacles, %lu without id, %lu partly, %lu wrong\n", j.compared,
	       j.obstacles, j.no_id, j.partial, j.wrong);
	return j.wrong != 0;
}
