"""What the peers' scripts share: folders, and TAP."""
import os
import platform
import sys

SRC = os.environ.get("SRC") or os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BUILD = os.environ.get("BUILD") or os.path.join(SRC, "build")
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"),
                     "perf-bpf", "peers")
ONLY = os.environ.get("PEERS_ONLY", "*")
ARCH = {"x86_64": "x86", "aarch64": "arm64", "s390x": "s390", "ppc64le": "powerpc",
        "riscv64": "riscv"}.get(platform.machine(), platform.machine())


def say(text=""):
    for line in str(text).split("\n"):
        print("# " + line, flush=True)


def skip_all(why):
    print(f"1..0 # SKIP {why}")
    sys.exit(0)


def tap(results):
    """Prints [(whether it is good, name)]; the exit status."""
    print(f"1..{len(results)}")
    for i, (good, name) in enumerate(results, 1):
        print(f"{'ok' if good else 'not ok'} {i} - {name}")
    return 0 if all(good for good, _ in results) else 1
