"""The kernel's sources, as far as its BPF selftests and samples need them."""
import glob
import os
import re
import shutil
import tarfile
import tempfile

from lib.common import CACHE
from lib.debs import fetch

SELFTESTS = "tools/testing/selftests/bpf"
SAMPLES = "samples/bpf"
UNPACKED = (SELFTESTS, SAMPLES, "tools/include", "include/uapi")


def unpack(archive):
    """The folder with what is needed of an archive, unpacked once."""
    with open(archive, "rb") as f:
        stat = os.fstat(f.fileno())
    version = re.search(r"linux-source-([0-9.]+)\.tar", archive).group(1)
    top = os.path.join(CACHE, f"linux-{version}-{stat.st_size:x}-{int(stat.st_mtime):x}")
    if os.path.isdir(top):
        return top
    os.makedirs(CACHE, exist_ok=True)
    work = tempfile.mkdtemp(prefix="unpack.", dir=CACHE)
    with tarfile.open(archive) as tar:
        for member in tar:
            name = member.name.split("/", 1)[-1]
            if name.startswith(UNPACKED) and (member.isfile() or member.isdir()):
                member.name = name
                tar.extract(member, work)
    if os.path.isdir(top):
        shutil.rmtree(work)
    else:
        os.rename(work, top)
    return top


def installed():
    """(folder, None) of the installed package linux-source-6.1, or (None, why not)."""
    archives = sorted(glob.glob("/usr/src/linux-source-6.1.tar.*"))
    if not archives:
        return None, "no /usr/src/linux-source-6.1.tar.xz (package linux-source-6.1)"
    return unpack(archives[0]), None


def of_suite(suite):
    """(folder, None) of the sources of a suite's kernel, or (None, why not)."""
    place, why = fetch(suite, "linux-source")
    if not place:
        return None, why
    archives = glob.glob(os.path.join(place, "usr/src/linux-source-*.tar.*"))
    return (unpack(archives[0]), None) if archives else (None, "the package holds no archive")


def version(top):
    return os.path.basename(top).split("-")[1]
