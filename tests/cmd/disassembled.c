// SPDX-License-Identifier: BSD-2-Clause
/*
 * Loads programs made of every kind of instruction with the verifier's log at
 * its most talkative, and compares the text of each instruction there with
 * disasm/'s. Prints one line per program:
 *
 *	NAME: N instructions, M differ
 *	NAME: refused: ERRNO      (a kernel that does not know some of them)
 */
#include <bpf/bpf.h>
#include <stdio.h>
#include <stdlib.h>

#include "disasm/disasm.h"
#include "lib/sys/uapi.h"

#define INSN(c, d, s, o, i)                                                                        \
	{                                                                                          \
		.code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i)                \
	}
#define EXIT INSN(0x95, 0, 0, 0, 0)

static const struct bpf_insn arithmetic[] = {
	INSN(0xbf, 9, 1, 0, 0),
	INSN(0xb7, 0, 0, 0, -5),
	INSN(0xb4, 2, 0, 0, 77),
	INSN(0x07, 0, 0, 0, -8),
	INSN(0x0f, 0, 2, 0, 0),
	INSN(0x04, 0, 0, 0, 8),
	INSN(0x0c, 0, 2, 0, 0),
	INSN(0x17, 0, 0, 0, 3),
	INSN(0x1c, 0, 2, 0, 0),
	INSN(0x27, 0, 0, 0, 3),
	INSN(0x2c, 0, 2, 0, 0),
	INSN(0x37, 0, 0, 0, 3),
	INSN(0x3f, 0, 2, 0, 0),
	INSN(0x47, 0, 0, 0, 4096),
	INSN(0x4c, 0, 2, 0, 0),
	INSN(0x57, 0, 0, 0, -2),
	INSN(0x5f, 0, 2, 0, 0),
	INSN(0x67, 0, 0, 0, 32),
	INSN(0x6c, 0, 2, 0, 0),
	INSN(0x77, 0, 0, 0, 32),
	INSN(0x74, 0, 0, 0, 3),
	INSN(0x97, 0, 0, 0, 7),
	INSN(0x9c, 0, 2, 0, 0),
	INSN(0xa7, 0, 0, 0, -1),
	INSN(0xaf, 0, 2, 0, 0),
	INSN(0xc7, 0, 0, 0, 3),
	INSN(0xc4, 0, 0, 0, 3),
	INSN(0x87, 0, 0, 0, 0),
	INSN(0x84, 0, 0, 0, 0),
	INSN(0xdc, 0, 0, 0, 16),
	INSN(0xdc, 0, 0, 0, 64),
	INSN(0xd4, 0, 0, 0, 32),
	INSN(0xbc, 3, 2, 0, 0),
	INSN(0x18, 4, 0, 0, 0x1234),
	INSN(0, 0, 0, 0, 0x7fedcba),
	INSN(0xb7, 0, 0, 0, 0),
	EXIT,
};

static const struct bpf_insn memory[] = {
	INSN(0x61, 2, 1, 0, 0),	      INSN(0x61, 3, 1, 4, 0),
	INSN(0x7a, 10, 0, -8, -1),    INSN(0x62, 10, 0, -12, 7),
	INSN(0x6a, 10, 0, -14, 7),    INSN(0x72, 10, 0, -15, 7),
	INSN(0x7b, 10, 2, -24, 0),    INSN(0x63, 10, 2, -28, 0),
	INSN(0x6b, 10, 2, -30, 0),    INSN(0x73, 10, 2, -31, 0),
	INSN(0x79, 4, 10, -8, 0),     INSN(0x69, 4, 10, -14, 0),
	INSN(0x71, 4, 10, -15, 0),    INSN(0xdb, 10, 2, -8, 0),
	INSN(0xc3, 10, 2, -12, 0x40), INSN(0xdb, 10, 2, -8, 0x50),
	INSN(0xc3, 10, 2, -12, 0xa0), INSN(0xdb, 10, 2, -8, 0x01),
	INSN(0xc3, 10, 2, -12, 0x41), INSN(0xdb, 10, 2, -8, 0x51),
	INSN(0xc3, 10, 2, -12, 0xa1), INSN(0xdb, 10, 2, -8, 0xe1),
	INSN(0xb7, 0, 0, 0, 0),	      INSN(0xdb, 10, 2, -8, 0xf1),
	INSN(0xc3, 10, 2, -12, 0xf1), INSN(0xbf, 6, 1, 0, 0),
	INSN(0x30, 0, 0, 0, 12),      INSN(0xb7, 7, 0, 0, 2),
	INSN(0x48, 0, 7, 0, 14),      INSN(0x20, 0, 0, 0, -0x1000),
	INSN(0xb7, 0, 0, 0, 0),	      EXIT,
};

