#!/usr/bin/env python3
"""The kernel's own BPF test programs, loaded with this library and with libbpf.

tools/testing/selftests/bpf/progs of Debian's package linux-source-6.1 are
compiled against our <bpf/...> headers, with the running kernel's vmlinux.h, by
clang and, what that cannot, by clang-19. Each program of each object is then
loaded by itself, by one client that is built twice (tests/peers/loader.c). What
libbpf loads, this library must load; every row that differs is printed with its
reason. Opening is timed, in turn.

Sources and objects are kept in ${XDG_CACHE_HOME:-~/.cache}/perf-bpf/peers; an
object is compiled again when a source, our headers or the kernel change.
PEERS_ONLY=GLOB tries some of the objects, PEERS_TABLE=FILE keeps the table.
"""
import concurrent.futures
import fnmatch
import glob
import hashlib
import math
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

SRC = os.environ.get("SRC") or os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BUILD") or os.path.join(SRC, "build")
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"),
                     "perf-bpf", "peers")
ONLY = os.environ.get("PEERS_ONLY", "*")
SELFTESTS = "tools/testing/selftests/bpf"
UNPACKED = (SELFTESTS, "tools/include", "include/uapi")
ROUNDS = 3  # of timing, each of the two libraries in turn
OPENS = 7   # per round; the fastest counts
ARCH = {"x86_64": "x86", "aarch64": "arm64", "s390x": "s390", "ppc64le": "powerpc",
        "riscv64": "riscv"}.get(platform.machine(), platform.machine())


def say(text=""):
    for line in str(text).split("\n"):
        print("# " + line, flush=True)


def skip_all(why):
    print(f"1..0 # SKIP {why}")
    sys.exit(0)


def sources():
    """The folder with the kernel's selftests, unpacked once."""
    archives = sorted(glob.glob("/usr/src/linux-source-6.1.tar.*"))
    if not archives:
        skip_all("no /usr/src/linux-source-6.1.tar.xz (package linux-source-6.1)")
    with open(archives[0], "rb") as f:
        stat = os.fstat(f.fileno())
    top = os.path.join(CACHE, f"linux-{stat.st_size:x}-{int(stat.st_mtime):x}")
    if not os.path.isdir(top):
        os.makedirs(CACHE, exist_ok=True)
        work = tempfile.mkdtemp(prefix="unpack.", dir=CACHE)
        with tarfile.open(archives[0]) as tar:
            for member in tar:
                name = member.name.split("/", 1)[-1]
                if name.startswith(UNPACKED) and (member.isfile() or member.isdir()):
                    member.name = name
                    tar.extract(member, work)
        os.rename(work, top)
    return top


def header_hash():
    """Of the headers that BPF programs include."""
    digest = hashlib.sha256()
    for path in sorted(glob.glob(os.path.join(SRC, "include/bpf/*bpf_*.h")) +
                       glob.glob(os.path.join(SRC, "include/bpf/*.bpf.h")) +
                       glob.glob(os.path.join(BUILD, "include/bpf*.h"))):
        digest.update(os.path.basename(path).encode() + b"\0")
        with open(path, "rb") as f:
            digest.update(f.read())
    return digest


