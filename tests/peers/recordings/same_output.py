# SPDX-License-Identifier: BSD-2-Clause
"""Whether perf and perf-bpf printed the same, and if not, whether all of the difference is one that
is understood.

Each function of DIFFERENCES takes away from both outputs what it is about, and nothing else: the
outputs have to be equal then. So a wrong number beside an understood difference is still found.
"""
import collections
import itertools
import re

Output = collections.namedtuple("Output", "recorder command options lines")

ROW = re.compile(r"^ *\d+\.\d\d%")
BRANCH = re.compile(r"--\d+\.\d\d%--|--\d+--")


def printed_lines(recorder, command, options, text):
    """Without perf's tip, blank comments, blanks at the ends, and what perf takes from memory it
    never wrote: what is behind "[...]". Newer perf has wider columns, names the entries of
    indirect functions in a PLT, where perf 6.1 and perf-bpf print "@plt", and the types of attrs."""
    text = re.sub(r"\n# \((?:Tip|Cannot).*", "\n", text, flags=re.S)
    lines = [line.rstrip() for line in text.split("\n")]
    if command == "report":
        lines = [re.sub(r"\[\.\.\.\].*$", "[...]", line) for line in lines if line not in ("", "#")]
    if recorder == "sid":
        lines = [re.sub(r"[^\s(\[]*@plt", "@plt", line) for line in lines
                 if not re.match(r"^# [ .]*$", line)]
        lines = [re.sub(r"(\w) \(PERF_\w+\)", r"\1", line) for line in lines]
        if command == "script":
            lines = [re.sub(r"  +", " ", line) for line in lines]
    return Output(recorder, command, options, lines)


def narrow(lines):
    return [" ".join(line.split()) for line in lines]


def paths(lines):
    """Each line of call graphs with what is above it in its tree, in any order; the shares of the
    rows, and of the branches of each branch, in their order."""
    stack, found, shares = [], [], collections.defaultdict(list)
    for line in lines:
        text = re.sub(r"^[ |`-]*", "", line)
        column = len(line) - len(text)
        if not text:
            continue
        if ROW.match(line) or line.startswith("#") or not line.startswith(" "):
            stack = []
            shares["rows"].append((re.findall(r"\d+\.\d\d%", line) or [""])[0])
            column = -1
        branch = re.match(r"(\d+(?:\.\d\d%)?)--", text)
        if branch:
            text = text[branch.end():]
            column -= 2.5  # right of its bar, where what it calls may have bars
            while stack and stack[-1][0] >= column:
                stack.pop()
            shares[tuple(words for _, words in stack)].append(branch.group(1))
        else:
            while stack and stack[-1][0] > column:
                stack.pop()
        stack.append((column, " ".join(line.split()) if column < 0 else
                      " ".join([*(branch.groups() if branch else ()), text])))
        found.append(tuple(words for _, words in stack))
    return sorted(found), {key: value for key, value in shares.items() if len(value) > 1}


def blocks(lines):
    """The same of "-g flat" and "-g folded", whose chains are lists: each chain of each row."""
    found, row = [], ""
    for line in lines:
        words = " ".join(line.split())
        if re.match(r"^ *(\d+\.\d\d%)( .*)?$", line) and not re.match(r"^ +\d+\.\d\d%$", line) \
                and line.startswith(" ") or line.startswith("#"):
            row = words
            found.append((row,))
        elif re.match(r"^\s*\d+(\.\d\d%)?$", line) or re.match(r"^\d+(\.\d\d%)? ", line):
            found.append((row, words))
        elif found:
            found[-1] += (words,)
        else:
            found.append((words,))
    return sorted(found)


def without_order(out):
    if re.search(r"-g (flat|folded)", out.options):
        return blocks(out.lines)
    return paths(out.lines)


def without_parameters(line):
    inner = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
    return re.sub(r"(?<=[\w>~\])=*+&|!-])" + inner + r"(?: const)?(?=[\s+;,]|$)", "", line)


def rows_summed(out):
    """Rows of the same text as one, with the sums of their numbers; nothing below rows."""
    sums = {}
    separator = re.search(r"(?:^| )-t ?(\S)", out.options)
    for line in out.lines:
        if not ROW.match(line) or re.match(r"^ {9,}", line):
            continue
        line = re.sub(r"0x[0-9a-f]+ +\S (?=\[)", "", line)  # -v: of one of the samples
        words = (line.replace(separator.group(1), " ") if separator else line).split()
        # "001" is a CPU, which is not summed.
        numbers = list(itertools.takewhile(
            lambda word: re.match(r"^(?!0\d\d$)[\d.]+%?$", word), words))
        label = " ".join(words[len(numbers):])
        old = sums.get(label, [0] * len(numbers))
        sums[label] = [a + float(b.rstrip("%")) for a, b in zip(old, numbers)]
    return sums


