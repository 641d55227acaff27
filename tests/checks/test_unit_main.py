#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Tests tests/unit/unit_main.c: the names and the plan of a program of two groups, its filters, and
what it prints about a test that ends its process."""
import os
import re
import signal
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "tests"))
import tap  # noqa: E402

HEAD = """
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
"""
FIRST = HEAD + """
static int is_set;
static int setup(void **state) { is_set = 1; return 0; }
static int teardown(void **state) { is_set = 0; return 0; }
TEST_WITH(passes, setup, teardown) { assert_true(is_set); puts("all is well"); }
TEST(fails) { assert_false(is_set); assert_int_equal(1, 2); }
TEST(skips) { print_message("no such kernel\\n"); skip(); }
TEST(has_no_end_of_line) { printf("%01100d", 0); assert_int_equal(3, 4); }
TEST(passes_later) { printf("half a line"); }
TEST(is_killed) { printf("half a line"); fflush(stdout); raise(SIGKILL); }
TEST(leaves_a_process)
{
	pid_t pid = fork();

	if (!pid) {
		pause();
		_exit(0);
	}
	printf("process %d\\n", (int)pid);
}
"""
# with a main function of its own
SECOND = HEAD + """
static void ends_later(void) { _exit(99); }
static void passes(void **state) { atexit(ends_later); }
int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(passes)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
"""


def build(folder):
    objects = []
    for name, text in (("first", FIRST), ("second", SECOND)):
        with open(f"{name}.c", "w", encoding="utf-8") as f:
            f.write(text)
        subprocess.run(["cc", "-include", f"{TOP}/tests/unit/group.h", f'-DUNIT_GROUP="{name}"',
                        f"-DUNIT_MAIN=main_of_{name}", "-c", f"{name}.c"], check=True)
        objects.append(f"{name}.o")
    subprocess.run(["cc", f"-I{TOP}", "-D_GNU_SOURCE", "-Wl,--wrap=_cmocka_run_group_tests", *objects,
                    f"{TOP}/tests/unit/unit_main.c", "-lcmocka", "-o", "program"], check=True)


def run(*args, only=None):
    env = {name: value for name, value in os.environ.items() if name != "CMOCKA_TEST_FILTER"}
    if only:
        env["CMOCKA_TEST_FILTER"] = only
    return subprocess.run(["./program", *args], capture_output=True, text=True, check=False, env=env,
                          stdin=subprocess.DEVNULL, timeout=50)


def outcomes(out):
    report = tap.Report(out.stdout)
    assert report.complete(), out
    return [(test.name, test.outcome) for test in report.tests]


def test_each_test_of_each_group_has_a_line():
    out = run()
    os.kill(int(re.search(r"^process (\d+)$", out.stdout, re.M).group(1)), signal.SIGKILL)
    assert outcomes(out) == [("first.passes", tap.PASSED), ("first.fails", tap.FAILED),
                             ("first.skips", tap.SKIPPED), ("first.has_no_end_of_line", tap.FAILED),
                             ("first.passes_later", tap.PASSED), ("first.is_killed", tap.FAILED),
                             ("first.leaves_a_process", tap.PASSED), ("second.passes", tap.PASSED),
                             ("second", tap.FAILED)], out
    assert out.returncode == 1, out
    assert out.stdout.count("1..") == 1, out
    tests = tap.Report(out.stdout).tests
    assert "all is well" in tests[0].output, out
    assert any("0x1 != 0x2" in line for line in tests[1].output), out
    assert tests[2].reason == "no such kernel", out
    assert tests[3].output[0].endswith("0" * 1100) and "0x3 != 0x4" in "".join(tests[3].output), out
    assert tests[5].output == ["half a line", "# first.is_killed: ended with signal 9"], out
    assert tests[8].output == ["# second: ended with 99"], out


def test_a_test_runs_alone():
    for out in (run("passes"), run(only="*passes")):
        assert [name for name, _ in outcomes(out)] == ["first.passes", "second.passes", "second"], out
    for out in (run("first.passes"), run(only="first.passes"), run("first.passes", only="second.*")):
        assert outcomes(out) == [("first.passes", tap.PASSED)] and out.returncode == 0, out
    out = run("is_kill*")
    assert outcomes(out) == [("first.is_killed", tap.FAILED)] and out.returncode == 1, out


def test_a_name_that_no_test_has():
    out = run("pass")
    assert out.returncode == 1 and "no test matches 'pass'" in out.stderr, out


def test_the_list():
    out = run("--list")
    assert out.returncode == 0 and out.stdout.split() == [
        "first.passes", "first.fails", "first.skips", "first.has_no_end_of_line", "first.passes_later",
        "first.is_killed", "first.leaves_a_process",
        "second.passes"], out
    assert run("--lists").returncode == 2 and run("a", "b").returncode == 2


def main():
    tests = [(name, test) for name, test in globals().items()
             if name.startswith("test_") and re.search(os.environ.get("ONLY") or "", name)]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        build(folder)
        print(f"1..{len(tests)}")
        for i, (name, test) in enumerate(tests, 1):
            try:
                test()
                print(f"ok {i} - {name[len('test_'):]}", flush=True)
            except Exception as e:  # pylint: disable=broad-except
                failed += 1
                print(*("# " + line for line in str(e).splitlines()), sep="\n")
                print(f"not ok {i} - {name[len('test_'):]}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
