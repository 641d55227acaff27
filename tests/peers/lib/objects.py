"""Compiles BPF programs of the kernel's tree against our headers."""
import concurrent.futures
import fnmatch
import glob
import hashlib
import os
import platform
import re
import shutil
import subprocess

from lib.common import ARCH, BUILD, CACHE, ONLY, SRC
from lib.trees import SELFTESTS

KEPT = 24  # folders of compiled objects besides the one that is made


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


def vmlinux_h(folder, btf):
    """A kernel's types as C, by our own dumper."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "vmlinux.h")
    if not os.path.exists(path):
        with open(path + ".new", "wb") as out:
            subprocess.run([os.path.join(BUILD, "tests/unit/btf_layout"), "header", btf],
                           stdout=out, check=True)
        os.rename(path + ".new", path)


class Compiled:
    def __init__(self):
        self.objects = []   # (name, path)
        self.compilers = {}
        self.failed = []    # (name, the compiler's first error)

    def summary(self):
        by = ", ".join(f"{n} {c}" for c, n in sorted(self.compilers.items()))
        return (f"{len(self.objects)} objects ({by}), {len(self.failed)} sources do not "
                "compile for this kernel")


def include_flags(top, vmlinux):
    """Where programs of a tree find headers: ours, vmlinux.h, and the tree's own."""
    tests = os.path.join(top, SELFTESTS)
    return ["-I" + os.path.join(SRC, "include"), "-I" + os.path.join(BUILD, "include"),
            "-I" + vmlinux, "-I" + tests, "-I" + os.path.join(tests, "libarena/include"),
            "-I" + os.path.join(top, "tools/include/uapi"),
            "-idirafter", os.path.join(top, "tools/include"),
            "-idirafter", os.path.join(top, "include"),
            "-idirafter", f"/usr/include/{platform.machine()}-linux-gnu"]


FLAGS = ["-g", "-O2", "-target", "bpf", "-mcpu=v3", "-std=gnu11", "-fno-strict-aliasing",
         "-fms-extensions", f"-D__TARGET_ARCH_{ARCH}", "-DENABLE_ATOMICS_TESTS", "-w"]


def compile_all(top, btf, compilers, flags=FLAGS, sources=SELFTESTS + "/progs/*.c"):
    """Those of a tree's sources that ONLY takes, by the first of the compilers that can."""
    compilers = [c for c in compilers if shutil.which(c)]
    digest = header_hash()
    with open(btf, "rb") as f:
        digest.update(f.read())
    digest.update(repr((os.path.basename(top), compilers, flags, sources)).encode())
    place = os.path.join(CACHE, "objects-" + digest.hexdigest()[:16])
    if not os.path.isdir(place):
        kept = sorted(glob.glob(os.path.join(CACHE, "objects-*")), key=os.path.getmtime)
        for old in kept[:-KEPT]:
            shutil.rmtree(old, ignore_errors=True)
    vmlinux_h(place, btf)
    os.utime(place)
    flags = flags + include_flags(top, place)

    def one(source):
        name = os.path.basename(source)[:-2]
        out = os.path.join(place, name + ".o")
        note = os.path.join(place, name + ".note")
        if not os.path.exists(note):
            why = "no compiler"
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
    found = [s for s in sorted(glob.glob(os.path.join(top, sources)))
             if fnmatch.fnmatch(os.path.basename(s)[:-2], ONLY)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, out, note in pool.map(one, found):
            if os.path.exists(out):
                compiled.objects.append((name, out))
                compiled.compilers[note] = compiled.compilers.get(note, 0) + 1
            else:
                compiled.failed.append((name, note))
    return compiled
