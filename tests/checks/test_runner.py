#!/usr/bin/env python3
"""tests/run itself: what it counts, what it runs again, and that nothing it started outlives it."""
import argparse
import datetime
import importlib.machinery
import importlib.util
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "tests"))
import stress  # noqa: E402
import unsteady  # noqa: E402
from jobs import Job, Runner  # noqa: E402


def load_program(path):
    """A program without a suffix, as a module."""
    name = os.path.basename(path)
    loader = importlib.machinery.SourceFileLoader(name, path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


RUN = load_program(os.path.join(TOP, "tests/run"))


def jobs_of(*scripts, **options):
    return [Job("s", str(i), ["bash", "-c", script], None, **options)
            for i, script in enumerate(scripts)]


def run(jobs, slots=2):
    """In a process of its own, since it takes the signals; returns what became of the jobs."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        with os.fdopen(write, "w") as out:
            Runner(slots, lambda job: print(job.label, job.status, job.text.strip(), file=out,
                                            sep="|", flush=True)).run(jobs)
        os._exit(0)
    os.close(write)
    return child, os.fdopen(read)


def ended(jobs, slots=2):
    child, out = run(jobs, slots)
    lines = [line.rstrip("\n").split("|", 2) for line in out]
    os.waitpid(child, 0)
    return lines


def alive(argument):
    return subprocess.run(["pgrep", "-fx", f"sleep {argument}"], check=False,
                          stdout=subprocess.DEVNULL).returncode == 0


# Each test sleeps for a time of its own, by which its processes are known.
def name_of_sleep(n):
    return f"{1000 + n}.{os.getpid()}"


def test_what_is_left_is_ended():
    """Also what left the session, or has a process group of its own."""
    a, b, c = (name_of_sleep(n) for n in (1, 2, 3))
    lines = ended(jobs_of(f"sleep {a} & setsid sleep {b} & timeout 900 sleep {c} & "
                          f"until pgrep -fx 'sleep {b}' && pgrep -fx 'sleep {c}'; do sleep 0.01; done >/dev/null"))
    assert [line[1] for line in lines] == ["0"], lines
    assert not any(map(alive, (a, b, c)))


class Prepared(Job):
    """Its time begins when the file is there."""
    file = None

    def check_time(self):
        if not os.path.exists(self.file):
            self.began = time.monotonic()
        super().check_time()


def test_a_timeout_ends_all():
    a = name_of_sleep(4)
    with tempfile.TemporaryDirectory() as folder:
        job = Prepared("s", "0", ["bash", "-c", f"trap 'echo cleaned' EXIT; touch {folder}/ready; "
                                  f"setsid sleep {a}"], None, timeout=1)
        job.file = f"{folder}/ready"
        lines = ended([job])
    assert lines == [["s 0", "a timeout of 1 s", "cleaned"]], lines
    assert not alive(a)


def test_an_interrupt_ends_all():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        a = name_of_sleep(5)
        child, out = run(jobs_of(f"trap 'echo cleaned' EXIT; sleep {a}", "echo no",
                                 lane="one", alone=True))
        until = time.monotonic() + 60
        while not alive(a) and time.monotonic() < until:
            time.sleep(0.02)
        os.kill(child, number)
        lines = [line.rstrip("\n").split("|", 2) for line in out]
        os.waitpid(child, 0)
        why = signal.Signals(number).name
        assert lines == [["s 0", why, "cleaned"], ["s 1", f"not run: {why}", ""]], lines
        assert not alive(a)


def test_one_that_is_alone_in_its_lane_at_a_time():
    with tempfile.TemporaryDirectory() as folder:
        script = f"mkdir {folder}/here && sleep 0.1 && rmdir {folder}/here"
        lines = ended(jobs_of(script, script, script, lane="one", alone=True), slots=3)
        assert [line[1] for line in lines] == ["0", "0", "0"], lines
        # The two that are not alone meet, and do not meet the one that is.
        meet = f"touch {folder}/meets.$$; [ ! -e {folder}/alone ] && " \
               f"until [ $(ls {folder} | wc -l) = 2 ]; do sleep 0.01; done"
        alone = f"touch {folder}/alone; sleep 0.1; rm {folder}/alone; [ $(ls {folder} | wc -l) != 1 ]"
        jobs = jobs_of(alone, meet, alone, meet, lane="one", timeout=60)
        jobs[0].alone = jobs[2].alone = True
        lines = ended(jobs, slots=3)
        assert [line[1] for line in lines] == ["0"] * 4, lines


def test_what_is_changed_is_not_used_beside():
    with tempfile.TemporaryDirectory() as folder:
        script = f"mkdir {folder}/here && sleep 0.1 && rmdir {folder}/here"
        jobs = jobs_of(script, script, script)
        jobs[0].uses, jobs[1].uses, jobs[1].changes, jobs[2].changes = {"a"}, {"b"}, {"a"}, {"a", "b"}
        jobs[2].uses = {"a", "b"}
        lines = ended(jobs, slots=3)
    assert [line[1] for line in lines] == ["0", "0", "0"], lines


def test_programs_on_a_tracepoint_are_found():
    with tempfile.NamedTemporaryFile("w", suffix=".sh") as f:
        f.write('record -e syscalls:sys_enter_read\nSEC("tp/syscalls/sys_exit_umask") int f(void *ctx)\n')
        f.flush()
        found = RUN.tracepoints(f.name)
    assert found == {"uses": {"sys_enter_read", "sys_exit_umask"}, "changes": {"sys_exit_umask"}}, found
    for name in ("getpriority", "umask"):  # in the script, and in the source that it compiles
        assert any("sys_enter_" + name in job.changes and job.changes <= job.uses
                   for job in RUN.cmd(argparse.Namespace(only="*", build="build"))), name


def test_as_many_as_there_are_slots():
    with tempfile.TemporaryDirectory() as folder:
        # Each waits for the other, and for no third.
        script = f"touch {folder}/$$; until [ $(ls {folder} | wc -l) -ge 2 ]; do sleep 0.01; done"
        lines = ended(jobs_of(script, script, timeout=60), slots=2)
        assert [line[1] for line in lines] == ["0", "0"], lines
        late = f"[ $(ls {folder} | wc -l) = 2 ]"
        lines = ended(jobs_of(late, late, cost=5), slots=2)
        assert [line[1] for line in lines] == ["0", "0"], lines


def test_what_is_needed_comes_first():
    with tempfile.TemporaryDirectory() as folder:
        jobs = jobs_of(f"[ -e {folder}/made ]", f"sleep 0.1; touch {folder}/made", "false", "true")
        jobs[0].needs = {"s 1"}
        jobs[3].needs = {"s 2"}
        lines = dict(line[:2] for line in ended(jobs))
    assert lines == {"s 0": "0", "s 1": "0", "s 2": "1", "s 3": "not run: s 2 did not pass"}, lines


def test_a_fatal_failure_stops_all():
    a = name_of_sleep(6)
    jobs = jobs_of(f"sleep {a}", "exit 3", "true")
    jobs[1].fatal = True
    lines = [line[:2] for line in ended(jobs)]
    assert sorted(lines) == [["s 0", "s 1 failed"], ["s 1", "3"], ["s 2", "not run: s 1 failed"]], \
        lines
    assert not alive(a)


class Skip(Exception):
    """Why a test cannot run here."""


def printed(body, run):
    """What run(make) prints; make() makes the job of a script whose functions of tap.sh are in body."""
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "test_s.sh")
        with open(script, "w", encoding="utf-8") as f:
            f.write(f'. "{TOP}/tests/tap.sh"\nSTATE={folder}/state\n{body}\nrun_tests\n')
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.environ.pop("ONLY", None)  # it is about this program's tests
            os.dup2(write, 1)
            sys.stdout = os.fdopen(1, "w")
            run(lambda: RUN.test_program("cmd", "s", ["bash", script], env=RUN.environment("build")))
            sys.stdout.flush()
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as out:
            text = out.read()
        os.waitpid(child, 0)
    return text


def judged(body, strict=False):
    """What tests/run says of a script."""
    def run(make):
        results = RUN.Results(verbose=False)
        RUN.run_all([make()], results, strict)
        results.show()
    return printed(body, run)


# Fails the first TIMES times that it runs.
FAILS_AT_FIRST = """
test_luck() {{
	echo run >>"$STATE"
	[ "$(wc -l <"$STATE")" -gt {times} ] || fail "the dice said no"
}}
test_other() {{ :; }}
"""
FAILS_AT_THE_FOURTH = """
test_luck() {
	echo run >>"$STATE"
	case $(wc -l <"$STATE") in 1 | 4) fail "the dice said no" ;; esac
}
"""


def test_what_passes_three_times_is_unsteady():
    out = judged(FAILS_AT_FIRST.format(times=1))
    assert out.endswith("\n2 passed, 0 failed, 0 skipped\n"), out
    assert "\nunsteady: cmd s: luck (first failure: the dice said no)\n" in out, out
    # The other test is not run again.
    assert out.count("again: cmd s") == 3, out


def test_what_fails_once_more_has_failed():
    for body in (FAILS_AT_FIRST.format(times=2), FAILS_AT_THE_FOURTH):
        out = judged(body)
        assert " passed, 1 failed, 0 skipped\n" in out and "\nfailed: cmd s: luck\n" in out, out
        assert "unsteady" not in out, out


def test_strict_runs_nothing_again():
    out = judged(FAILS_AT_FIRST.format(times=1), strict=True)
    assert out.endswith("\n1 passed, 1 failed, 0 skipped\n") and "again: " not in out, out


def test_many_failures_are_not_luck():
    out = judged("\n".join(f"test_{i}() {{ [ -e $STATE.{i} ] || {{ touch $STATE.{i}; false; }}; }}"
                           for i in range(11)))
    assert out.endswith("\n0 passed, 11 failed, 0 skipped\n") and "again: " not in out, out


# Each of them would pass the second time.
def certain(what):
    return f'test_luck() {{ [ -e "$STATE" ] || {{ touch "$STATE"; {what}; }}; }}'


def test_crashes_and_findings_are_not_run_again():
    for what in ("bash -c 'kill -SEGV $$'", "bash -c 'kill -ABRT $$'", "expect_status 0 bash -c 'kill -BUS $$'",
                 "echo '==7==ERROR: AddressSanitizer: heap-use-after-free'; false",
                 "echo 'x.c:1:2: runtime error: shift exponent'; false", "expect_status 0 bash -c 'exit 99'"):
        out = judged(certain(what))
        assert out.endswith("\n0 passed, 1 failed, 0 skipped\n") and "again: " not in out, (what, out)


def test_a_crash_of_perf_is_run_again():
    out = judged("""
    PERF=./perf
    printf '#!/bin/bash\\nkill -ABRT $$\\n' >"$STATE.perf"
    chmod +x "$STATE.perf"
    test_luck() {
        ln -s "$STATE.perf" perf
        [ -e "$STATE" ] || { touch "$STATE"; "$PERF" record; }
    }""")
    assert out.endswith("\n1 passed, 0 failed, 0 skipped\n") and out.count("again: ") == 3, out


def test_a_program_that_crashes_has_failed():
    out = judged("test_a() { :; }; tests_end() { kill -SEGV $$; }")
    assert "failed: cmd s: ended with signal 11 after 1 of 1 tests\n" in out and "again: " not in out, out


def test_processes_that_are_left_are_a_failure():
    out = judged(certain(f"sleep {name_of_sleep(7)} & :"))
    assert out.endswith("\n1 passed, 1 failed, 0 skipped\n") and "left running: " in out, out
    out = judged(certain(f"cd /; sleep {name_of_sleep(8)} & :"))
    assert out.endswith("\n1 passed, 1 failed, 0 skipped\n") and "left running: sleep" in out, out
    assert "again" not in out, out


def test_processes_that_are_ending_are_not_left():
    out = judged("test_a() { (cd /; setsid sleep 0.5 &); }")
    assert out.endswith("\n1 passed, 0 failed, 0 skipped\n"), out


def test_files_that_are_left_are_a_failure():
    out = judged(certain('touch "$TMPDIR/forgotten"'))
    assert out.endswith("\n1 passed, 1 failed, 0 skipped\n"), out
    assert "failed: cmd s: left in its folder: forgotten" in out and "again: " not in out, out


LEAVE_A_PROGRAM = """
import ctypes, os, struct, sys
sys.path.insert(0, sys.argv[1])
import kernel_objects
code = ctypes.create_string_buffer(struct.pack("<QQ", 0xb7, 0x95), 16)  # r0 = 0; exit
license = ctypes.create_string_buffer(b"GPL")
attr = struct.pack("IIQQIIQII16s", 1, 2, ctypes.addressof(code), ctypes.addressof(license), 0, 0, 0, 0, 0,
                   b"forgotten")