def have_same_sums(theirs, ours):
    return theirs.keys() == ours.keys() and \
        all(len(theirs[label]) == len(ours[label]) and
            all(abs(a - b) < 0.05 for a, b in zip(theirs[label], ours[label]))
            for label in theirs)


def has_split_rows(want, got):
    """perf has a row twice that ours has once, and the sums are the same."""
    theirs, ours = rows_summed(want), rows_summed(got)
    def count(out):
        return sum(1 for line in out.lines if ROW.match(line) and not re.match(r"^ {9,}", line))
    return count(want) > count(got) and have_same_sums(theirs, ours)


def without_programs(out):
    """BPF programs, their addresses and what is unknown by one name."""
    name = re.compile(r"\bbpf_prog_[0-9a-f]{16}\w*(?:\+0x[0-9a-f]+)?|\b0xffffffff[0-9a-f]{8}\b")
    return out._replace(lines=narrow(name.sub("[unknown]", line) for line in out.lines))


def has_programs_as_unknown(want, got):
    """The same rows or lines, if samples in BPF programs may have no name."""
    if not any("bpf_prog_" in line for line in got.lines):
        return False
    want, got = without_programs(want), without_programs(got)
    if want.command == "script":
        return want.lines == got.lines
    return have_same_sums(rows_summed(want), rows_summed(got))


def has_other_entries_of_plt(want, got):
    """The same lines, those of entries in a PLT left out, which have more than one name."""
    def rest(out):
        return sorted(re.sub(r"^[ |`-]*(\d+\.\d\d%--|\d+--)?", "", line) for line in out.lines
                      if "@plt" not in line)
    return any("@plt" in line for line in got.lines) and rest(want) == rest(got)


def letters(out):
    return out._replace(lines=[re.sub(r"\[[k.]\]", "[.]", line) for line in out.lines])


def letters_of_unknown(out):
    return out._replace(lines=[re.sub(r"\[[k.]\](?= (?:0x)?[0-9a-f]{16}(?: |$))", "[.]", line)
                               for line in out.lines])


def parameters(out):
    return out._replace(lines=[without_parameters(line) for line in out.lines])


def frame_addresses(out):
    return out._replace(lines=[re.sub(r"^(\s+)[0-9a-f]+( |$)", r"\1\2", line)
                               for line in out.lines])


def widths(out):
    return out._replace(lines=[re.sub(r"^# [ .]*$", "#", " ".join(line.split()))
                               for line in out.lines])


def source_files(out):
    """Lines of the source without their files; offsets, and line 0, as nothing."""
    if out.command == "script" and "srcline" in out.options:
        lines = [re.sub(r"^ *(?:\S.*)?:(\d+)(?=$| \(inlined\)$)", r"  \1", line)
                 for line in out.lines]
        return out._replace(lines=[line for line in lines
                                   if not re.match(r" *(?:0|\S.*\[[0-9a-f]+\])$", line)])
    if not re.search("address|srcline", out.options):
        return out
    lines = [re.sub(r"(?<=\S) (?:\S*:0|\+\d+)(?=;|$)", "", line) for line in out.lines]
    return out._replace(lines=[re.sub(r"(?<=\S) [^\s:;]+:(\d+)(?=;|$)", r" \1", line)
                               for line in lines])


def newer_header(out):
    newer = re.compile(r"# ((?:bpf_prog_info|btf info) empty|e_machine : | *e_flags : |cacheline size: )")
    lines = [line for line in out.lines if not newer.match(line)]
    lines = [re.sub(r", config = 0(?=, )|(?<=, config = )(0x[0-9a-f]+) \([^()]*\)(?=, )", r"\1", line)
             if line.startswith("# event : ") else
             re.sub(r" (CPU_DOMAIN_INFO|E_MACHINE|CLN_SIZE)\b", "", line)
             if line.startswith("# missing features: ") else line
             for line in lines]
    return out._replace(lines=lines)


def features_in_spite_of_q(out):
    if not re.search(r"--header .*-q\b", out.options):
        return out
    return out._replace(lines=[line for line in out.lines if not line.startswith("# ")])


def parameters_of_v(out):
    """With the widths of columns, which the longest name sets."""
    if not re.search(r"(^| )-v\b", out.options):
        return out
    return widths(parameters(out))


