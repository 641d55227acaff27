"""Binary packages of another Debian suite, unpacked, not installed. They stay in
the cache and are used from then on without a look at the network."""
import glob
import os
import re
import shutil
import subprocess
import tempfile

from lib.common import CACHE

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


def mirror():
    """The mirror that apt is set up for; None: there is none."""
    if os.environ.get("DEBIAN_MIRROR"):
        return os.environ["DEBIAN_MIRROR"]
    run = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI)",
                          "Created-By: Packages"], capture_output=True, text=True)
    found = [u for u in run.stdout.split() if re.search(r"/debian/?$", u)]
    return found[0] if found else None


def apt(work, suite, *args):
    """apt-get with a list of its own; nothing of the machine's apt is touched."""
    options = {"APT::Architecture": "amd64", "APT::Architectures::": "amd64",
               "Dir::Etc::sourcelist": f"{work}/sources.list",
               "Dir::Etc::sourceparts": "/dev/null", "Dir::Etc::preferencesparts": "/dev/null",
               "Dir::State::Lists": f"{work}/lists", "Dir::State::status": f"{work}/status",
               "Dir::Cache": work, "Dir::Cache::archives": f"{work}/archives",
               "APT::Sandbox::User": "root", "Acquire::Languages": "none",
               "Acquire::Retries": "2", "Acquire::Check-Valid-Until": "false"}
    argv = ["apt-get", "-q"]
    for name, value in options.items():
        argv += ["-o", f"{name}={value}"]
    return subprocess.run([*argv, *args], cwd=work, capture_output=True, text=True)


def fetch(suite, package, others=()):
    """(folder, None): the package that `package` is or depends on, as its name goes on
    ("linux-source" is linux-source-7.2), with the others; or (None, why not)."""
    for place in sorted(glob.glob(os.path.join(CACHE, "debs", suite, package + "*"))):
        return place, None
    uri = mirror()
    if not uri or not os.path.exists(KEYRING):
        return None, "apt is set up for no Debian mirror (set DEBIAN_MIRROR)"
    os.makedirs(os.path.join(CACHE, "debs", suite), exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="apt.", dir=CACHE) as work:
        os.chmod(work, 0o755)
        for folder in ("lists/partial", "archives/partial", "root"):
            os.makedirs(os.path.join(work, folder))
        with open(os.path.join(work, "sources.list"), "w") as f:
            f.write(f"deb [arch=amd64 signed-by={KEYRING}] {uri} {suite} main\n")
        open(os.path.join(work, "status"), "w").close()
        apt(work, suite, "update")
        plan = apt(work, suite, "-s", "install", package).stdout
        names = re.findall(rf"^Inst ({re.escape(package)}\S*) ", plan, re.M)
        if not names:
            return None, f"cannot reach the Debian mirror for {suite}, or it has no {package}"
        name = max(names, key=len)
        run = apt(work, suite, "download", name, *others)
        archives = glob.glob(os.path.join(work, "*.deb"))
        if run.returncode or not archives:
            return None, f"cannot download {name} of {suite}"
        for archive in archives:
            subprocess.run(["dpkg-deb", "-x", archive, os.path.join(work, "root")], check=True)
        place = os.path.join(CACHE, "debs", suite, name)
        shutil.move(os.path.join(work, "root"), place)
    return place, None
