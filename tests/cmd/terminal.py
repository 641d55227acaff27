#!/usr/bin/env python3
"""Types into a shell on a pseudo-terminal, and looks at what it and its jobs do.

    terminal.py SHELL SCENARIO

SHELL is a command line of an interactive shell. $PERF_BPF's folder is on PATH. A scenario is a
function below. What is to happen is waited for, at most a minute.
"""
import os
import pty
import re
import select
import shlex
import signal
import sys
import time

PROMPT = "@@ "
CTRL_C, CTRL_Z, CTRL_D = "\x03", "\x1a", "\x04"
# Each line tells a part of its text by a variable, so that its echo is not taken for it. The
# workload has been busy for some samples when it says that it has begun.
BUSY = ("sh -c 'trap \"exit 0\" INT; b=begun; i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done; "
        "echo $b; while :; do :; done'")


def fail(message, shell=None):
    print(f"# {message}")
    if shell:
        shell.kill()
        print("\n".join("# | " + ascii(line) for line in shell.text[-4000:].splitlines()))
    sys.exit(1)


def soon(what, condition, shell=None):
    """Waits until the condition holds, and returns its value."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        if shell:
            shell.read(0.05)
        else:
            time.sleep(0.05)
    fail(f"in vain: {what}", shell)


def stat(pid):
    """The process's name, state, parent and group."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        text = file.read()
    name = text[text.index("(") + 1:text.rindex(")")]
    state, parent, group = text[text.rindex(")") + 2:].split()[:3]
    return name, state, int(parent), int(group)


def has_ended(pid):
    """Whoever reaps it, and when."""
    try:
        return stat(pid)[1] == "Z"
    except OSError:
        return True


class Shell:
    """An interactive shell on a terminal of its own."""

    def __init__(self, command):
        self.text = ""
        self.seen = 0
        words = shlex.split(command)
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ["PS1"] = PROMPT
            os.environ["TERM"] = "dumb"
            os.execvp(words[0], words)
        self.expect(re.escape(PROMPT))

    def read(self, seconds):
        if select.select([self.fd], [], [], seconds)[0]:
            try:
                self.text += os.read(self.fd, 65536).decode(errors="replace")
            except OSError:
                pass

    def expect(self, pattern):
        """The text up to the next match, which is what is waited for after it."""
        def match():
            return re.compile(pattern).search(self.text, self.seen)
        found = soon(pattern, match, self)
        before = self.text[self.seen:found.start()]
        self.seen = found.end()
        return before

    def expect_both(self, one, other):
        """In either order; what comes after both is waited for next."""
        start = self.seen
        self.expect(one)
        end, self.seen = self.seen, start
        self.expect(other)
        self.seen = max(self.seen, end)

    def prompt(self):
        return self.expect(re.escape(PROMPT))

    def type(self, text):
        os.write(self.fd, text.encode())

    def line(self, text):
        self.type(text + "\n")

    def run(self, text):
        """What a command prints."""
        self.line(text)
        self.expect(re.escape(text) + r"\r\n")
        return self.prompt()

    def front(self):
        """The terminal's foreground group."""
        return os.tcgetpgrp(self.fd)

    def descendants(self):
        """{name: pid} below the shell; of several the outermost."""
        found, parents = {}, {self.pid}
        rows = []
        for pid in os.listdir("/proc"):
            if pid.isdigit():
                try:
                    rows.append((int(pid), stat(pid)))
                except OSError:
                    pass
        grew = True
        while grew:
            grew = False
            for pid, (name, _, parent, _) in rows:
                if parent in parents and pid not in parents:
                    parents.add(pid)
                    found.setdefault(name, pid)
                    grew = True
        return found

    def find(self, name):
        return soon(f"process {name}", lambda: self.descendants().get(name), self)

    def has_terminal(self):
        """perf-bpf has it, and not perf."""
        def given():
            mine = self.descendants()
            return "perf-bpf" in mine and self.front() == mine["perf-bpf"]
        soon("perf-bpf has the terminal", given, self)

    def states(self, names, wanted):
        def all_are():
            mine = self.descendants()
            return all(n in mine and stat(mine[n])[1] in wanted for n in names)
        soon(f"{names} in state {wanted}", all_are, self)

    def status(self):
        text = self.run("s=$?; echo status=$s")
        return re.search(r"status=(\d+)", text).group(1)

    def check_status(self, *wanted):
        got = self.status()
        if got not in wanted:
            fail(f"status {got}, wanted {wanted}", self)

    def end_of_record(self):
        """The recorder's last line comes before the prompt."""
        self.expect(r"Captured and wrote [^\r]*\r\n")
        rest = self.prompt()
        if "FATAL" in rest:
            fail("perf complains", self)

    def check_file(self, name="d"):
        text = self.run(f"perf-bpf script -i {name} | grep -c cpu-clock")
        if int(re.search(r"(\d+)\r\n", text).group(1)) < 1:
            fail("the file has no sample", self)

    def kill(self):
        """All of its session, in whatever group."""
        for pid in os.listdir("/proc"):
            try:
                if pid.isdigit() and os.getsid(int(pid)) == self.pid:
                    os.kill(int(pid), signal.SIGKILL)
            except ProcessLookupError:
                pass

    def leave(self):
        """Nothing is left but the shell, and it takes lines."""
        if "alive-and-well" not in self.run("a=alive; echo $a-and-well"):
            fail("the shell does not answer", self)
        soon("nothing of perf is left",
             lambda: not {"perf", "perf-bpf"} & set(self.descendants()), self)
        self.line("exit")
        soon("the shell ends", lambda: os.waitpid(self.pid, os.WNOHANG)[0], self)


