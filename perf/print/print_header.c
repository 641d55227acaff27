// SPDX-License-Identifier: BSD-2-Clause
/* The header of a recording, in the lines of perf script --header. */
#include "perf/print/print_header.h"

#include <bpf/btf.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/plain_text.h"
#include "perf/print/printer.h"

static void add_bits(struct strbuf *out, const char *name, uint64_t value, const char *const *names,
		     size_t n)
{
	const char *bar = "";

	if (!value)
		return;
	strbuf_addf(out, ", %s = ", name);
	for (size_t i = 0; i < n; i++)
		if (value >> i & 1) {
			strbuf_addf(out, "%s%s", bar, names[i]);
			bar = "|";
		}
}

static void add_sample_type(struct strbuf *out, uint64_t value)
{
	static const char *const names[] = {
		"IP",
		"TID",
		"TIME",
		"ADDR",
		"READ",
		"CALLCHAIN",
		"ID",
		"CPU",
		"PERIOD",
		"STREAM_ID",
		"RAW",
		"BRANCH_STACK",
		"REGS_USER",
		"STACK_USER",
		"WEIGHT",
		"DATA_SRC",
		"IDENTIFIER",
		"TRANSACTION",
		"REGS_INTR",
		"PHYS_ADDR",
		"AUX",
		"CGROUP",
		"DATA_PAGE_SIZE",
		"CODE_PAGE_SIZE",
		"WEIGHT_STRUCT",
	};

	add_bits(out, "sample_type", value, names, ARRAY_SIZE(names));
}

static void add_read_format(struct strbuf *out, uint64_t value)
{
	static const char *const names[] = {"TOTAL_TIME_ENABLED", "TOTAL_TIME_RUNNING", "ID",
					    "GROUP", "LOST"};

	add_bits(out, "read_format", value, names, ARRAY_SIZE(names));
}

static void add_num(struct strbuf *out, const char *name, uint64_t value)
{
	if (value)
		strbuf_addf(out, ", %s = %" PRIu64, name, value);
}

static void add_hex(struct strbuf *out, const char *name, uint64_t value)
{
	if (value)
		strbuf_addf(out, ", %s = %#" PRIx64, name, value);
}

static void add_branch_type(struct strbuf *out, uint64_t value)
{
	static const char *const names[] = {
		"USER",	      "KERNEL",	    "HV",	"ANY",	     "ANY_CALL",
		"ANY_RETURN", "IND_CALL",   "ABORT_TX", "IN_TX",     "NO_TX",
		"COND",	      "CALL_STACK", "IND_JUMP", "CALL",	     "NO_FLAGS",
		"NO_CYCLES",  "TYPE_SAVE",  "HW_INDEX", "PRIV_SAVE", "COUNTERS",
	};

	add_bits(out, "branch_sample_type", value, names, ARRAY_SIZE(names));
}

static void add_attr(struct strbuf *out, const struct perf_event_attr *a)
{
	add_num(out, "type", a->type);
	add_num(out, "size", a->size);
	add_hex(out, "config", a->config);
	add_num(out, "{ sample_period, sample_freq }", a->sample_period);
	add_sample_type(out, a->sample_type);
	add_read_format(out, a->read_format);
#define FLAG(name) add_num(out, #name, a->name)
	FLAG(disabled);
	FLAG(inherit);
	FLAG(pinned);
	FLAG(exclusive);
	FLAG(exclude_user);
	FLAG(exclude_kernel);
	FLAG(exclude_hv);
	FLAG(exclude_idle);
	FLAG(mmap);
	FLAG(comm);
	FLAG(freq);
	FLAG(inherit_stat);
	FLAG(enable_on_exec);
	FLAG(task);
	FLAG(watermark);
	FLAG(precise_ip);
	FLAG(mmap_data);
	FLAG(sample_id_all);
	FLAG(exclude_host);
	FLAG(exclude_guest);
	FLAG(exclude_callchain_kernel);
	FLAG(exclude_callchain_user);
	FLAG(mmap2);
	FLAG(comm_exec);
	FLAG(use_clockid);
	FLAG(context_switch);
	FLAG(write_backward);
	FLAG(namespaces);
	FLAG(ksymbol);
	FLAG(bpf_event);
	FLAG(aux_output);
	FLAG(cgroup);
	FLAG(text_poke);
	FLAG(build_id);
	FLAG(inherit_thread);
	FLAG(remove_on_exec);
	FLAG(sigtrap);
#undef FLAG
	add_num(out, "{ wakeup_events, wakeup_watermark }", a->wakeup_events);
	add_num(out, "bp_type", a->bp_type);
	add_hex(out, "{ bp_addr, config1 }", a->bp_addr);
	add_hex(out, "{ bp_len, config2 }", a->bp_len);
	add_branch_type(out, a->branch_sample_type);
	add_hex(out, "sample_regs_user", a->sample_regs_user);
	add_num(out, "sample_stack_user", a->sample_stack_user);
	if (a->clockid)
		strbuf_addf(out, ", clockid = %d", a->clockid);
	add_hex(out, "sample_regs_intr", a->sample_regs_intr);
	add_num(out, "aux_watermark", a->aux_watermark);
	add_num(out, "sample_max_stack", a->sample_max_stack);
	add_num(out, "aux_sample_size", a->aux_sample_size);
}

