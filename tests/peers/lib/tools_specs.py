"""How each of BCC's tools is run, and what its two outputs must have in common."""
import dataclasses
import typing

from lib.tools_compare import Rows, Same, Stacks, Sum


@dataclasses.dataclass
class Spec:
    tool: str
    kind: str           # of tests/peers/tools_work.c
    count: int
    args: str           # {pid} is the workload, {work} its program
    same: typing.Any
    disk: bool = False  # it works on a disk with ext4

    @property
    def name(self):
        return f"{self.tool} {self.args}".strip()


MINE = r"\btoolswo(rk)?\b"  # some tools cut names after seven letters

SPECS = [
    Spec("bashreadline", "lines", 10, "", Rows(r": toolswork-", lines="line")),
    Spec("bindsnoop", "tcp", 10, "-p {pid}", Rows(MINE, lines="connection")),
    Spec("biolatency", "direct", 64, "", Sum(least="read"), disk=True),
    Spec("biopattern", "direct", 64, "100",
         Sum(least="read", column=r"^\S+ +\d+ +\d+ +(\d+) +\d+$"), disk=True),
    Spec("biosnoop", "direct", 20, "", Rows(MINE + r".* R ", lines="read"), disk=True),
    Spec("biostacks", "direct", 20, "", Stacks("toolswo", "blk_mq_submit_bio"), disk=True),
    Spec("biotop", "direct", 20, "100 -p {pid}", Rows(MINE), disk=True),
    Spec("bitesize", "direct", 64, "-c toolswork", Sum(nearly="read"), disk=True),
    Spec("cachestat", "files", 20, "100", Same("HITS")),
    Spec("capable", "capable", 20, "-p {pid}", Rows("CAP_SYS_CHROOT", lines="check")),
    Spec("cpudist", "burn", 1, "", Sum()),
    Spec("cpufreq", "burn", 1, "", Same()),
    Spec("drsnoop", "files", 10, "", Same("^TIME")),
    Spec("execsnoop", "exec", 20, "", Rows(r"argument-\d+", lines="exec")),
    Spec("exitsnoop", "exit", 20, "", Rows(MINE + ".*code 3", lines="exit")),
    Spec("filelife", "files", 20, "", Rows(MINE, lines="file")),
    Spec("filetop", "files", 10, "-C -p {pid} 100", Rows(MINE)),
    Spec("fsdist", "files", 20, "-t ext4 -p {pid}", Sum(), disk=True),
    Spec("fsslower", "files", 20, "-t ext4 -m 0 -p {pid}", Rows(MINE), disk=True),
    Spec("funclatency", "function", 100, "{work}:measured_function", Sum(exactly="call")),
    Spec("funclatency", "files", 20, "-p {pid} do_unlinkat", Sum(exactly="file")),
    Spec("futexctn", "futex", 50, "-p {pid}",
         Rows("contended", says="contended {wait} times,", blank=[r"\d+ (avg )?usecs"])),
    Spec("gethostlatency", "names", 10, "-p {pid}", Rows(MINE, lines="resolve")),
    Spec("hardirqs", "sleep", 100, "", Same("HARDIRQ")),
    Spec("javagc", "gc", 20, "-p {pid}", Rows(r"^TIME", lines="collection")),
    Spec("klockstat", "pipe", 50, "-p {pid} -c pipe_", Rows(r"pipe_", blank=[r"[\d.]+ (n|u|m)?s\b"])),
    Spec("ksnoop", "files", 10, "-p {pid} trace do_unlinkat", Rows(r"\S", blank=[r"^\s*\d+ +\d+ "])),
    Spec("llcstat", "burn", 1, "", Same(rf"^PID |^Total |{MINE}")),
    Spec("mdflush", "sleep", 10, "", Same()),
    Spec("memleak", "memory", 32, "-p {pid} 100",
         Rows(r"allocations from stack|leak_memory", says="in {leak} allocations")),
    Spec("mountsnoop", "mounts", 10, "-p {pid}", Rows(r'"toolswork"|umount\(', lines="mount")),
    Spec("numamove", "sleep", 10, "", Same("migrations")),
    Spec("offcputime", "sleep", 100, "-p {pid}", Stacks("schedule", "clock_nanosleep")),
    Spec("oomkill", "sleep", 10, "", Same()),
    Spec("opensnoop", "files", 20, "-p {pid}", Rows(MINE, lines="open")),
    Spec("profile", "burn", 1, "-p {pid}", Stacks("burn_cpu", "toolswork")),
    Spec("readahead", "direct", 20, "", Same("Readahead|usecs"), disk=True),
    Spec("runqlat", "sleep", 100, "-p {pid}", Sum(least="sleep")),
    Spec("runqlen", "burn", 1, "", Sum(column=r"^\s*\d+\s*:\s*(\d+)")),
    Spec("runqslower", "sleep", 100, "-p {pid} 100000", Same("^TIME|Tracing")),
    Spec("sigsnoop", "signals", 20, "-p {pid}", Rows(MINE + r".* 12 .*toolswork", lines="signal")),
    Spec("slabratetop", "files", 20, "-C 100", Same("CACHE")),
    Spec("softirqs", "tcp", 10, "", Same("SOFTIRQ|net_rx")),
    Spec("solisten", "tcp", 10, "-p {pid}", Rows(MINE, lines="connection")),
    Spec("statsnoop", "stat", 20, "-p {pid}", Rows(MINE, lines="stat")),
    Spec("syncsnoop", "sync", 10, "", Rows(MINE, lines="sync")),
    Spec("syscount", "calls", 500, "-p {pid}", Rows("getppid", says="getppid {getppid}")),
    Spec("tcpconnect", "tcp", 10, "-p {pid}", Rows(MINE, lines="connection")),
    Spec("tcpconnlat", "tcp", 10, "-p {pid}", Rows(MINE, lines="connection")),
    Spec("tcplife", "tcp", 10, "-p {pid}", Rows(MINE, lines="end")),
    Spec("tcppktlat", "tcp", 10, "-p {pid}", Rows(MINE)),
    Spec("tcprtt", "tcp", 10, "", Sum(least="connection")),
    Spec("tcpstates", "tcp", 10, "", Rows(MINE)),
    Spec("tcpsynbl", "tcp", 10, "", Sum(least="connection")),
    Spec("tcptop", "tcp", 10, "-C -p {pid} 100", Rows(MINE)),
    Spec("tcptracer", "tcp", 10, "-p {pid}", Rows(MINE)),
    Spec("vfsstat", "files", 20, "100", Same("READ")),
    Spec("wakeuptime", "sleep", 100, "-p {pid}", Stacks("toolswork", "hrtimer_wakeup")),
]


def specs_of(tool):
    """Of a tool that is not in the table: that it runs and looks the same."""
    return [s for s in SPECS if s.tool == tool] or [Spec(tool, "files", 10, "", Same())]
