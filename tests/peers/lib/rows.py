"""What the clients say of programs, and how the libraries differ in it."""
import re
import subprocess

from lib.clients import SECONDS
from lib.judged import OTHER_CODE, judge

NO_PROGRAM = ["", "", "", "no such program", ""]
UPROBE_MULTI = "48"  # BPF_TRACE_UPROBE_MULTI
NO_ANSWER = ("timeout", "skipped")
WHOLE = "(all)"  # the client's name for an object that is loaded as it is


class Row:
    """One program by one of the libraries; of an object that does not open, "(open)"."""

    def __init__(self, fields):
        self.section, self.type, self.attach, self.result = fields[:4]
        self.rest = fields[4:]

    @property
    def loaded(self):
        return self.result == "ok"

    @property
    def code(self):
        """Tag, functions and maps; of lines, ours holds more where macros share one."""
        return self.rest[0], self.rest[1], self.rest[3]

    @property
    def why(self):
        text = self.rest[0] if self.rest else ""
        text = re.sub(r"^(libbpf|libperfbpf): (\S+\.o: )?(program \S+ \([^)]*\): )?", "", text)
        return text.strip()[:200] or f"errno {self.result}"


def parse(text):
    """{object: {program: Row}} of what a client printed."""
    objects, rows = {}, {}
    for line in text.splitlines():
        fields = line.split("\t")
        if fields[0] == "object":
            name = fields[1][:-2] if fields[1].endswith(".o") else fields[1]
            rows = objects.setdefault(name, {})
        elif fields[0] == "program" and len(fields) >= 7:
            rows[fields[1]] = Row(fields[2:])
        elif fields[0] == "open" and len(fields) >= 2:
            rows["(open)"] = Row(["", "", ""] + fields[1:])
    return objects


def left_out(objects):
    """The list, for a client's -x, of what took too long."""
    return "".join(f"{name}.o {program}\n" for name, rows in objects.items()
                   for program, row in rows.items() if row.result == "timeout")


def load(client, paths, leave_out=None):
    """{object: {program: Row}}, tried here; those that leave_out, a file, names are not."""
    argv = [client, "load", "-t", str(SECONDS)]
    if leave_out:
        argv += ["-x", leave_out]
    objects = {}
    for start in range(0, len(paths), 50):
        run = subprocess.run(argv + paths[start:start + 50], capture_output=True, text=True,
                             errors="replace")
        objects.update(parse(run.stdout))
    return objects


def grouped(rows):
    """Lines of rows (object, program, reason): an object's programs of one reason in one."""
    groups = {}
    for name, program, why in rows:
        groups.setdefault((name, why), []).append(program)
    return [f"  {name}: {', '.join(programs)}{': ' + why if why else ''}"
            for (name, why), programs in groups.items()]


def judged(rows):
    """[(title, rows)]: those that only ours loads, by what was found."""
    found = {}
    for row in rows:
        found.setdefault(judge(row[2]), []).append(row)
    return [(f"loaded by ours only: {why or 'not judged'}", found[why])
            for why in sorted(found, key=lambda why: why or "")]