static void add_events(const struct data_header *h, struct strbuf *out)
{
	for (size_t i = 0; i < h->n_events; i++) {
		const struct data_event *ev = &h->events[i];

		strbuf_addf(out, "# event : name = %s, ", ev->name ? ev->name : "");
		if (ev->n_ids) {
			strbuf_adds(out, ", id = {");
			for (size_t k = 0; k < ev->n_ids; k++)
				strbuf_addf(out, "%s %" PRIu64, k ? "," : "", ev->ids[k]);
			strbuf_adds(out, " }");
		}
		add_attr(out, &ev->attr);
		strbuf_addch(out, '\n');
	}
}

static void add_cmdline(const struct data_header *h, struct strbuf *out)
{
	const size_t from = out->len;

	strbuf_adds(out, "# cmdline : ");
	for (size_t i = 0; i < h->n_cmdline; i++) {
		for (const char *s = h->cmdline[i]; *s; s++) {
			if (*s == '\'')
				strbuf_addch(out, '\\');
			strbuf_addch(out, *s);
		}
		strbuf_addch(out, ' ');
	}
	strbuf_addch(out, '\n');
	plain_since(out, from, false); /* an argument may have newlines */
}

static void add_pmus(const struct data_header *h, struct strbuf *out)
{
	if (!h->n_pmus)
		strbuf_adds(out, "# pmu mappings: not available");
	for (size_t i = 0; i < h->n_pmus; i++)
		strbuf_addf(out, "%s%s = %u", i ? ", " : "# pmu mappings: ", h->pmus[i].name,
			    h->pmus[i].type);
	strbuf_addch(out, '\n');
}

static void add_groups(const struct data_header *h, struct strbuf *out)
{
	for (size_t i = 0; i < h->n_events; i++) {
		const struct data_group *group = data_group_of(h, i);
		const struct data_event *ev = &h->events[i];

		if (!group)
			continue;
		const size_t last = group->leader + group->n_members - 1;
		_cleanup_free_ char *made = ev->name ? NULL : data_event_name(&ev->attr);
		const char *name = ev->name ? ev->name : made;

		if (i == group->leader)
			strbuf_addf(out, "# group: %s{", group->name);
		strbuf_addf(out, "%s%s", name ? name : "", i == last ? "}\n" : ",");
	}
}

/* One line per PMU. */
static void add_pmu_caps(const struct data_header *h, unsigned int feature, struct strbuf *out)
{
	const char *pmu = NULL;

	for (size_t i = 0; i < h->n_pmu_caps; i++) {
		const struct data_pmu_cap *cap = &h->pmu_caps[i];

		if (cap->feature != feature)
			continue;
		if (pmu != cap->pmu)
			strbuf_addf(out, "%s# %s pmu capabilities: ", pmu ? "\n" : "", cap->pmu);
		else
			strbuf_adds(out, ", ");
		if (cap->name)
			strbuf_addf(out, "%s=%s", cap->name, cap->value);
		else
			strbuf_adds(out, "not available");
		pmu = cap->pmu;
	}
	if (pmu)
		strbuf_addch(out, '\n');
}

static void add_sample_time(const struct data_header *h, struct strbuf *out)
{
	strbuf_adds(out, "# time of first sample : ");
	print_time(out, h->first_sample_time, false);
	strbuf_adds(out, "\n# time of last sample : ");
	print_time(out, h->last_sample_time, false);
	strbuf_addf(out, "\n# sample duration : %10.3f ms\n",
		    (double)(h->last_sample_time - h->first_sample_time) / 1e6);
}

static void add_str(struct strbuf *out, const char *name, const char *value)
{
	if (value)
		strbuf_addf(out, "# %s : %s\n", name, value);
}

static uint64_t number(const struct data_header *h, const struct data_bytes *from, size_t off,
		       size_t n)
{
	uint64_t v64;
	uint32_t v32;

	if (off > from->size || n > from->size - off)
		return 0;
	if (n == 8) {
		memcpy(&v64, from->p + off, 8);
		return h->swap ? bswap_64(v64) : v64;
	}
	memcpy(&v32, from->p + off, 4);
	return h->swap ? bswap_32(v32) : v32;
}