def vmlinux_h(folder):
    """The running kernel's types as C, by our own dumper."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "vmlinux.h")
    if not os.path.exists(path):
        with open(path + ".new", "wb") as out:
            subprocess.run([os.path.join(BUILD, "tests/unit/btf_layout"), "header",
                            "/sys/kernel/btf/vmlinux"], stdout=out, check=True)
        os.rename(path + ".new", path)


class Compiled:
    def __init__(self):
        self.objects = []   # (name, path)
        self.compilers = {}
        self.failed = []    # (name, the compiler's first error)


def compile_all(top):
    progs = os.path.join(top, SELFTESTS, "progs")
    headers = header_hash()
    with open("/sys/kernel/btf/vmlinux", "rb") as f:
        headers.update(f.read())
    headers.update(os.path.basename(top).encode())
    place = os.path.join(CACHE, "objects-" + headers.hexdigest()[:16])
    if not os.path.isdir(place):
        for old in glob.glob(os.path.join(CACHE, "objects-*")):
            shutil.rmtree(old, ignore_errors=True)
    vmlinux_h(place)
    flags = ["-g", "-O2", "-target", "bpf", "-mcpu=v3", f"-D__TARGET_ARCH_{ARCH}",
             "-DENABLE_ATOMICS_TESTS", "-Wno-compare-distinct-pointer-types",
             "-I" + os.path.join(SRC, "include"), "-I" + os.path.join(BUILD, "include"),
             "-I" + place, "-I" + os.path.join(top, SELFTESTS),
             "-I" + os.path.join(top, "tools/include/uapi"),
             "-idirafter", f"/usr/include/{platform.machine()}-linux-gnu"]
    compilers = [c for c in ("clang", "clang-19") if shutil.which(c)]

    def one(source):
        name = os.path.basename(source)[:-2]
        out = os.path.join(place, name + ".o")
        note = os.path.join(place, name + ".note")
        if not os.path.exists(note):
            why = ""
            for compiler in compilers:
                run = subprocess.run([compiler, *flags, "-c", source, "-o", out + ".new"],
                                     capture_output=True, text=True, errors="replace")
                if run.returncode == 0:
                    os.rename(out + ".new", out)
                    why = "by " + compiler
                    break
                found = re.search(r"error: (.*)", run.stderr)
                why = found.group(1) if found else run.stderr.strip()[-200:]
            with open(note + ".new", "w") as f:
                f.write(why)
            os.rename(note + ".new", note)
        with open(note) as f:
            return name, out, f.read()

    compiled = Compiled()
    found = [s for s in sorted(glob.glob(os.path.join(progs, "*.c")))
             if fnmatch.fnmatch(os.path.basename(s)[:-2], ONLY)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, out, note in pool.map(one, found):
            if os.path.exists(out):
                compiled.objects.append((name, out))
                compiled.compilers[note] = compiled.compilers.get(note, 0) + 1
            else:
                compiled.failed.append((name, note))
    return compiled


def build_clients(work):
    """(ours, libbpf's)"""
    source = os.path.join(SRC, "tests/peers/loader.c")
    ours, theirs = os.path.join(work, "ours"), os.path.join(work, "theirs")
    subprocess.run(["cc", "-O2", "-I" + os.path.join(SRC, "include"), source, "-o", ours,
                    "-L" + BUILD, "-lperfbpf", "-Wl,-rpath," + BUILD], check=True)
    run = subprocess.run(["cc", "-O2", source, "-o", theirs, "-lbpf"],
                         capture_output=True, text=True)
    if run.returncode:
        skip_all("no libbpf to compare with (package libbpf-dev)")
    return ours, theirs


class Row:
    """One program by one of the libraries."""

    def __init__(self, fields):
        self.section, self.type, self.attach, self.result = fields[:4]
        self.rest = fields[4:]

    @property
    def loaded(self):
        return self.result == "ok"

    @property
    def why(self):
        text = self.rest[0] if self.rest else ""
        text = re.sub(r"^(libbpf|libperfbpf): ", "", text)
        return text[:160] or f"errno {self.result}"


def load(client, path):
    """{program: Row}; "(open)" stands for an object that did not open."""
    try:
        run = subprocess.run([client, "load", path], capture_output=True, text=True,
                             errors="replace", timeout=300)
    except subprocess.TimeoutExpired:
        return {"(open)": Row(["", "", "", "timeout", ""])}
    rows = {}
    for line in run.stdout.splitlines():
        fields = line.split("\t")
        if fields[0] == "program" and len(fields) >= 6:
            rows[fields[1]] = Row(fields[2:])
        elif fields[0] == "open":
            rows["(open)"] = Row(["", "", ""] + fields[1:])
    if run.returncode:
        rows["(open)"] = Row(["", "", "", f"the client ended with {run.returncode}", ""])
    return rows


def time_open(clients, path):
    """Nanoseconds of the fastest opening by each; None: one of them cannot."""
    best = [math.inf, math.inf]
    for _ in range(ROUNDS):
        for i, client in enumerate(clients):
            run = subprocess.run([client, "open", str(OPENS), path], capture_output=True,
                                 text=True, errors="replace", timeout=300)
            if run.returncode:
                return None
            best[i] = min(best[i], int(run.stdout))
    return best


def geometric_mean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values))


