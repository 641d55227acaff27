"""Runs pairs of tools: here, or in a guest."""
import concurrent.futures
import os
import subprocess

from lib import guests
from lib.common import SRC

VM = guests.VM
GUEST_SECONDS = 2400  # after which a guest is ended


def build_runner(work):
    """The pair runner and the workload, in a folder; their paths."""
    peers = os.path.join(SRC, "tests/peers")
    flags = ["cc", "-O2", "-g", "-std=gnu11", "-D_GNU_SOURCE", "-fno-omit-frame-pointer"]
    for name in ("tools_pair", "tools_work"):
        subprocess.run([*flags, "-o", os.path.join(work, name), os.path.join(peers, name + ".c"),
                        "-pthread", "-ldl"], check=True)
    subprocess.run([*flags, "-shared", "-fPIC", "-o", os.path.join(work, "libjvm.so"),
                    os.path.join(peers, "tools_jvm.c")], check=True)


class Run:
    """What came of a pair."""

    def __init__(self, text):
        self.ours, self.theirs, self.work = [], [], {}
        self.status = ["nothing", "nothing"]
        for line in text:
            if line.startswith(("a|", "b|")):
                (self.ours if line[0] == "a" else self.theirs).append(line[2:])
            elif line.startswith("w|"):
                what, _, n = line[2:].rpartition(" ")
                if n.isdigit():
                    self.work[what] = int(n)
            elif line.startswith("a="):
                first, _, second = line[2:].partition(" b=")
                self.status = [first, second]
            elif line.strip():
                self.theirs.append(line)

    @staticmethod
    def why(status, text):
        """In a line, why a tool did not run."""
        for line in text:
            if any(w in line.lower() for w in ("fail", "error", "not ", "no ", "cannot")):
                return line.replace("libbpf: ", "").replace("libperfbpf: ", "")[:120]
        return (text[0][:120] if text else "") or f"ended with {status}"

    def check(self, spec):
        """(whether it is good, in words)"""
        if "nothing" in self.status:
            return False, "the run did not come to its end"
        early = [s.startswith("early") for s in self.status]
        if all(early) or (early[1] and self.status[0] == self.status[1]):
            return None, self.why(self.status[1], self.theirs)
        if early[0]:
            return False, "only libbpf's runs: " + self.why(self.status[0], self.ours)
        if early[1]:
            return True, "only ours runs; libbpf's: " + self.why(self.status[1], self.theirs)
        if self.status[0] != self.status[1]:
            return False, f"ended with {self.status[0]}, libbpf's with {self.status[1]}"
        wrong = spec.same.check(self.ours, self.theirs, self.work)
        if wrong:
            return False, wrong
        return True, spec.same.tell(self.ours, self.work)


def arguments(spec, work_program):
    return [a.replace("{work}", work_program) for a in spec.args.split()]


def run_here(spec, ours, theirs, folder):
    work = os.path.join(folder, "tools_work")
    run = subprocess.run([os.path.join(folder, "tools_pair"), work, spec.kind, str(spec.count), ours,
                          theirs, *arguments(spec, work)], capture_output=True, text=True,
                         errors="replace", cwd=folder)
    return Run(run.stdout.splitlines() + run.stderr.splitlines())


def pack(specs, paths, folder):
    """An initramfs with pairs of tools; paths: [(ours, libbpf's)] of specs."""
    image, pairs = os.path.join(folder, "initramfs"), os.path.join(folder, "pairs")
    with open(pairs, "w") as f:
        for i, spec in enumerate(specs):
            f.write(" ".join([str(i), "/disk" if spec.disk else "/tmp", spec.tool, spec.kind,
                              str(spec.count), *arguments(spec, "/bin/tools_work")]) + "\n")
    files = [f"{folder}/tools_pair=bin/tools_pair", f"{folder}/tools_work=bin/tools_work",
             f"{folder}/libjvm.so=bin/libjvm.so", f"{pairs}=pairs",
             os.path.join(SRC, "tests/peers/tools_guest") + "=run-tests"]
    for spec, (ours, theirs) in zip(specs, paths):
        files += [f"{ours}=ours/{spec.tool}", f"{theirs}=theirs/{spec.tool}"]
    subprocess.run([os.path.join(VM, "make-initramfs"), image, *dict.fromkeys(files)], check=True)
    return image


def run_guest(suite, image, folder):
    """(the kernel's release, {number of the spec: Run}), or (None, why there is no guest)."""
    kernel, why = guests.kernel(suite)
    if not kernel:
        return None, why
    disk, out = (os.path.join(folder, n + suite) for n in ("disk.", "guest."))
    with open(disk, "wb") as f:
        f.truncate(64 << 20)
    subprocess.run(["mke2fs", "-q", "-t", "ext4", "-F", disk], check=True, capture_output=True,
                   env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin"})
    subprocess.run([os.path.join(VM, "boot"), kernel, image, out, str(GUEST_SECONDS)],
                   env={**os.environ, "GUEST_DISK": disk})
    texts, release, current = {}, None, None
    with open(out, errors="replace") as f:
        for line in f.read().replace("\r", "").split("\n"):
            if line.startswith("guest: up "):
                release = line[10:]
            elif line.startswith("pair: "):
                current = texts.setdefault(int(line[6:]), [])
            elif current is not None and line != "guest: done":
                current.append(line)
    if not release:
        return None, "the guest did not come up"
    return release, {i: Run(text) for i, text in texts.items()}


def run_guests(suites, specs, paths, folder):
    """{suite: what run_guest says}, two at a time."""
    image = pack(specs, paths, folder)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return dict(zip(suites, pool.map(lambda s: run_guest(s, image, folder), suites)))
