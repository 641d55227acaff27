"""Objects loaded on other kernels, in QEMU (tests/vm)."""
import concurrent.futures
import os
import re
import shutil
import subprocess
import tempfile

from lib.clients import SECONDS
from lib.common import SRC
from lib.rows import Comparison, parse

VM = os.path.join(SRC, "tests/vm")
BOOT_SECONDS = 1800  # after which a guest is ended


def why_not():
    """What the guests need and is not here; None: nothing."""
    if os.uname().machine != "x86_64":
        return "the guests are x86-64"
    for tool in ("qemu-system-x86_64", "cpio", "busybox", "llvm-strip"):
        if not shutil.which(tool):
            return f"no {tool}"
    return None


def kernel(suite):
    """(its folder, None) or (None, the reason why there is none)"""
    run = subprocess.run([os.path.join(VM, "fetch-kernel"), suite], capture_output=True, text=True)
    said = run.stdout.strip().split("\n")[-1]
    return (said, None) if run.returncode == 0 else (None, said or "fetch-kernel failed")


def kernel_btf(suite):
    """The path of its BTF; None: there is none to be had."""
    folder, _ = kernel(suite)
    if not folder:
        return None
    run = subprocess.run([os.path.join(VM, "kernel-btf"), folder], capture_output=True, text=True)
    return run.stdout.strip() if run.returncode == 0 else None


def cpio(folder, output):
    """Appends a folder: a kernel unpacks one archive after the other."""
    names = subprocess.run(["find", "."], cwd=folder, stdout=subprocess.PIPE, check=True).stdout
    with open(output, "ab") as out:
        subprocess.run(["cpio", "-o", "-H", "newc", "--quiet"], cwd=folder, input=names, stdout=out,
                       check=True)
        out.write(b"\0" * (-out.tell() % 512))


def testmod(suite):
    """(the folder with the kernel's test modules, None) or (None, the reason why there is none)"""
    run = subprocess.run([os.path.join(VM, "fetch-testmod"), suite], capture_output=True, text=True)
    said = run.stdout.strip().split("\n")[-1]
    return (said, None) if run.returncode == 0 else (None, said or "fetch-testmod failed")


def add_own(suite, folder, output):
    """Appends what only one kernel can use: its modules, and its options where libbpf reads them."""
    with tempfile.TemporaryDirectory(dir=os.path.dirname(output)) as root:
        os.mkdir(os.path.join(root, "boot"))
        with open(os.path.join(folder, "release")) as f:
            shutil.copy(os.path.join(folder, "config"),
                        os.path.join(root, "boot/config-" + f.read().strip()))
        for name, place in (("modules", os.path.join(folder, "modules")),
                            ("testmod", testmod(suite)[0])):
            if place and os.path.isdir(place):
                shutil.copytree(place, os.path.join(root, name))
        cpio(root, output)


def pack(work, objects, clients):
    """An initramfs for all kernels, with clients and objects [(name, path)]."""
    output = os.path.join(work, "initramfs")
    subprocess.run([os.path.join(VM, "make-initramfs"), output,
                    os.path.join(SRC, "tests/peers/guest-load") + "=run-tests",
                    *(f"{path}=bin/{name}" for name, path in clients)], check=True)
    with tempfile.TemporaryDirectory(dir=work) as root:
        os.mkdir(os.path.join(root, "objects"))
        for name, path in objects:
            copy = os.path.join(root, "objects", name + ".o")
            shutil.copy(path, copy)
        copies = [os.path.join(root, "objects", name + ".o") for name, _ in objects]
        for start in range(0, len(copies), 100):
            subprocess.run(["llvm-strip", "-g", *copies[start:start + 100]], check=True)
        with open(os.path.join(root, "clients"), "w") as f:
            f.write(" ".join(name for name, _ in clients) + "\n")
        with open(os.path.join(root, "seconds"), "w") as f:
            f.write(f"{SECONDS}\n")
        cpio(root, output)
    return output


def boot(folder, initramfs, output):
    """(release, {client: {object: {program: Row}}}, whether the guest came to its end)"""
    run = subprocess.run([os.path.join(VM, "boot"), folder, initramfs, output, str(BOOT_SECONDS)])
    with open(output, errors="replace") as f:
        text = f.read().replace("\r", "")
    up = re.search(r"^guest: up (\S+)", text, re.M)
    parts = re.split(r"^client: (\S+)\n", text, flags=re.M)
    rows = {parts[i]: parse(parts[i + 1]) for i in range(1, len(parts) - 1, 2)}
    return up.group(1) if up else None, rows, run.returncode == 0


def compare(suites, objects, clients, peer, work):
    """{suite: (release, Comparison, whether it came to its end) or the reason why not}"""
    reason = why_not()
    if reason:
        return {suite: reason for suite in suites}
    initramfs = pack(work, objects, [("ours", clients[0]), ("theirs", clients[1])])

    def one(suite):
        folder, why = kernel(suite)
        if not folder:
            return suite, why
        own = os.path.join(work, "initramfs." + suite)
        shutil.copy(initramfs, own)
        add_own(suite, folder, own)
        release, rows, ended = boot(folder, own, os.path.join(work, suite))
        os.remove(own)
        cmp = Comparison(peer)
        cmp.add_all(rows.get("ours", {}), rows.get("theirs", {}))
        return suite, (release, cmp, ended)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return dict(pool.map(one, suites))