def record(options="", workload=BUSY):
    return f"perf bpf record -o d -e cpu-clock {options} -- {workload}"


# ---- scenarios ----

def ctrl_c_record(sh):
    sh.line(record())
    sh.expect(r"begun\r\n")
    sh.has_terminal()
    sh.type(CTRL_C)
    sh.end_of_record()
    sh.check_status("130")
    sh.check_file()


def message(sh):
    """run says what it waits for; not in files, not where results come meanwhile."""
    sh.line("perf-bpf run syscount")
    sh.expect(r"perf-bpf: tracing with syscount; press Ctrl-C to end\r\n")
    sh.type(CTRL_C)
    sh.prompt()
    for options, wanted in [("--timeout 100ms", " for 0.1 s; press Ctrl-C to end earlier"),
                            ("-- true", " until true ends; press Ctrl-C to end earlier")]:
        text = sh.run(f"perf-bpf run syscount {options}")
        if f"perf-bpf: tracing with syscount{wanted}\r\n" not in text:
            fail(f"no message for {options}", sh)
    for quiet in ["-q", "2>err", "--interval 50ms"]:
        # the name alone may be that of a process in the table, such as fuzz_tracing_data
        if "perf-bpf: tracing" in sh.run(f"perf-bpf run syscount --timeout 100ms {quiet}"):
            fail(f"a message with {quiet}", sh)


def ctrl_c_run(sh):
    sh.line("perf bpf run syscount")
    sh.has_terminal()
    sh.expect(r"Ctrl-C")
    sh.type(CTRL_C)
    # the table comes before the prompt
    before = sh.prompt()
    if not re.search(r"syscall", before):
        fail("no result before the prompt", sh)
    sh.check_status("0")


def ctrl_c_profile(sh):
    """prog profile goes on after Ctrl-Z and fg, and prints at Ctrl-C."""
    sh.line("perf-bpf run syscount --timeout 5m >/dev/null 2>&1 &")
    sh.prompt()
    number = r"([0-9]+): [^\r]*syscount_enter"
    def loaded():
        return re.search(number, sh.run("perf-bpf prog list name syscount_enter"))
    found = soon("syscount is loaded", loaded, sh)
    sh.line(f"perf bpf prog profile id {found.group(1)}")
    profile = sh.find("perf")
    def given():
        front = sh.front()
        return front not in (profile, sh.pid) and front
    group = soon("perf-bpf has the terminal", given, sh)
    sh.type(CTRL_Z)
    sh.prompt()
    # what is continued before it has stopped stays stopped
    soon("both have stopped", lambda: stat(profile)[1] + stat(group)[1] == "TT", sh)
    sh.line("fg %2")
    soon("perf-bpf has the terminal again", given, sh)
    sh.type(CTRL_C)
    sh.expect(r"run_time_ns")
    sh.prompt()
    sh.check_status("0")
    sh.line("kill %1; wait")
    sh.prompt()


def ctrl_z_record(sh):
    sh.line(record(workload="sh -c 'b=begun; echo $b; read x; e=ended; echo $e'"))
    sh.expect(r"begun\r\n")
    sh.has_terminal()
    sh.type(CTRL_Z)
    sh.prompt()
    # a read that is still to be stopped takes what is typed, as the kernel has it
    sh.states(["perf", "perf-bpf", "sh"], "T")
    if not re.search(r"(?i)stopped.*perf bpf record", sh.run("jobs")):
        fail("the shell knows no stopped job", sh)
    sh.line("fg")
    sh.has_terminal()
    sh.line("text for the workload")
    sh.expect(r"ended\r\n")
    sh.end_of_record()
    sh.check_status("0")


def ctrl_z_twice(sh):
    sh.line(record())
    sh.expect(r"begun\r\n")
    for _ in range(2):
        sh.has_terminal()
        sh.type(CTRL_Z)
        sh.prompt()
        sh.states(["perf", "perf-bpf", "sh"], "T")
        sh.line("fg")
        sh.states(["perf", "perf-bpf", "sh"], "SR")
    sh.has_terminal()
    sh.type(CTRL_C)
    sh.end_of_record()
    sh.check_status("130")
    sh.check_file()