fd = kernel_objects.bpf(5, ctypes.create_string_buffer(attr, len(attr)))
assert fd >= 0
path = ctypes.create_string_buffer(sys.argv[2].encode())
assert kernel_objects.bpf(6, ctypes.create_string_buffer(struct.pack("QII", ctypes.addressof(path), fd, 0), 16)) >= 0
"""


def test_programs_that_are_left_are_a_failure():
    with tempfile.TemporaryDirectory() as folder:
        if subprocess.run(["mount", "-t", "bpf", "bpf", folder], capture_output=True, check=False).returncode:
            raise Skip("a BPF file system cannot be mounted")
        try:
            loader = os.path.join(TOP, "tests")
            with tempfile.NamedTemporaryFile("w", suffix=".py") as f:
                f.write(LEAVE_A_PROGRAM)
                f.flush()
                out = judged(certain(f"{sys.executable} {f.name} {loader} {folder}/forgotten"))
        finally:
            subprocess.run(["umount", folder], check=True)
    assert out.endswith("\n1 passed, 1 failed, 0 skipped\n"), out
    assert "failed: cmd s: left in the kernel: program " in out and "'forgotten'" in out, out
    assert "again" not in out, out


def test_stress_says_where_a_test_failed():
    out = printed(FAILS_AT_THE_FOURTH, lambda make: stress.stress([make], RUN.run_one, runs=5))
    assert "\ncmd s: luck: failed 2 of 5 runs (first: beside two busy loops: the dice said no)\n" in out, out
    assert all(condition.name in out for condition in stress.CONDITIONS), out
    assert out.endswith("\n0 passed, 1 failed\n"), out
    out = printed("test_a() { :; }", lambda make: stress.stress([make], RUN.run_one, runs=1))
    assert out.endswith("\ncmd s: each of 1 runs passed\n1 passed, 0 failed\n"), out


def test_stress_stops_recorders():
    body = """
    test_stopped() {
        cp "$(command -v sleep)" perf-bpf
        ./perf-bpf 1000 &
        soon grep -q '^State:.T' /proc/$!/status
        kill $!
    }"""
    stress.CONDITIONS[:] = [stress.Stopped]
    out = printed(body, lambda make: stress.stress([make], RUN.run_one, runs=1))
    assert out.endswith("\n1 passed, 0 failed\n"), out


def test_the_list_of_unsteady_tests():
    today = datetime.date(2026, 3, 15)
    line = "{}  cmd record: kill  it is killed before it has begun\n"
    assert not unsteady.faults("# a comment\n\n" + line.format("2026-03-01"), today)
    assert "unsteady for 15 days" in unsteady.faults(line.format("2026-02-28"), today)[0]
    assert not unsteady.faults(10 * line.format("2026-03-15"), today)
    assert unsteady.faults(11 * line.format("2026-03-15"), today) == ["11 tests are listed; 10 are the limit"]
    for wrong in ("2026-03-01 cmd record: kill no cause\n", "2026-13-01  cmd record: kill  x\n",
                  line.format("2026-03-16")):
        assert len(unsteady.faults(wrong, today)) == 1, wrong


def test_the_last_line():
    out = subprocess.run([os.path.join(TOP, "tests/run"), "--only", "insn", "unit"],
                         capture_output=True, text=True, check=False)
    lines = out.stdout.splitlines()
    assert out.returncode == 0 and lines[-1].endswith(" passed, 0 failed, 0 skipped"), out
    assert any(line.split()[0:1] == ["unit"] and len(line.split()) == 6 for line in lines), lines


def main():
    tests = [(name, test) for name, test in globals().items()
             if name.startswith("test_") and re.search(os.environ.get("ONLY") or "", name)]
    print(f"1..{len(tests)}")
    for i, (name, test) in enumerate(tests, 1):
        try:
            test()
            print(f"ok {i} - {name[5:]}", flush=True)
        except Skip as why:
            print(f"ok {i} - {name[5:]} # SKIP {why}", flush=True)
        except Exception as error:  # pylint: disable=broad-except
            text = f"{type(error).__name__}: {error}".replace("\n", "\n# | ")
            print(f"# {text}\nnot ok {i} - {name[5:]}", flush=True)


if __name__ == "__main__":
    main()
