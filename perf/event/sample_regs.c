// SPDX-License-Identifier: BSD-2-Clause
#include "perf/event/sample_regs.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "lib/base/names.h"
#include "lib/base/util.h"

#ifdef __aarch64__
#define ARCH	   "aarch64"
#define ALL_REGS   ((1ull << 33) - 1)
#define LEAST_REGS (1ull << 31 | 1ull << 32) /* sp, pc */
#else
#define ARCH	   "x86_64"
#define ALL_REGS   0xff0fffull		   /* without DS, ES, FS and GS, which the kernel refuses */
#define LEAST_REGS (1ull << 7 | 1ull << 8) /* SP, IP */
#endif

const char *sample_reg_name(const char *arch, unsigned reg, char name[16])
{
	static const char *const x86[] = {"AX", "BX",	 "CX",	"DX",  "SI",  "DI",  "BP",  "SP",
					  "IP", "FLAGS", "CS",	"SS",  "DS",  "ES",  "FS",  "GS",
					  "R8", "R9",	 "R10", "R11", "R12", "R13", "R14", "R15"};

	if (!arch || !strcmp(arch, "x86_64") || !strcmp(arch, "i386")) {
		if (reg < ARRAY_SIZE(x86))
			snprintf(name, 16, "%s", x86[reg]);
		else if (reg >= 32)
			snprintf(name, 16, "XMM%u", (reg - 32) / 2);
		else
			snprintf(name, 16, "unknown");
	} else if (!strcmp(arch, "aarch64") && reg >= 30) {
		static const char arm[][3] = {"lr", "sp", "pc", "vg"};

		snprintf(name, 16, "%s", reg < 33 ? arm[reg - 30] : "vg");
	} else {
		snprintf(name, 16, "%s%u", strcmp(arch, "aarch64") ? "r" : "x", reg);
	}
	return name;
}

uint64_t sample_regs_all(void)
{
	return ALL_REGS;
}

uint64_t sample_regs_least(void)
{
	return LEAST_REGS;
}

static struct error *add_reg(const char *text, size_t n, uint64_t *mask)
{
	struct nearest near = {0};
	char name[16], given[16];

	snprintf(given, sizeof(given), "%.*s", (int)min_of(n, sizeof(given) - 1), text);
	near = nearest_make(given);
	for (unsigned reg = 0; reg < 64; reg++) {
		if (!(ALL_REGS >> reg & 1))
			continue;
		sample_reg_name(ARCH, reg, name);
		if (strlen(name) == n && !strncasecmp(name, text, n)) {
			*mask |= 1ull << reg;
			return NULL;
		}
		nearest_offer(&near, name);
	}
	return error_suggest(error_usage("'%.*s' is not a register", (int)n, text), &near);
}

struct error *sample_regs_parse(const char *text, uint64_t *mask)
{
	uint64_t sum = 0;

	for (const char *p = text;; p++) {
		const size_t n = strcspn(p, ",");

		TRY(add_reg(p, n, &sum));
		p += n;
		if (!*p)
			break;
	}
	*mask = sum;
	return NULL;
}

void sample_regs_list(struct strbuf *out)
{
	char name[16];

	for (unsigned reg = 0; reg < 64; reg++)
		if (ALL_REGS >> reg & 1)
			strbuf_addf(out, "%s%s", reg ? " " : "", sample_reg_name(ARCH, reg, name));
}