/* bpf_prog_TAG_NAME of one function; the name by BTF, which knows it whole. */
static void add_bpf_name(const struct data_header *h, const struct data_bpf_prog *prog,
			 const struct btf *btf, size_t i, size_t n, struct strbuf *out)
{
	const struct data_bytes *tags = &prog->arrays[SYS_PROG_TAGS];
	const char *name = NULL;

	strbuf_adds(out, "bpf_prog_");
	if (8 * i < tags->size)
		strbuf_add_bytes(out, tags->p + 8 * i, min_of(tags->size - 8 * i, (size_t)8));
	if (btf) {
		size_t off = i * prog->rec_size[SYS_PROG_FUNC_INFO] +
			     offsetof(struct bpf_func_info, type_id);
		const struct btf_type *t = btf__type_by_id(
			btf, (uint32_t)number(h, &prog->arrays[SYS_PROG_FUNC_INFO], off, 4));

		name = t ? btf__name_by_offset(btf, t->name_off) : NULL;
	} else if (n == 1) {
		name = prog->name[0] ? prog->name : NULL;
	} else {
		name = "F";
	}
	if (name)
		strbuf_addf(out, "_%s", name);
}

static void add_bpf_prog(const struct data_header *h, const struct data_bpf_prog *prog,
			 struct strbuf *out)
{
	const struct data_bytes *addrs = &prog->arrays[SYS_PROG_JITED_KSYMS];
	const struct data_bytes *lens = &prog->arrays[SYS_PROG_JITED_FUNC_LENS];
	size_t n = addrs->size / 8;
	struct btf *btf = NULL;

	if (prog->arrays[SYS_PROG_TAGS].size / 8 != n || lens->size / 4 != n)
		return;
	for (size_t i = 0; i < h->n_btfs && prog->btf_id && !h->swap; i++)
		if (h->btfs[i].id == prog->btf_id)
			btf = btf__new(h->btfs[i].data.p, (uint32_t)h->btfs[i].data.size);
	if (n != 1)
		strbuf_addf(out, "# bpf_prog_info %u:\n", prog->id);
	for (size_t i = 0; i < n; i++) {
		if (n == 1)
			strbuf_addf(out, "# bpf_prog_info %u: ", prog->id);
		else
			strbuf_addf(out, "# \tsub_prog %zu: ", i);
		add_bpf_name(h, prog, btf, i, n, out);
		strbuf_addf(out, " addr 0x%" PRIx64 " size %u\n", number(h, addrs, 8 * i, 8),
			    (unsigned)number(h, lens, 4 * i, 4));
	}
	btf__free(btf);
}

/* The same moment by both clocks. */
static void add_clock_data(const struct data_header *h, struct strbuf *out)
{
	static const struct {
		int id;
		const char *name;
	} clocks[] = {
		{CLOCK_MONOTONIC, "monotonic"},
		{CLOCK_MONOTONIC_RAW, "monotonic_raw"},
		{CLOCK_REALTIME, "realtime"},
		{CLOCK_BOOTTIME, "boottime"},
		{CLOCK_TAI, "tai"},
	};
	const time_t seconds = (time_t)(h->clock_wall_ns / 1000000000);
	const unsigned us = (unsigned)(h->clock_wall_ns % 1000000000 / 1000);
	const char *name = "(not found)";
	char date[32] = "<error>";
	struct tm tm;

	for (size_t i = 0; i < ARRAY_SIZE(clocks); i++)
		if ((uint32_t)clocks[i].id == h->clockid)
			name = clocks[i].name;
	if (localtime_r(&seconds, &tm))
		strftime(date, sizeof(date), "%F %T", &tm);
	strbuf_addf(out, "# clockid: %s (%u)\n# reference time: %s.%06u = ", name, h->clockid, date,
		    us);
	strbuf_addf(out, "%lld.%06u (TOD) = %" PRIu64 ".%09" PRIu64 " (%s)\n", (long long)seconds,
		    us, h->clock_ns / 1000000000, h->clock_ns % 1000000000, name);
}

