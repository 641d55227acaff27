"""Source packages of Debian, by apt, with a list of their own: nothing of the
machine's apt is changed. They stay in the cache."""
import glob
import os
import re
import shutil
import tarfile
import tempfile

from lib.common import CACHE
from lib.debs import KEYRING, apt, mirror

# A mirror need not hold every suite's sources. The newest release comes first: what its
# tools ask of the library is the most. sid comes late, because it changes under a test.
SUITES = ("forky", "trixie", "sid", "bookworm", "bullseye")


def unpack(archive, name, members):
    """CACHE/NAME with what of the archive begins with one of members."""
    work = tempfile.mkdtemp(prefix="unpack.", dir=CACHE)
    with tarfile.open(archive) as tar:
        for member in tar:
            path = member.name.split("/", 1)[-1]
            if path.startswith(members) and not member.isdev():
                member.name = path
                if member.islnk():
                    member.linkname = member.linkname.split("/", 1)[-1]
                tar.extract(member, work)
    place = os.path.join(CACHE, name)
    if os.path.isdir(place):
        shutil.rmtree(work)
    else:
        os.rename(work, place)
    return place


def fetch(package, members, suites=SUITES):
    """(folder, version, suite) of an unpacked source package, or (None, why, None)."""
    for place in sorted(glob.glob(os.path.join(CACHE, package + "_*")), reverse=True):
        version, suite = os.path.basename(place).split("_")[1:3]
        if suite in suites:
            return place, version, suite
    uri = mirror()
    if not uri or not os.path.exists(KEYRING):
        return None, "apt is set up for no Debian mirror (set DEBIAN_MIRROR)", None
    os.makedirs(CACHE, exist_ok=True)
    why = "no suite's sources were found"
    for suite in suites:
        with tempfile.TemporaryDirectory(prefix="apt.", dir=CACHE) as work:
            os.chmod(work, 0o755)
            for folder in ("lists/partial", "archives/partial"):
                os.makedirs(os.path.join(work, folder))
            with open(os.path.join(work, "sources.list"), "w") as f:
                f.write(f"deb-src [signed-by={KEYRING}] {uri} {suite} main\n")
            open(os.path.join(work, "status"), "w").close()
            apt(work, suite, "update")
            run = apt(work, suite, "source", "--download-only", "--tar-only", package)
            archives = glob.glob(os.path.join(work, f"{package}_*.orig.tar.*"))
            if run.returncode == 0 and archives:
                version = re.search(r"_(.*)\.orig\.tar", os.path.basename(archives[0])).group(1)
                return unpack(archives[0], f"{package}_{version}_{suite}", members), version, suite
            errors = [l for l in run.stderr.splitlines() if l.startswith("E: ")]
            why = f"{suite}: {errors[0][3:] if errors else 'apt-get source failed'}"
    return None, why, None
