"""The clients that load and time objects, built once for each library."""
import os
import subprocess
import sys

from lib.common import BUILD, SRC, skip_all

SECONDS = 20  # that one program may take to load


def build(out, options, client="loader"):
    """Whether tests/peers/loader.c, or another client, could be built."""
    source = os.path.join(SRC, f"tests/peers/{client}.c")
    run = subprocess.run(["cc", "-O2", source, "-o", out, *options], capture_output=True, text=True)
    return run.returncode == 0


def build_clients(work, client="loader"):
    """(ours, libbpf's)"""
    ours, theirs = os.path.join(work, client + ".ours"), os.path.join(work, client + ".theirs")
    if not build(ours, ["-I" + os.path.join(SRC, "include"), "-L" + BUILD, "-lperfbpf",
                        "-Wl,-rpath," + BUILD], client):
        sys.exit(f"tests/peers/{client}.c does not compile with our headers")
    if not build(theirs, ["-lbpf"], client):
        skip_all("no libbpf to compare with (package libbpf-dev)")
    return ours, theirs


# Functions of a newer C library that Debian's newer libbpf.a refers to, by the
# names that this one has for them: they read "0b1" too.
RENAMED = [f"-Wl,--defsym=__isoc23_{name}={name}" for name in ("sscanf", "fscanf", "strtoull")]


def build_static(work, libbpf=None, client="loader"):
    """(ours, libbpf's) for guests that have no libraries; libbpf is a folder usr of it."""
    name = os.path.basename(client)
    ours, theirs = (os.path.join(work, f"{name}.{whose}.static") for whose in ("ours", "theirs"))
    libs = ["-lelf", "-lz", "-lzstd"]
    if not build(ours, ["-static", "-I" + os.path.join(SRC, "include"),
                        os.path.join(BUILD, "libperfbpf.a"), *libs], client):
        sys.exit(f"tests/peers/{client}.c cannot be linked statically")
    if libbpf:
        options = ["-I" + os.path.join(libbpf, "include"),
                   os.path.join(libbpf, "lib/x86_64-linux-gnu/libbpf.a"), *libs, *RENAMED]
    else:
        options = ["-lbpf", *libs]
    if not build(theirs, ["-static", *options], client):
        skip_all("no static libbpf to compare with (package libbpf-dev)")
    return ours, theirs