static void add_feature(const struct data_header *h, unsigned int feature, bool topology,
			struct strbuf *out)
{
	switch (feature) {
	case DATA_HOSTNAME:
		add_str(out, "hostname", h->hostname);
		break;
	case DATA_OSRELEASE:
		add_str(out, "os release", h->osrelease);
		break;
	case DATA_VERSION:
		add_str(out, "perf version", h->version);
		break;
	case DATA_ARCH:
		add_str(out, "arch", h->arch);
		break;
	case DATA_NRCPUS:
		strbuf_addf(out, "# nrcpus online : %u\n# nrcpus avail : %u\n", h->cpus_online,
			    h->cpus_available);
		break;
	case DATA_CPUDESC:
		add_str(out, "cpudesc", h->cpudesc);
		break;
	case DATA_CPUID:
		add_str(out, "cpuid", h->cpuid);
		break;
	case DATA_TOTAL_MEM:
		strbuf_addf(out, "# total memory : %" PRIu64 " kB\n", h->total_mem);
		break;
	case DATA_CMDLINE:
		add_cmdline(h, out);
		break;
	case DATA_EVENT_DESC:
		add_events(h, out);
		break;
	case DATA_CPU_TOPOLOGY:
	case DATA_NUMA_TOPOLOGY:
	case DATA_CACHE:
	case DATA_MEM_TOPOLOGY:
	case DATA_HYBRID_TOPOLOGY:
		if (topology && print_topology(h, feature, out))
			break;
		strbuf_addf(out, "# %s info available, use -I to display\n",
			    data_feature_name(feature));
		break;
	case DATA_BRANCH_STACK:
		strbuf_adds(out, "# contains samples with branch stack\n");
		break;
	case DATA_PMU_MAPPINGS:
		add_pmus(h, out);
		break;
	case DATA_GROUP_DESC:
		add_groups(h, out);
		break;
	case DATA_CPU_PMU_CAPS:
	case DATA_PMU_CAPS:
		add_pmu_caps(h, feature, out);
		break;
	case DATA_SAMPLE_TIME:
		add_sample_time(h, out);
		break;
	case DATA_DIR_FORMAT:
		strbuf_addf(out, "# directory data version : %" PRIu64 "\n", h->dir_version);
		break;
	case DATA_CLOCKID:
		strbuf_addf(out, "# clockid frequency: %" PRIu64 " MHz\n",
			    h->clockid_resolution * 1000);
		break;
	case DATA_CLOCK_DATA:
		add_clock_data(h, out);
		break;
	case DATA_E_MACHINE:
		strbuf_addf(out, "# e_machine : %u\n#   e_flags : %u\n", h->e_machine, h->e_flags);
		break;
	case DATA_CLN_SIZE:
		strbuf_addf(out, "# cacheline size: %u\n", h->cacheline_size);
		break;
	case DATA_BPF_PROG_INFO:
		for (size_t i = 0; i < h->n_bpf_progs; i++)
			add_bpf_prog(h, &h->bpf_progs[i], out);
		break;
	case DATA_BPF_BTF:
		for (size_t i = 0; i < h->n_btfs; i++)
			strbuf_addf(out, "# btf info of id %u\n", h->btfs[i].id);
		break;
	case DATA_COMPRESSED:
		strbuf_addf(out, "# compressed : %s, level = %u, ratio = %u\n",
			    h->compressed.type == 1 ? "Zstd" : "Unknown", h->compressed.level,
			    h->compressed.ratio);
		break;
	}
}

/* What records told of the recorder; in a pipe they come after the header. */
static void add_features(const struct data_header *h, bool topology, struct strbuf *out)
{
	for (unsigned i = 0; i < DATA_LAST_FEATURE; i++)
		if (data_has_feature(h, i))
			add_feature(h, i, topology, out);
}

void print_feature_record(const struct data_header *h, const struct record *rec, bool topology,
			  struct strbuf *out)
{
	struct cursor c = rec->body;
	const size_t from = out->len;
	uint64_t feature;

	/* Behind the last feature there is an empty record, which ends them. */
	if (!cursor_seek(&c, sizeof(struct perf_event_header)) || !cursor_u64(&c, &feature) ||
	    feature >= DATA_LAST_FEATURE || !data_has_feature(h, (unsigned)feature))
		return;
	add_feature(h, (unsigned)feature, topology, out);
	plain_since(out, from, true);
}

void print_header(const struct data_header *h, const char *path, bool topology, struct strbuf *out)
{
	struct stat st;
	char when[32];
	const size_t from = out->len;

	strbuf_adds(out, "# ========\n");
	/* A pipe on standard input has a time as well, which perf prints. */
	if ((!stat(path, &st) || (h->pipe && !fstat(STDIN_FILENO, &st))) &&
	    ctime_r(&st.st_mtime, when))
		strbuf_addf(out, "# captured on    : %s", when);
	strbuf_addf(out,
		    "# header version : 1\n# data offset    : %" PRIu64
		    "\n# data size      : %" PRIu64 "\n# feat offset    : %" PRIu64 "\n",
		    h->data_offset, h->data_size, h->data_offset + h->data_size);
	if (!h->pipe) {
		add_features(h, topology, out);
		strbuf_adds(out, "# missing features: ");
		/* Newer ones are in the list only in newer versions of perf. */
		for (unsigned i = 1; i <= DATA_PMU_CAPS; i++)
			if (!data_has_feature(h, i))
				strbuf_addf(out, "%s ", data_feature_name(i));
		strbuf_addch(out, '\n');
	}
	strbuf_adds(out, "# ========\n#\n");
	if (h->pipe)
		add_features(h, topology, out);
	plain_since(out, from, true);
}