def ctrl_z_run(sh):
    sh.line("perf bpf run syscount")
    sh.expect(r"Ctrl-C")
    sh.has_terminal()
    sh.type(CTRL_Z)
    sh.prompt()
    sh.states(["perf", "perf-bpf"], "T")
    sh.line("fg")
    sh.has_terminal()
    sh.type(CTRL_C)
    if "syscall" not in sh.prompt():
        fail("no result before the prompt", sh)
    sh.check_status("0")


def background(sh):
    """Ctrl-Z, bg: it goes on, and the shell has the terminal; fg of a running job."""
    sh.line(record())
    sh.expect(r"begun\r\n")
    sh.has_terminal()
    sh.type(CTRL_Z)
    sh.prompt()
    sh.states(["perf", "perf-bpf", "sh"], "T")
    sh.run("bg")
    sh.states(["perf", "perf-bpf", "sh"], "SR")
    if "still-here" not in sh.run("a=still; echo $a-here"):
        fail("the shell does not answer", sh)
    if sh.front() != sh.pid:
        fail("the terminal is not the shell's", sh)
    sh.line("fg")
    sh.has_terminal()
    sh.type(CTRL_C)
    sh.end_of_record()
    sh.check_status("130")


def ampersand(sh):
    sh.line(record() + " &")
    sh.expect_both(re.escape(PROMPT), r"begun\r\n")
    if sh.front() != sh.pid:
        fail("the terminal is not the shell's", sh)
    sh.line("")
    sh.prompt()
    sh.line("fg")
    sh.has_terminal()
    sh.type(CTRL_C)
    sh.end_of_record()
    sh.check_status("130")
    sh.check_file()


def reads_in_background(sh):
    """A workload in the background that reads stops the job; fg lets it read."""
    sh.line(record(workload="sh -c 'read x; g=got; echo $g-$x'") + " &")
    sh.prompt()
    sh.states(["perf", "perf-bpf", "sh"], "T")
    sh.line("fg")
    sh.has_terminal()
    sh.line("this")
    sh.expect(r"got-this\r\n")
    sh.end_of_record()
    sh.check_status("0")


def script(sh):
    """A script is a job of several: Ctrl-C ends it, too, but after perf-bpf."""
    with open("job.sh", "w", encoding="utf-8") as file:
        file.write(record() + "\necho next\n")
    sh.line("sh job.sh")
    sh.expect(r"begun\r\n")
    sh.has_terminal()
    sh.type(CTRL_C)
    sh.expect(r"Captured and wrote [^\r]*\r\n")
    if "next" in sh.prompt():
        fail("the script goes on", sh)
    sh.check_status("130")
    sh.check_file()


def pipeline(sh):
    """Others of the job may want to read from the terminal: it stays theirs."""
    sh.line("perf bpf run syscount --interval 50ms | cat")
    sh.expect(r"syscall")
    if sh.front() != sh.find("perf"):
        fail("the terminal is not the pipeline's", sh)
    sh.type(CTRL_C)
    sh.prompt()


def killed_perf(sh):
    sh.line(record())
    sh.expect(r"begun\r\n")
    sh.has_terminal()
    child = sh.find("perf-bpf")
    os.kill(sh.find("perf"), signal.SIGKILL)
    sh.prompt()
    soon("perf-bpf ends", lambda: has_ended(child), sh)
    if sh.front() != sh.pid:
        fail("the terminal is not the shell's", sh)
    sh.check_file()


def killed_child(sh):
    """kill -INT of perf-bpf itself: perf must not call that a failure to run it."""
    sh.line(record())
    sh.expect(r"begun\r\n")
    sh.has_terminal()
    os.kill(sh.find("perf-bpf"), signal.SIGTERM)
    sh.end_of_record()
    sh.check_status("143")


def live(sh):
    """The screen of --live: Ctrl-Z gives it back, fg takes it again, Ctrl-C ends it."""
    sh.line("TERM=xterm perf bpf run --live --interval 50ms syscount")
    sh.expect(r"\x1b\[\?1049h")
    sh.has_terminal()
    sh.type(CTRL_Z)
    sh.expect(r"\x1b\[\?1049l")
    sh.prompt()
    sh.states(["perf", "perf-bpf"], "T")
    sh.line("fg")
    sh.expect(r"\x1b\[\?1049h")
    sh.has_terminal()
    sh.type("q")
    sh.expect(r"\x1b\[\?1049l")
    sh.prompt()
    sh.check_status("0")


def main():
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    shell = Shell(sys.argv[1])
    globals()[sys.argv[2]](shell)
    shell.leave()


if __name__ == "__main__":
    main()
