"""Runs programs side by side, and ends every process that they started.

A job is a program in a session of its own. Its processes are found by that session or, when
they left it, by a variable in their environment. What a job leaves behind is ended with it.
"""
import ctypes
import os
import shutil
import signal
import subprocess
import tempfile
import time

MARK = "PERF_BPF_TEST_JOB"
PR_SET_CHILD_SUBREAPER = 36
SECONDS_TO_CLEAN_UP = 15
# What is ending when its parent has ended, such as a symbolizer at the other end of a pipe, is not left.
SECONDS_TO_END = 3


class Job:
    """One program. cost is the number of CPUs that it keeps busy: 0.5 for one that waits as long
    as it computes, 0 for one that waits for the network. A job that is alone runs beside no other of its lane, and one that changes a thing beside
    no other that uses it. needs holds labels of jobs that have to pass first. When a job that is fatal fails, everything stops. count belongs to the caller."""
    started_jobs = 0

    def __init__(self, suite, name, argv, count, *, env=None, timeout=600, lane=None, alone=False,
                 uses=frozenset(), changes=frozenset(), needs=(), cost=1, fatal=False, cwd=None):
        self.suite, self.name, self.argv, self.count = suite, name, argv, count
        self.env, self.timeout, self.lane, self.needs = env or {}, timeout, lane, set(needs)
        self.alone, self.uses, self.changes = alone, uses, changes
        self.cost, self.fatal, self.cwd = cost, fatal, cwd
        self.label = f"{suite} {name}"
        self.process = None  # before it starts
        self.status = None  # an exit status, or why there is none
        self.text = ""
        self.seconds = self.cpu = 0.0
        self.left = []  # names of processes that it did not end
        self.files = []  # what it left in its folder for temporary files
        self.again = None  # again(test): a job that runs only this test of it, or None

    def start(self):
        Job.started_jobs += 1
        self.mark = f"{os.getpid()}.{Job.started_jobs}"
        self.kill_at = None
        self.folder = tempfile.mkdtemp(prefix="pbt.")
        os.chmod(self.folder, 0o755)  # tests run programs as other users
        self.out = tempfile.TemporaryFile(mode="w+", errors="replace")
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            self.argv, stdout=self.out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
            cwd=self.cwd, start_new_session=True,
            env={**os.environ, "TMPDIR": self.folder, **self.env, MARK: self.mark})

    def disturbs(self, other):
        """The two may not run beside each other."""
        return bool(self.lane and self.lane == other.lane and (self.alone or other.alone)
                    or self.changes & other.uses or self.uses & other.changes)

    def belongs(self, pid):
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
                state, _, _, session = f.read().rpartition(")")[2].split()[:4]
            if state == "Z":
                return False  # it ended; who started it has to wait for it
            if int(session) == self.process.pid:
                return True
            with open(f"/proc/{pid}/environ", "rb") as f:
                return f"{MARK}={self.mark}".encode() in f.read().split(b"\0")
        except OSError:  # it ended meanwhile, or is another user's
            return False

    def signal(self, number):
        """To each of its processes; returns their names."""
        names = []
        for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
            if not self.belongs(pid):
                continue
            try:
                with open(f"/proc/{pid}/comm", errors="replace") as f:
                    name = f.read().strip()
                os.kill(pid, number)
                names.append(name)
            except OSError:
                pass
        return names

    def end(self, why):
        """First the request, so that scripts remove what they made."""
        if self.status is None:
            self.status = why
            self.signal(signal.SIGTERM)
            self.kill_at = time.monotonic() + SECONDS_TO_CLEAN_UP

    def check_time(self):
        now = time.monotonic()
        if self.kill_at is not None and now > self.kill_at:
            self.signal(signal.SIGKILL)
        elif now - self.began > self.timeout:
            self.end(f"a timeout of {self.timeout} s")

    def ended(self, status, usage):
        code = os.waitstatus_to_exitcode(status)
        self.process.returncode = code
        if self.status is None:
            self.status = code if code >= 0 else f"signal {-code}"
        self.seconds = time.monotonic() - self.began
        self.cpu = usage.ru_utime + usage.ru_stime
        until = time.monotonic() + SECONDS_TO_END
        while self.signal(0) and time.monotonic() < until:
            time.sleep(0.02)
        until = time.monotonic() + SECONDS_TO_CLEAN_UP
        names = self.signal(signal.SIGKILL)
        self.left += names
        while names and time.monotonic() < until:
            time.sleep(0.01)
            names = self.signal(signal.SIGKILL)
        self.out.seek(0)
        self.text = self.out.read()
        self.out.close()
        self.files = sorted(os.listdir(self.folder))
        shutil.rmtree(self.folder, ignore_errors=True)


class Runner:
    """Runs jobs, each as soon as it may, in the order in which they are given. report(job) is
    called for each, also for one that was not run; observe(labels), after each start and end,
    with the labels of the jobs that run."""

    def __init__(self, slots, report, observe=lambda labels: None):
        self.slots, self.report, self.observe = slots, report, observe
        self.waiting, self.running, self.passed = [], [], set()
        self.stopped = None  # why

    def run(self, jobs):
        # Processes whose parent ended come to this one, and are waited for.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self.interrupted)
        self.waiting = list(jobs)
        while self.running or (self.waiting and not self.stopped):
            if not self.stopped and self.start_next():
                continue
            time.sleep(0.02)
            self.reap()
            for job in self.running:
                if self.stopped:
                    job.end(self.stopped)
                job.check_time()
        for job in self.waiting:
            job.status = f"not run: {self.stopped}"
            self.report(job)

    def interrupted(self, number, frame):
        self.stopped = signal.Signals(number).name

    def start_next(self):
        job = self.next()
        if not job:
            return False
        self.waiting.remove(job)
        if job.status is None:
            self.running.append(job)
            job.start()
            self.observe([job.label for job in self.running])
        else:
            self.report(job)
        return True

    def next(self):
        """The first job that may be started now, or that never can."""
        free = self.slots - sum(min(job.cost, self.slots) for job in self.running)
        open_jobs = {job.label for job in self.waiting + self.running}
        for job in self.waiting:
            lost = job.needs - self.passed - open_jobs
            if lost:
                job.status = f"not run: {', '.join(sorted(lost))} did not pass"
                return job
            if any(map(job.disturbs, self.running)) or not job.needs <= self.passed:
                continue
            if min(job.cost, self.slots) <= free:
                return job
            if job.cost > 1:
                return None  # the CPUs become free for it
        return None

    def reap(self):
        while True:
            try:
                pid, status, usage = os.wait3(os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            for job in [job for job in self.running if job.process.pid == pid]:
                job.ended(status, usage)
                self.observe([job.label for job in self.running])
                self.running.remove(job)
                if job.status == 0:
                    self.passed.add(job.label)
                elif job.fatal and not self.stopped:
                    self.stopped = f"{job.label} failed"
                self.report(job)
