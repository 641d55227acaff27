#!/usr/bin/env python3
"""The calls of real programs as perf-bpf trace --strace and as strace print them.

strace runs each program, and perf-bpf traces strace and its children: so both see the same calls of
the same processes, and the lines of each thread are compared one by one, with addresses, numbers,
results, signals and exits. curl reads from a server of Python's on the loopback interface; pgbench
runs against a PostgreSQL server whose processes are traced, too.

Left out is what a process does before the first program of its own. What may differ is listed in
KNOWN.

PEERS_ONLY=GLOB runs some of the programs, PEERS_TABLE=FILE keeps the lines that differ.
"""
import collections
import difflib
import fnmatch
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from lib.common import BUILD, ONLY, say, skip_all, tap

SECONDS = 170
# strace, with its log of each process; perf-bpf has the number of a thread in front of each line.
TRACED = '"$PERF_BPF" trace --strace -m 64M --log ours -- strace -f -o theirs'
CURL = r"""
python3 -m http.server --bind 127.0.0.1 --directory . 0 >port 2>server &
server=$!
until port=$(sed -n 's/.* port \([0-9]*\) .*/\1/p' port) && [ "$port" ]; do sleep 0.1; done
%s curl -s -o got "http://127.0.0.1:$port/file"
kill $server
cmp file got
""" % TRACED
PGBENCH = r"""
cat >session <<-'END'
	postgres -D data -k "$PWD" -c listen_addresses= >server 2>&1 &
	until pg_isready -q -h "$PWD"; do sleep 0.2; done
	pgbench -q -i -h "$PWD" postgres && pgbench -c 2 -t 20 -h "$PWD" postgres
	kill -INT $!
	wait
END
own="setpriv --reuid postgres --regid postgres --clear-groups"
mkdir data && chown postgres . data
$own initdb -D data >/dev/null
%s $own sh session
grep -q 'transactions actually processed: 40/40' out
""" % TRACED
GIT = r"""
git init -q g
cd g
echo a >a
git add a
git -c user.name=a -c user.email=a@b commit -qm one
cd ..
%s sh -c 'cd g && git log --stat && git status && git gc -q'
""" % TRACED
PYTHON = r"""
cat >work.py <<-'END'
	import os, select, signal, socket, subprocess, threading, time
	def serve(s):
	    c = s.accept()[0]
	    c.sendall(c.recv(100) * 2)
	    c.close()
	s = socket.create_server(("127.0.0.1", 0))
	t = threading.Thread(target=serve, args=(s,))
	t.start()
	c = socket.create_connection(s.getsockname())
	c.send(b"hello")
	c.recv(100)
	t.join()
	a, b = socket.socketpair()
	e = select.epoll()
	e.register(a, select.EPOLLIN)
	b.send(b"x")
	e.poll(1)
	select.select([a], [b], [a], 100)
	p = select.poll()
	p.register(a, select.POLLIN)
	p.poll(0)
	for number in signal.SIGUSR1, signal.SIGALRM, signal.SIGCHLD:
	    signal.signal(number, lambda *args: 0)
	os.kill(os.getpid(), signal.SIGUSR1)
	signal.setitimer(signal.ITIMER_REAL, 0.05)
	time.sleep(0.1)
	subprocess.run(["sh", "-c", "echo hi; kill -9 $$"])
	u = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
	u.bind(("::1", 0))
	u.sendto(b"abc", u.getsockname())
	u.recvfrom(10)
	socket.send_fds(b, [b"m"], [0, 1, 2])
	socket.recv_fds(a, 10, 10)
	r, w = os.pipe()
	f = open("work.py", "rb")
	os.sendfile(w, f.fileno(), 3, 10)
	os.listxattr(".")
	os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_SEQUENTIAL)
	os.times()
END
%s python3 work.py
""" % TRACED
PERL = r"""
cat >work.pl <<-'END'
	use IO::Socket; use POSIX;
	my $p = fork; exit 3 if !$p; waitpid $p, 0;
	my $s = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1");
	print -M "/etc/passwd";
	select undef, undef, undef, 0.05;
	opendir D, "/etc"; print readdir D;
	open F, "-|", "ls /"; print <F>; close F;
	unlink "/nonexistent"; system "false"; print strftime "%%c", localtime;
END
%s perl work.pl
""" % TRACED
MAKE = r"""
printf 'all: x y\nx y:\n\techo $@ > $@\n' >Makefile
%s make -j2
""" % TRACED
UNSHARE = TRACED + r""" unshare -m sh -c 'mount -t tmpfs none /mnt && mount --bind /etc /mnt &&
	cat /proc/self/mountinfo && umount /mnt && umount /mnt'
"""
BASH = TRACED + r""" bash -c 'for i in 1 2 3; do echo $i | cat; done; trap "echo t" USR1
	kill -USR1 $$; sleep 0.05 & wait; ulimit -a'
"""
GCC = r"""
echo 'int main(void) { return 0; }' >a.c
%s gcc -O1 -o a a.c
""" % TRACED
# Calls that may differ, and how strace's line becomes ours.
KNOWN = [
    # the mask is in the signal's frame on the stack, which is not copied
    (r"rt_sigreturn\(\{mask=~?\[[^]]*\]\}\)", "rt_sigreturn()"),
    # eight pieces of memory are copied for a call; the time that is left would be the ninth
    (r"(pselect6\(.*), left \{[^}]*\}\)$", r"\1)"),
]


