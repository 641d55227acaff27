"""BCC's libbpf-tools, built by their own Makefile: with our installed library, and
with libbpf."""
import glob
import hashlib
import os
import re
import shutil
import subprocess

from lib.common import ARCH, BUILD, CACHE, SRC
from lib.objects import header_hash
from lib.packages import fetch

KEPT = 3  # trees that were built with other states of our library


class Tree:
    """One built set of the tools."""

    def __init__(self, place, label):
        self.place, self.label = place, label
        self.failed = {}  # tool -> the first error

    def path(self, tool):
        return os.path.join(self.place, tool)

    def has(self, tool):
        return os.access(self.path(tool), os.X_OK)


def tools_of(sources):
    return sorted(os.path.basename(p)[:-len(".bpf.c")]
                  for p in glob.glob(os.path.join(sources, "*.bpf.c"))
                  if os.path.exists(p.replace(".bpf.c", ".c")))


def make(tree, sources, archive, includes):
    """Runs the tools' own Makefile: all that it is told is where the library and bpftool are."""
    bpftool = shutil.which("bpftool") or "/usr/sbin/bpftool"
    if not os.path.isdir(tree.place):
        # Links to the sources: they are compiled as they are.
        subprocess.run(["cp", "-rs", sources, tree.place], check=True)
    command = ["make", "-k", "-j2", "USE_BLAZESYM=0", "BPFTOOL=" + bpftool,
               "LIBBPF_OBJ=" + archive, "INCLUDES=-I$(OUTPUT) " + includes]
    run = subprocess.run(command + ["all"], cwd=tree.place, capture_output=True, text=True,
                         errors="replace")
    for tool in tools_of(sources):
        if not tree.has(tool):
            run = subprocess.run(command + [tool], cwd=tree.place, capture_output=True, text=True,
                                 errors="replace")
            found = re.search(r"^.*(?:error: |Error: |undefined reference).*$", run.stderr, re.M)
            tree.failed[tool] = (found.group(0) if found else run.stderr.strip()[-200:]).strip()


def install(place):
    """Our library below place, as 'make install' leaves it: (archive, flags of pkg-config)."""
    subprocess.run(["meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", place],
                   check=True, capture_output=True)
    found = glob.glob(os.path.join(place, "**/libperfbpf.pc"), recursive=True)
    env = {**os.environ, "PKG_CONFIG_PATH": os.path.dirname(found[0])}

    def ask(*what):
        return subprocess.run(["pkg-config", *what, "libperfbpf"], check=True, env=env,
                              capture_output=True, text=True).stdout.strip()
    moved = "--define-variable=prefix=" + place + ask("--variable=prefix")
    return (os.path.join(ask(moved, "--variable=libdir"), "libperfbpf.a"),
            ask(moved, "--cflags"))


def build_ours(sources, version):
    digest = header_hash()
    for path in sorted(glob.glob(os.path.join(SRC, "include/bpf/*.h"))) + [
            os.path.join(BUILD, "libperfbpf.a")]:
        with open(path, "rb") as f:
            digest.update(f.read())
    name = f"tools-{version}-ours-"
    place = os.path.join(CACHE, name + digest.hexdigest()[:16])
    if not os.path.isdir(place):
        kept = sorted(glob.glob(os.path.join(CACHE, name + "*")), key=os.path.getmtime)
        for old in kept[:-KEPT]:
            shutil.rmtree(old, ignore_errors=True)
    os.makedirs(place, exist_ok=True)
    tree = Tree(os.path.join(place, "tools"), "ours")
    archive, flags = install(os.path.join(place, "installed"))
    # Installed anew, it is newer than what was made of it.
    os.utime(archive, (1, 1))
    make(tree, sources, archive, flags)
    return tree


def build_libbpf(sources, version, suite):
    """With libbpf-dev, and for the tools that ask for more than it has, with the libbpf of
    the tools' own suite; [Tree]."""
    trees = []
    have = subprocess.run(["pkg-config", "--modversion", "libbpf"], capture_output=True, text=True)
    archives = glob.glob("/usr/lib/*/libbpf.a")
    if have.returncode == 0 and archives:
        number = have.stdout.strip()
        tree = Tree(os.path.join(CACHE, f"tools-{version}-libbpf-{number}"), "libbpf " + number)
        make(tree, sources, archives[0], "")
        trees.append(tree)
    if not trees or trees[0].failed:
        place, number, _ = fetch("libbpf", ("src/", "include/"), (suite,))
        if place:
            out = os.path.join(place, "out")
            if not os.path.isdir(out):
                subprocess.run(["make", "-j2", "-C", os.path.join(place, "src"),
                                "BUILD_STATIC_ONLY=1", f"OBJDIR={place}/obj", f"DESTDIR={out}",
                                "INCLUDEDIR=", "LIBDIR=", "UAPIDIR=", "install",
                                "install_headers"], check=True, capture_output=True)
            tree = Tree(os.path.join(CACHE, f"tools-{version}-libbpf-{number}"),
                        "libbpf " + number)
            make(tree, sources, os.path.join(out, "libbpf.a"), "-I" + out)
            trees.append(tree)
    return trees