class Comparison:
    def __init__(self):
        self.programs = self.both = self.neither = self.same_tag = 0
        self.only_libbpf, self.only_ours, self.other_type, self.other_code = [], [], [], []
        self.broken = []
        self.ratios = []

    def add(self, name, ours, theirs):
        for program, row in theirs.items():
            if program == "(open)":
                continue
            self.programs += 1
            own = ours.get(program) or ours.get("(open)") or Row(["", "", "", "no such program"])
            label = f"{name}: {program} ({row.section})"
            if row.loaded and not own.loaded:
                self.only_libbpf.append(f"{label}: {own.why}")
            elif own.loaded and not row.loaded:
                self.only_ours.append(f"{label}: libbpf: {row.why}")
            elif row.loaded:
                self.both += 1
                # Tag, functions and maps; of lines, ours holds more where macros share one.
                if own.rest[:1] == row.rest[:1]:
                    self.same_tag += 1
                if (own.rest[0], own.rest[1], own.rest[3]) != (row.rest[0], row.rest[1],
                                                               row.rest[3]):
                    self.other_code.append(label)
            else:
                self.neither += 1
            if program in ours and (own.section, own.type, own.attach) != (
                    row.section, row.type, row.attach):
                self.other_type.append(f"{label}: type {own.type} attach {own.attach}, libbpf's "
                                       f"type {row.type} attach {row.attach}")
        if "(open)" in ours and ours["(open)"].result.startswith(("the client", "timeout")):
            self.broken.append(f"{name}: {ours['(open)'].result}")


def main():
    if os.geteuid() != 0:
        skip_all("loading takes root")
    if not os.path.exists("/sys/kernel/btf/vmlinux"):
        skip_all("this kernel has no BTF")
    if not shutil.which("clang-19") and not shutil.which("clang"):
        skip_all("no clang")
    compiled = compile_all(sources())
    cmp = Comparison()
    with tempfile.TemporaryDirectory(prefix="perf-bpf-peers-") as work:
        clients = build_clients(work)
        for name, path in compiled.objects:
            cmp.add(name, load(clients[0], path), load(clients[1], path))
            times = time_open(clients, path)
            if times:
                cmp.ratios.append(times[1] / times[0])

    table = [f"kernel {platform.release()}, {len(compiled.objects)} objects "
             f"({', '.join(f'{n} {c}' for c, n in sorted(compiled.compilers.items()))}), "
             f"{len(compiled.failed)} sources do not compile for this kernel",
             f"{cmp.programs} programs: {cmp.both} loaded by both, {cmp.neither} by neither, "
             f"{len(cmp.only_libbpf)} by libbpf only, {len(cmp.only_ours)} by ours only; "
             f"{cmp.same_tag} of {cmp.both} with the same instructions"]
    if cmp.ratios:
        table.append(f"opening: {geometric_mean(cmp.ratios):.2f} times as fast as libbpf "
                     f"(geometric mean of {len(cmp.ratios)} objects, paired; "
                     f"{min(cmp.ratios):.2f} to {max(cmp.ratios):.2f})")
    for title, rows in (("loaded by libbpf only", cmp.only_libbpf),
                        ("loaded by ours only", cmp.only_ours),
                        ("another type or attach type", cmp.other_type),
                        ("other instructions, functions or maps", cmp.other_code),
                        ("not compiled", [f"{n}: {w}" for n, w in compiled.failed])):
        if rows:
            table += ["", f"{title}: {len(rows)}"] + ["  " + row for row in rows]
    if os.environ.get("PEERS_TABLE"):
        with open(os.environ["PEERS_TABLE"], "w") as f:
            f.write("The kernel's own BPF test programs, with this library and with libbpf 1.1\n"
                    "(make check-peers; PEERS_TABLE=doc/selftests.txt keeps the table)\n\n")
            f.write("\n".join(line.rstrip() for line in table) + "\n")
    say("\n".join(table))

    results = [
        (len(compiled.objects) > 0 and len(compiled.failed) * 20 <= len(compiled.objects),
         "the kernel's test programs compile against our headers"),
        (not cmp.broken, "no object ends or hangs the client"),
        (cmp.both > 0 and not cmp.only_libbpf, "what libbpf loads, ours loads"),
        (cmp.both > 0 and not cmp.other_type, "programs have the types that libbpf gives them"),
    ]
    print(f"1..{len(results)}")
    for i, (good, name) in enumerate(results, 1):
        print(f"{'ok' if good else 'not ok'} {i} - {name}")
    return 0 if all(good for good, _ in results) else 1


if __name__ == "__main__":
    sys.exit(main())