/* of constants, so that there is one way through it */
static const struct bpf_insn jumps[] = {
	INSN(0xb7, 6, 0, 0, 3),
	INSN(0xb7, 7, 0, 0, 5),
	INSN(0xb7, 0, 0, 0, 0),
	INSN(0x15, 6, 0, 1, 0),
	INSN(0x05, 0, 0, 0, 0),
	INSN(0x1d, 6, 7, 0, 0),
	INSN(0x25, 6, 0, 0, 9),
	INSN(0x2e, 6, 7, 0, 0),
	INSN(0x35, 6, 0, 0, -9),
	INSN(0x3e, 6, 7, 0, 0),
	INSN(0x45, 6, 0, 0, 4),
	INSN(0x4d, 6, 7, 0, 0),
	INSN(0x56, 6, 0, 0, -1),
	INSN(0x5d, 6, 7, 0, 0),
	INSN(0x65, 6, 0, 0, -1),
	INSN(0x6e, 6, 7, 0, 0),
	INSN(0x76, 6, 0, 0, 5),
	INSN(0x7d, 6, 7, 0, 0),
	INSN(0xa5, 6, 0, 0, 5),
	INSN(0xae, 6, 7, 0, 0),
	INSN(0xb6, 6, 0, 0, 5),
	INSN(0xbd, 6, 7, 0, 0),
	INSN(0xc5, 6, 0, 0, 0),
	INSN(0xce, 6, 7, 0, 0),
	INSN(0xd6, 6, 0, 0, -5),
	INSN(0xdd, 6, 7, 0, 0),
	INSN(0x85, 0, 0, 0, 5),
	INSN(0x85, 0, 0, 0, 7),
	INSN(0x85, 0, 1, 0, 2),
	INSN(0xb7, 0, 0, 0, 0),
	EXIT,
	INSN(0xb7, 0, 0, 0, 1),
	EXIT,
};

/* 6.6 */
static const struct bpf_insn version_4[] = {
	INSN(0x61, 6, 1, 0, 0),	  INSN(0xbf, 2, 6, 8, 0),
	INSN(0xbf, 2, 6, 16, 0),  INSN(0xbf, 2, 6, 32, 0),
	INSN(0xbc, 2, 6, 8, 0),	  INSN(0xbc, 2, 6, 16, 0),
	INSN(0x37, 2, 0, 1, -3),  INSN(0x3f, 2, 6, 1, 0),
	INSN(0x34, 2, 0, 1, -3),  INSN(0x97, 2, 0, 1, -3),
	INSN(0x9c, 2, 6, 1, 0),	  INSN(0xd7, 2, 0, 0, 16),
	INSN(0xd7, 2, 0, 0, 64),  INSN(0x7b, 10, 2, -8, 0),
	INSN(0x91, 3, 10, -8, 0), INSN(0x89, 3, 10, -8, 0),
	INSN(0x81, 3, 10, -8, 0), INSN(0x06, 0, 0, 0, 0),
	INSN(0xb7, 0, 0, 0, 0),	  EXIT,
};

/* 6.9, 6.15 */
static const struct bpf_insn may_goto[] = {
	INSN(0xe5, 0, 0, 0, 0),
	INSN(0xb7, 0, 0, 0, 0),
	EXIT,
};
static const struct bpf_insn acquire_release[] = {
	INSN(0x7a, 10, 0, -8, 1),
	INSN(0xdb, 2, 10, -8, 0x100),
	INSN(0xd3, 3, 10, -8, 0x100),
	INSN(0xdb, 10, 2, -8, 0x110),
	INSN(0xcb, 10, 3, -8, 0x110),
	INSN(0xb7, 0, 0, 0, 0),
	EXIT,
};

/* One line of the log, "5: (bf) r6 = r1    ; R1=ctx()"; false: it is no instruction. */
static bool parse_line(char *line, size_t *slot, char **text)
{
	char *end;

	*slot = strtoul(line, &end, 10);
	if (end == line || strncmp(end, ": (", 3))
		return false;
	*text = end + 2;
	char *state = strstr(*text, " ;");
	if (state)
		*state = 0;
	for (end = *text + strlen(*text); end > *text && end[-1] == ' ';)
		*--end = 0;
	return true;
}

static void compare(const char *name, const struct bpf_insn *insns, size_t n, char *log)
{
	size_t seen = 0, differ = 0;
	char *save = NULL;

	for (char *l = strtok_r(log, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		struct cursor c = cursor_make(insns, n * sizeof(*insns), name);
		_cleanup_strbuf_ struct strbuf ours = STRBUF_INIT;
		char *theirs;
		size_t slot;

		if (!parse_line(l, &slot, &theirs))
			continue;
		seen++;
		if (cursor_seek(&c, slot * sizeof(*insns)) && disasm_bpf(&c, NULL, &ours) &&
		    !strcmp(strbuf_str(&ours), theirs))
			continue;
		differ++;
		fprintf(stderr, "%s %zu: '%s', the kernel: '%s'\n", name, slot, strbuf_str(&ours),
			theirs);
	}
	printf("%s: %zu instructions, %zu differ\n", name, seen, differ);
}

int main(void)
{
	static const struct {
		const char *name;
		const struct bpf_insn *insns;
		size_t n;
	} programs[] = {
#define PROGRAM(name) {#name, name, ARRAY_SIZE(name)}
		PROGRAM(arithmetic), PROGRAM(memory),	PROGRAM(jumps),
		PROGRAM(version_4),  PROGRAM(may_goto), PROGRAM(acquire_release),
	};
	enum {
		LOG_SIZE = 1 << 20,
	};
	_cleanup_free_ char *log = malloc(LOG_SIZE);

	for (size_t i = 0; i < ARRAY_SIZE(programs) && log; i++) {
		DECLARE_LIBBPF_OPTS(bpf_prog_load_opts, opts, .log_buf = log, .log_size = LOG_SIZE,
				    .log_level = 2);

		*log = 0;
		_cleanup_close_ int fd =
			bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, "pbt_disasm", "GPL",
				      programs[i].insns, programs[i].n, &opts);
		if (fd < 0) {
			printf("%s: refused: %s\n", programs[i].name, strerror(errno));
			continue;
		}
		compare(programs[i].name, programs[i].insns, programs[i].n, log);
	}
	return 0;
}
