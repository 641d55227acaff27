// SPDX-License-Identifier: BSD-2-Clause
/* run/group_labels: columns for the containers and pods of processes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/cleanup.h"
#include "run/group_labels.h"

#define ID  "4bf12d0b5d3a7a4e8c4fb4ae4e6cf1a3b8d2a0f77c1b4f1d9e0a6b5c4d3e2f10"
#define POD "1f6b2c3d-0a1b-4c2d-8e3f-112233445566"

TEST(test_parse)
{
	static const char *const wrong[] = {"", "container,", "pods", "pod,pod", "cgroup,x"};
	struct group_labels labels;

	assert_null(group_labels_parse("pod,cgroup,container,unit", &labels));
	assert_int_equal(labels.n, 4);
	assert_int_equal(labels.v[0], GROUP_POD);
	assert_int_equal(labels.v[3], GROUP_UNIT);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		_cleanup_error_ struct error *err = group_labels_parse(wrong[i], &labels);

		assert_non_null(err);
	}
}

/* A process in procfs, in this cgroup of the two hierarchies. */
static void put_process(const char *proc, int pid, const char *text)
{
	_cleanup_free_ char *dir = text_format("%s/%d", proc, pid);
	_cleanup_free_ char *path = text_format("%s/cgroup", dir);

	mkdir(dir, 0700);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* When it was started; a name may hold what looks like the end of one. */
static void put_start(const char *proc, int pid, unsigned start)
{
	_cleanup_free_ char *path = text_format("%s/%d/stat", proc, pid);

	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "%d (a) S 99) S 1 %d %d 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 %u 12 13\n", pid, pid,
		pid, start);
	fclose(f);
}

static void remove_process(const char *proc, int pid)
{
	_cleanup_free_ char *dir = text_format("%s/%d", proc, pid);
	_cleanup_free_ char *path = text_format("%s/cgroup", dir);

	unlink(path);
	_cleanup_free_ char *stat = text_format("%s/stat", dir);
	unlink(stat);
	rmdir(dir);
}

static const struct result_cell *cell(const struct result *r, size_t row, size_t column)
{
	return &r->table.cells[row * r->table.n_columns + column];
}

static void add_table(struct results *results, const struct result_column *columns,
		      struct result_cell *cells, size_t n_rows)
{
	struct result *r = results_add(results, RESULT_TABLE, "t");

	assert_non_null(r);
	r->table = (struct result_table){
		.columns = columns, .n_columns = 3, .cells = cells, .n_rows = n_rows};
}

TEST(test_table)
{
	char proc[] = "/tmp/pb-labels-XXXXXX";
	static const struct result_column columns[] = {
		{.name = "pid", .is_key = true, .subject = COLUMN_OF_PROCESS},
		{.name = "container", .is_key = true},
		{.name = "calls"},
	};
	struct result_cell cells[] = {
		cell_of_number(7),    cell_of_text("x"), cell_of_number(1),
		cell_of_number(8),    cell_of_text("y"), cell_of_number(2),
		cell_of_number(9999), cell_of_text("z"), cell_of_number(3),
	};
	struct group_labels labels;

	assert_non_null(mkdtemp(proc));
	put_process(proc, 7, "5:memory:/other\n0::/kubepods/burstable/pod" POD "/" ID "\n");
	put_process(proc, 8, "0::/user.slice\n");
	const struct sys_roots roots = {.proc = proc};
	_cleanup_(run_names_freep) struct run_names *names = run_names_new(&roots, false, NULL);
	assert_null(group_labels_parse("container,pod,cgroup", &labels));
	/* the second time, the process has ended: what was known stays */
	for (int turn = 0; turn < 2; turn++) {
		_cleanup_results_ struct results results = {0};

		add_table(&results, columns, cells, 3);
		add_table(&results, columns + 1, cells, 0);
		results.v[1].table.n_columns = 2;
		assert_null(group_labels_add(&labels, names, &results));
		const struct result *r = &results.v[0];
		assert_int_equal(r->table.n_columns, 6);
		assert_string_equal(r->table.columns[0].name, "pid");
		assert_string_equal(r->table.columns[1].name, "key.container");
		assert_true(r->table.columns[1].is_key);
		assert_string_equal(r->table.columns[2].name, "pod");
		assert_string_equal(r->table.columns[4].name, "container");
		assert_string_equal(r->table.columns[5].name, "calls");
		assert_int_equal(cell(r, 0, 0)->u, 7);
		assert_string_equal(cell(r, 0, 1)->text, ID);
		assert_string_equal(cell(r, 0, 2)->text, POD);
		assert_string_equal(cell(r, 0, 4)->text, "x");
		assert_int_equal(cell(r, 0, 5)->u, 1);
		assert_int_equal(cell(r, 1, 1)->kind, CELL_EMPTY);
		assert_string_equal(cell(r, 1, 3)->text, "/user.slice");
		assert_int_equal(cell(r, 2, 3)->kind, CELL_EMPTY);
		assert_int_equal(cell(r, 2, 5)->u, 3);
		assert_int_equal(results.v[1].table.n_columns, 2); /* nobody's */
		remove_process(proc, 7);
		run_names_refresh(names);
	}
	remove_process(proc, 8);
	rmdir(proc);
}

/* A process that moves has its new cgroup; a pid that another process has now has none. */
TEST(test_pids_that_are_used_again)
{
	char proc[] = "/tmp/pb-labels-XXXXXX";

	assert_non_null(mkdtemp(proc));
	const struct sys_roots roots = {.proc = proc};
	_cleanup_(run_names_freep) struct run_names *names = run_names_new(&roots, false, NULL);
	put_process(proc, 7, "0::/first\n");
	put_start(proc, 7, 100);
	assert_string_equal(run_names_cgroup_of(names, 7), "/first");
	run_names_refresh(names);
	put_process(proc, 7, "0::/moved\n");
	assert_string_equal(run_names_cgroup_of(names, 7), "/moved");
	remove_process(proc, 7);
	run_names_refresh(names);
	assert_string_equal(run_names_cgroup_of(names, 7), "/moved");
	put_process(proc, 7, "0::/moved\n"); /* of both, but who knows */
	put_start(proc, 7, 101);
	for (int turn = 0; turn < 3; turn++) {
		run_names_refresh(names);
		assert_string_equal(run_names_cgroup_of(names, 7), "");
		put_process(proc, 7, "0::/other\n");
	}
	remove_process(proc, 7);
	rmdir(proc);
}