class Comparison:
    def __init__(self, peer):
        self.peer = peer
        self.objects = self.programs = self.both = self.neither = self.same_tag = 0
        self.opened = self.opened_neither = 0
        self.whole_both = self.whole_neither = 0
        self.only_peer, self.only_ours, self.other_type, self.other_code = [], [], [], []
        self.other_whole = []
        self.only_peer_opens, self.only_ours_opens = [], []
        self.broken, self.too_long = [], []

    def add_all(self, ours, theirs):
        for name in sorted(theirs):
            self.add(name, ours.get(name, {"(open)": Row(NO_PROGRAM)}), theirs[name])

    def add(self, name, ours, theirs):
        self.objects += 1
        own_open, their_open = ours.get("(open)"), theirs.get("(open)")
        if own_open and own_open.result.startswith("the client"):
            self.broken.append(f"{name}: {own_open.result}")
        if own_open and not their_open:
            self.only_peer_opens.append((name, "(open)", own_open.why))
        elif their_open and not own_open:
            self.only_ours_opens.append((name, "(open)", f"{self.peer}: {their_open.why}"))
        elif own_open:
            self.opened_neither += 1
        else:
            self.opened += 1
        for program, row in theirs.items():
            if program == WHOLE:
                self.add_whole(name, row, ours.get(program) or own_open or Row(NO_PROGRAM))
            elif program != "(open)":
                self.add_program(name, program, row, ours.get(program) or own_open)

    def add_whole(self, name, row, own):
        if own.result.startswith("signal"):
            self.broken.append(f"{name}: {own.result}")
        if row.result in NO_ANSWER or own.result in NO_ANSWER:
            self.too_long.append((name, WHOLE, ""))
        elif row.loaded and not own.loaded:
            self.only_peer.append((name, WHOLE, own.why))
        elif own.loaded and not row.loaded:
            self.only_ours.append((name, WHOLE, f"{self.peer}: {row.why}"))
        elif not row.loaded:
            self.whole_neither += 1
        else:
            self.whole_both += 1
            if own.rest != row.rest:
                self.other_whole.append((name, WHOLE, "{} programs, {} maps; {}'s {}, {}".format(
                    *own.rest[:2], self.peer, *row.rest[:2])))

    def add_program(self, name, program, row, own):
        self.programs += 1
        own = own or Row(NO_PROGRAM)
        label = f"{program} ({row.section})"
        if own.result.startswith("signal"):
            self.broken.append(f"{name}: {label}: {own.result}")
        if row.result in NO_ANSWER or own.result in NO_ANSWER:
            self.too_long.append((name, label, ""))
        elif row.loaded and not own.loaded:
            self.only_peer.append((name, label, own.why))
        elif own.loaded and not row.loaded:
            self.only_ours.append((name, label, f"{self.peer}: {row.why}"))
        elif row.loaded:
            self.both += 1
            if own.rest[:1] == row.rest[:1]:
                self.same_tag += 1
            if own.code != row.code:
                self.other_code.append((name, label, ""))
        else:
            self.neither += 1
        # What a struct_ops program is for is known once it is loaded.
        if row.type == "27" and not (own.loaded and row.loaded):
            return
        # Of all places of a probe by one link libbpf knows since 1.3.
        if own.section.startswith("usdt") and (own.attach, row.attach) == (UPROBE_MULTI, "0"):
            return
        if (own.section and "-" not in (own.type, row.type) and
                (own.section, own.type, own.attach) != (row.section, row.type, row.attach)):
            self.other_type.append((name, label, f"type {own.type} attach {own.attach}, {self.peer}'s "
                                                 f"type {row.type} attach {row.attach}"))

    def table(self):
        other = len(self.other_type) + len(self.other_whole)
        same = self.both + self.neither + self.whole_both + self.whole_neither - other
        differs = len(self.only_peer) + len(self.only_ours) + other
        lines = [f"same: {same}, differs: {differs}",
                 f"{self.objects} objects: {self.opened} opened by both, "
                 f"{self.opened_neither} by neither, {len(self.only_peer_opens)} by {self.peer} "
                 f"only, {len(self.only_ours_opens)} by ours only",
                 f"{self.programs} programs: {self.both} loaded by both, {self.neither} by "
                 f"neither, {len(self.only_peer)} by {self.peer} only, {len(self.only_ours)} by "
                 f"ours only, {len(self.too_long)} take too long to verify; "
                 f"{self.same_tag} of {self.both} with the same instructions",
                 f"objects as they are: {self.whole_both} loaded by both, {self.whole_neither} "
                 "by neither"]
        for title, rows in ((f"opened by {self.peer} only", self.only_peer_opens),
                            ("opened by ours only", self.only_ours_opens),
                            (f"loaded by {self.peer} only", self.only_peer),
                            *judged(self.only_ours),
                            ("loaded as they are, with other programs or maps", self.other_whole),
                            ("another type or attach type", self.other_type),
                            (f"other instructions, functions or maps ({OTHER_CODE})", self.other_code),
                            (f"skipped: not verified within {SECONDS} s", self.too_long)):
            if rows:
                lines += ["", f"{title}: {len(rows)}"] + grouped(rows)
        return lines