def first_blanks(out):
    return out._replace(lines=[line.lstrip(" ") for line in out.lines])


def names_of_the_ended(want, got):
    """":12 12 [000] …" and "dd 12 [000] …": only where perf has no name, and the rest is the same."""
    lines = [list(want.lines), list(got.lines)]
    for i, (a, b) in enumerate(zip(*lines)):
        unnamed = re.match(r"\s*:\d+(?= |$)", a)
        named = re.match(r"\s*[^\s:]\S*(?: \S+)*?(?=" + re.escape(a[unnamed.end():]) + "$)", b) \
            if unnamed else None
        if named:
            lines[0][i], lines[1][i] = a[unnamed.end():], b[named.end():]
    return want._replace(lines=lines[0]), got._replace(lines=lines[1])


def names_of_programs(out):
    """Of BPF programs in a header; perf prints F for those whose BTF it has not read."""
    if "--header" not in out.options:
        return out
    return out._replace(lines=[re.sub(r"(?<=^# \tsub_prog )(\d+: bpf_prog_[0-9a-f]{16})_\w+(?= addr )",
                                      r"\1", line) for line in out.lines])


def both(take_away):
    return lambda want, got: (take_away(want), take_away(got))


ONES = [
    # who is right, why, of which recorder, of which command, what takes it away
    ("neither", "the widths of newer perf's columns", "sid", "report", widths),
    ("neither", "the widths of newer perf's columns", "sid", "script", first_blanks),
    ("neither", 'newer perf also prints "config = 0" of events, the names of tracepoints, and newer '
     "features", "sid", "*", newer_header),
    ("neither", "perf prints the features of a pipe in spite of -q", "*", "report",
     features_in_spite_of_q),
    ("perf", "with -v it prints parameters of C++ functions", "*", "report", parameters_of_v),
    ("ours", "addr2line, which perf asks, takes the file of code without lines from the symbol "
     "table, and another file than gdb for inlined code of DWARF 5", "*", "*", source_files),
    ("ours", "newer perf prints [.] for kernel functions that it first met as callers", "sid",
     "report", letters),
    ("neither", "the letter of an address that no file holds is that of the frame before it in the "
     "sample that perf's search tree kept", "*", "report", letters_of_unknown),
    ("neither", "newer perf prints parameters of C++ functions", "sid", "*", parameters),
    ("ours", "perf prints the header of a pipe before it has read the names of BPF programs", "ours",
     "*", names_of_programs),
    ("neither", "in call chains newer perf prints the address as recorded, 6.1 the one in the file",
     "sid", "script", frame_addresses),
]
# It compares lines in pairs, so that it may need what takes lines away.
ENDED = ("ours", "newer perf forgets the name of a process whose EXIT comes before its last samples",
         "sid", "script", names_of_the_ended)
DIFFERENCES = [(*one[:4], both(one[4])) for one in ONES] + [ENDED]
WIDTHS = DIFFERENCES[0]
PLT = "newer perf has a name for each entry of indirect functions in a PLT, 6.1 one for all"
ORDER = "perf orders branches of equal shares by the places of DSOs in its memory"
SPLIT = "perf has one function in two rows, as its search tree misses what it has"


def judge_outputs(want, got):
    """("same" | "ours" | "perf" | "neither" | None, why); None: a difference of another kind"""
    if want.lines == got.lines:
        return "same", ""
    able = [d for d in DIFFERENCES
            if d[2] in ("*", want.recorder) and d[3] in ("*", want.command)
            and (d is ENDED or d[4](want, got) != (want, got))]
    has_tree = want.command == "report" and "-D" not in want.options.split()
    for n in range(len(able) + 1):
        for some in itertools.combinations(able, n):
            a, b = want, got
            for difference in some:
                a, b = difference[4](a, b)
            who = next((who for who in ("perf", "neither") if who in [d[0] for d in some]), "ours")
            why = [d[1] for d in some]
            if a.lines == b.lines:
                return who, "; ".join(why)
            if has_tree and WIDTHS not in some:
                if without_order(a) == without_order(b):
                    return "neither", "; ".join([*why, ORDER])
                if want.recorder == "sid" and has_other_entries_of_plt(a, b):
                    return "neither", "; ".join([*why, PLT])
                if has_split_rows(a, b):
                    return "ours", "; ".join([*why, SPLIT])
    return None, ""


def first_difference(want, got):
    for a, b in itertools.zip_longest(want.lines, got.lines, fillvalue="(end)"):
        if a != b:
            return f"perf: {a[:100]} | ours: {b[:100]}"
    return ""
