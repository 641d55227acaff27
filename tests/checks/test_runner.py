#!/usr/bin/env python3
"""tests/run itself: what it counts, and that nothing it started outlives it."""
import os
import signal
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "tests"))
from jobs import Job, Runner  # noqa: E402


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
                                 lane="one"))
        until = time.monotonic() + 60
        while not alive(a) and time.monotonic() < until:
            time.sleep(0.02)
        os.kill(child, number)
        lines = [line.rstrip("\n").split("|", 2) for line in out]
        os.waitpid(child, 0)
        why = signal.Signals(number).name
        assert lines == [["s 0", why, "cleaned"], ["s 1", f"not run: {why}", ""]], lines
        assert not alive(a)


def test_one_of_a_lane_at_a_time():
    with tempfile.TemporaryDirectory() as folder:
        script = f"mkdir {folder}/here && sleep 0.1 && rmdir {folder}/here"
        lines = ended(jobs_of(script, script, script, lane="one"), slots=3)
    assert [line[1] for line in lines] == ["0", "0", "0"], lines


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


def test_the_last_line():
    out = subprocess.run([os.path.join(TOP, "tests/run"), "--only", "insn", "unit"],
                         capture_output=True, text=True, check=False)
    lines = out.stdout.splitlines()
    assert out.returncode == 0 and lines[-1].endswith(" passed, 0 failed, 0 skipped"), out
    assert any(line.split()[0:1] == ["unit"] and len(line.split()) == 6 for line in lines), lines


def main():
    tests = [(name, test) for name, test in globals().items() if name.startswith("test_")]
    print(f"1..{len(tests)}")
    for i, (name, test) in enumerate(tests, 1):
        try:
            test()
            print(f"ok {i} - {name[5:]}", flush=True)
        except Exception as error:  # pylint: disable=broad-except
            print(f"# {type(error).__name__}: {error}\nnot ok {i} - {name[5:]}", flush=True)


if __name__ == "__main__":
    main()