# Lines that may differ, and how strace's becomes ours.
KNOWN = [
    # a process that kills itself is gone before strace sees the result, which the kernel reports
    (r"((?:tg|t|)kill\(.*SIGKILL\)) = \?$", r"\1 = 0"),
]


def lines_of(path, pattern):
    """{thread: its lines} of a log; parts of a call that was interrupted are put together."""
    threads, parts = collections.defaultdict(list), {}
    for line in open(path, encoding="utf-8", errors="replace"):
        m = re.match(pattern, line.rstrip("\n"))
        # a stop is seen only by who traces by ptrace(2)
        if not m or m.group(2).startswith("--- stopped by "):
            continue
        thread, text = int(m.group(1)), m.group(2)
        if text.endswith(" <unfinished ...>"):
            parts[thread] = text.removesuffix(" <unfinished ...>")
            continue
        resumed = re.match(r"<\.\.\. \w+ resumed>(.*)", text)
        if resumed:
            text = parts.pop(thread, "") + resumed.group(1)
        text = re.sub(r"\) +(= )", r") \1", text)
        for theirs, ours in KNOWN:
            text = re.sub(theirs, ours, text)
        threads[thread].append(text)
    return threads


def from_first(ours, theirs):
    """Ours from the call that strace saw first: before it the process was strace's."""
    for i, line in enumerate(ours):
        if theirs and line == theirs[0]:
            return ours[i:]
    return ours


def compare(folder):
    """(calls, those that agree, [lines that differ])"""
    ours = lines_of(os.path.join(folder, "ours"), r"\[pid +(\d+)\] (.*)")
    theirs = lines_of(os.path.join(folder, "theirs"), r"(\d+) +(.*)")
    total = same = 0
    differ = []
    for thread, want in sorted(theirs.items()):
        got = from_first(ours.get(thread, []), want)
        matcher = difflib.SequenceMatcher(None, want, got, autojunk=False)
        total += len(want)
        for tag, a, b, c, d in matcher.get_opcodes():
            if tag == "equal":
                same += b - a
                continue
            differ += [f"{thread} strace {line}" for line in want[a:b]]
            differ += [f"{thread} ours   {line}" for line in got[c:d]]
    return total, same, differ


def run(name, script):
    """(whether all agree, what to say)"""
    with tempfile.TemporaryDirectory() as work:
        os.chmod(work, 0o755)
        with open(os.path.join(work, "file"), "wb") as f:
            f.write(bytes(range(256)) * 4096)
        path = ":".join([os.environ["PATH"], *glob.glob("/usr/lib/postgresql/*/bin")])
        with open(os.path.join(work, "out"), "w") as out:
            child = subprocess.Popen(["sh", "-eu", "-c", script], cwd=work, stdout=out,
                                     stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                     start_new_session=True,
                                     env={**os.environ, "PATH": path,
                                          "PERF_BPF": os.path.join(BUILD, "perf-bpf")})
            try:
                status = child.wait(SECONDS)
            except subprocess.TimeoutExpired:
                status = "none in time"
            finally:
                try:
                    os.killpg(child.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                child.wait()
        text = open(os.path.join(work, "out"), errors="replace").read()
        if status != 0:
            return False, [f"{name}: status {status}: {text[-600:]}"]
        total, same, differ = compare(work)
    return total > 0 and not differ, [f"{name}: {same} of {total} calls are the same"] + differ


def main():
    if os.geteuid():
        skip_all("tracing needs root")
    if not shutil.which("strace"):
        skip_all("strace is not installed")
    programs = {
        "curl": (CURL, "curl"), "pgbench": (PGBENCH, "pgbench"), "git": (GIT, "git"),
        "python": (PYTHON, "python3"), "perl": (PERL, "perl"), "make": (MAKE, "make"),
        "unshare": (UNSHARE, "unshare"), "bash": (BASH, "bash"), "gcc": (GCC, "gcc"),
        "apt": (f"{TRACED} apt-cache policy bash", "apt-cache"),
        "dpkg": (f"{TRACED} dpkg -l bash", "dpkg"),
        "ssh-keygen": (f"{TRACED} ssh-keygen -q -t ed25519 -N '' -f key", "ssh-keygen"),
        "sqlite": (f"{TRACED} sqlite3 db 'create table t(a); insert into t values(1);"
                   f" select sum(a) from t'", "sqlite3"),
        "ps": (f"{TRACED} ps aux", "ps"),
        "rsync": (f"{TRACED} rsync -a /etc/apt/ copy/", "rsync"),
        "ip": (f"{TRACED} sh -c 'ip address; ip route; ip neighbour; ip rule'", "ip"),
        "ss": (f"{TRACED} ss -tlnp", "ss"),
        "getent": (f"{TRACED} sh -c 'getent hosts localhost; getent ahosts localhost'", "getent"),
    }
    results, table = [], []
    for name, (script, needed) in programs.items():
        if not fnmatch.fnmatch(name, ONLY):
            continue
        if not shutil.which(needed):
            say(f"{name}: {needed} is not installed")
            continue
        good, lines = run(name, script)
        table += lines
        for line in lines[:20]:
            say(line[:300])
        results.append((good, f"{name}: the same calls, arguments and results as strace"))
    if os.environ.get("PEERS_TABLE"):
        with open(os.environ["PEERS_TABLE"], "w", encoding="utf-8") as f:
            f.write("\n".join(table) + "\n")
    if not results:
        skip_all("none of the programs is installed")
    return tap(results)


if __name__ == "__main__":
    sys.exit(main())
