"""Run inside gdb (-x): what the variables are at the first hits of each probe point, as gdb reads
them, and as the places of perf-bpf say ("perf-bpf probe --json"), of the same stopped process.

$PLAN is a JSON file: {"program", "args", "input", "base", "hits", "points": [{"address",
"function", "inlined", "slots", "args": [[name, place]], "globals": [name]}], "main", "environment",
"out"}. Writes one line
of JSON per hit: the point, the number of the hit from 0, "values" (of gdb: {"int"}, {"float"},
{"bytes"}, {"text"}, {"gone"} or {"skip"}), and "ours", bytes. Bytes are hexadecimal; those that are
not known are "..". An argument NAME__text is the string that the variable NAME is.

random: what the kernel gives the process to make its canaries of, as it was in another run.
where: the first line says at which address that is, and where the stack is when main() begins.

slots: the variables are in the frame for all of the function, and its prologue stores them: gdb
is asked when that is done.
"""
import json
import os
import re
import struct

import gdb

MOST_BYTES = 256


def plain(type_):
    return type_.strip_typedefs().unqualified()


def describe(value):
    """A value as JSON, comparable with that of perf-bpf."""
    if value.is_optimized_out:
        return {"gone": "optimized out"}
    type_ = plain(value.type)
    if type_.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        return describe(value.referenced_value())
    if type_.code == gdb.TYPE_CODE_FLT:
        if type_.sizeof > 8:
            return {"skip": "wide float"}
        return {"float": float(value), "size": type_.sizeof}
    if type_.code == gdb.TYPE_CODE_FUNC:
        return {"skip": "a function, whose size gdb does not know"}
    if type_.code == gdb.TYPE_CODE_BOOL and int(value) not in (0, 1):
        return {"skip": "no boolean was stored there yet"}
    if type_.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_ENUM,
                      gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_CHAR):
        if type_.sizeof > 8:
            return {"skip": "wide integer"}
        return {"int": int(value), "size": type_.sizeof}
    if type_.sizeof > MOST_BYTES or not type_.sizeof:
        return {"skip": "large"}
    if value.address is None:
        out = [".."] * type_.sizeof
        spread(value, type_, 0, out)
        return {"bytes": "".join(out)}
    data = gdb.selected_inferior().read_memory(int(value.address), type_.sizeof)
    return {"bytes": bytes(data).hex()}


def spread(value, type_, at, out):
    """The bytes of a value in registers, or in several pieces, member by member."""
    type_ = plain(type_)
    try:
        if type_.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
            for field in type_.fields():
                if hasattr(field, "bitpos") and not field.bitsize and not field.artificial:
                    spread(value[field], field.type, at + field.bitpos // 8, out)
            return
        if type_.code == gdb.TYPE_CODE_ARRAY:
            low, high = type_.range()
            size = plain(type_.target()).sizeof
            for i in range(low, high + 1):
                spread(value[i], type_.target(), at + (i - low) * size, out)
            return
        if value.is_optimized_out:
            return
        if type_.code == gdb.TYPE_CODE_FLT:
            data = struct.pack("<f" if type_.sizeof == 4 else "<d", float(value))
        else:
            data = (int(value) & (1 << 8 * type_.sizeof) - 1).to_bytes(type_.sizeof, "little")
    except (gdb.error, ValueError, TypeError, struct.error, OverflowError):
        return
    out[at:at + len(data)] = [f"{byte:02x}" for byte in data]


MOST_TEXT = 120


def text_at(address):
    """The string there, hexadecimal, or its beginning."""
    out = b""
    while len(out) < MOST_TEXT:
        byte = memory(address + len(out), 1)
        if byte == b"\0":
            break
        out += byte
    return out.hex()


def text_of(value):
    type_ = plain(value.type)
    if type_.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        return text_of(value.referenced_value())
    try:
        if type_.code == gdb.TYPE_CODE_STRUCT:
            value = value["_M_dataplus"]["_M_p"]
        return {"text": text_at(int(value.address if type_.code == gdb.TYPE_CODE_ARRAY else value))}
    except (gdb.error, Unreadable, ValueError, TypeError) as e:
        return {"gone": str(e)}


def own_name(name):
    """Without scopes, parameters and the arguments of templates."""
    if "operator" in name:
        return name
    name = name.replace("(anonymous namespace)", "{}").split("(")[0]
    while "<" in name and re.search(r"<[^<>]*>", name):
        name = re.sub(r"(::)?<[^<>]*>", "", name)
    return name.split("::")[-1]


def blocks_of(pc, point):
    """The blocks at the point that belong to its function, innermost first."""
    block = gdb.block_for_pc(pc)
    own, found = [], False
    while block and not block.is_static and not block.is_global:
        own.append(block)
        function = block.function
        if function is not None:
            linkage = function.linkage_name
            is_outer = True
            above = block.superblock
            while above and not above.is_static and not above.is_global:
                if above.function is not None:
                    is_outer = False
                above = above.superblock
            wanted = point["inlined"]
            if wanted:
                found = linkage == wanted or own_name(function.name) == own_name(wanted)
            else:
                # A function within a function has blocks of its own, elsewhere.
                own_symbol = re.sub(r"\.(\d|constprop|isra|part|cold).*", "", point["function"])
                found = is_outer or linkage == own_symbol
            if found:
                return own
            own = []
        block = block.superblock
    return []


def frame_of(blocks):
    """The frame, maybe an inlined one, that is an instance of the blocks' function."""
    frame = gdb.newest_frame()
    function = blocks[-1].function
    first = frame
    while frame is not None:
        own = frame.function()
        if own is not None and own.name == function.name:
            return frame
        if frame.type() != gdb.INLINE_FRAME:
            break
        frame = frame.older()
    return None if first.type() == gdb.INLINE_FRAME else first


def variables(point, pc):
    blocks = blocks_of(pc, point)
    if not blocks:
        return None
    frame = frame_of(blocks)
    if frame is None:
        return None
    frame.select()
    seen = {}
    wanted = {name for name, _ in point["args"]}
    for block in blocks:
        names = [symbol.name for symbol in block]
        for symbol in block:
            if not (symbol.is_variable or symbol.is_argument) or symbol.name in seen:
                continue
            if names.count(symbol.name) > 1:  # those of a parameter pack
                seen[symbol.name] = {"skip": "two of this name"}
                continue
            read(seen, symbol, frame, wanted)
    for name in point.get("globals", []):
        # Of a header's static variable each unit has one, and an inline function is of several.
        several = len(gdb.lookup_static_symbols(name)) > 1
        symbol = None if name in seen or several else gdb.lookup_symbol(name, blocks[0])[0]
        if symbol is not None and symbol.is_variable:
            read(seen, symbol, frame, wanted)
    return seen


def read(seen, symbol, frame, wanted):
    """What gdb has of a variable, and of the string that it is."""
    # Of a variable in a namespace gdb's name has the scopes.
    name = symbol.name.split("::")[-1]
    try:
        value = symbol.value(frame) if symbol.needs_frame else symbol.value()
        seen[name] = describe(value)
        if name + "__text" in wanted:
            seen[name + "__text"] = text_of(value)
    except gdb.MemoryError as e:
        seen[name] = {"gone": f"memory: {e}"}
    except (gdb.error, ValueError, TypeError) as e:
        seen[name] = {"gone": str(e)}


# ---- the places of perf-bpf ----

REGISTERS = {name: "r" + name for name in ("ax", "bx", "cx", "dx", "si", "di", "bp", "sp", "ip")}
ARGUMENTS = ("rdi", "rsi", "rdx", "rcx", "r8", "r9")
ALL = (1 << 64) - 1


class Unreadable(Exception):
    pass


def register(name):
    return int(gdb.newest_frame().read_register(REGISTERS.get(name, name))) & ALL


def memory(address, size):
    try:
        return bytes(gdb.selected_inferior().read_memory(address & ALL, size))
    except gdb.MemoryError as e:
        raise Unreadable(str(e)) from e


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def with_offset(token):
    """("di", 0x18) of "di+0x18"."""
    m = re.fullmatch(r"(\w+?)([+-](?:0x)?[0-9a-f]+)?", token)
    return m.group(1), int(m.group(2), 0) if m.group(2) else 0


def binary(op, a, b):
    x, y = signed(a), signed(b)
    return {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b,
            "/": lambda: int(x / y) if y else 0, "%": lambda: a % b if b else 0,
            "&": lambda: a & b, "|": lambda: a | b, "^": lambda: a ^ b,
            "<<": lambda: a << b if b < 64 else 0, ">>": lambda: a >> b if b < 64 else 0,
            ">>a": lambda: x >> min(b, 63), "==": lambda: x == y, "!=": lambda: x != y,
            "<": lambda: x < y, "<=": lambda: x <= y, ">": lambda: x > y,
            ">=": lambda: x >= y}[op]() & ALL


OPERATORS = ("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", ">>a", "==", "!=", "<", "<=", ">", ">=")


def run_tokens(tokens, base):
    """The stack machine of probe/fetch, as fetch_value_text() writes it."""
    stack, i = [], 0
    while i < len(tokens):
        token = tokens[i]
        i += 1
        if token == "→":
            if tokens[i] == "user":
                i += 1
            stack[-1] = int.from_bytes(memory(stack[-1], int(tokens[i][1:]) // 8), "little")
            i += 1
        elif token.startswith("%") and len(token) > 1:
            name, more = with_offset(token[1:])
            stack.append((register(name) + more) & ALL)
        elif token in OPERATORS:
            b, a = stack.pop(), stack.pop()
            stack.append(binary(token, a, b))
        elif re.fullmatch(r"arg\d+", token):
            n = int(token[3:]) - 1
            stack.append(register(ARGUMENTS[n]) if n < 6 else int.from_bytes(
                memory(register("sp") + 8 * (n - 5), 8), "little"))
        elif token.startswith("image+"):
            stack.append(base + int(token[6:], 0) & ALL)
        elif re.fullmatch(r"[+-](0x)?[0-9a-f]+", token) and stack:
            stack[-1] = stack[-1] + int(token, 0) & ALL
        elif re.fullmatch(r"-?(0x)?[0-9a-f]+", token):
            stack.append(int(token, 0) & ALL)
        elif re.fullmatch(r"s(8|16|32|64)", token):
            bits = int(token[1:])
            low = stack[-1] & (1 << bits) - 1
            stack[-1] = (low - (1 << bits) if low >> bits - 1 else low) & ALL
        elif token in ("neg", "~"):
            stack[-1] = (-stack[-1] if token == "neg" else ~stack[-1]) & ALL
        elif token == "dup":
            stack.append(stack[-1])
        elif token == "drop":
            stack.pop()
        elif token == "swap":
            stack[-1], stack[-2] = stack[-2], stack[-1]
        elif token == "rot":
            stack[-1], stack[-2], stack[-3] = stack[-2], stack[-3], stack[-1]
        elif token.startswith("pick"):
            stack.append(stack[-1 - int(token[4:])])
        else:
            raise ValueError(f"unknown token {token}")
    return stack[-1]


def place_value(place, base, size):
    """size bytes of a place; None: not one that can be compared. A negative literal right behind
    another value would read as an offset; there is none in what compilers write."""
    counted = re.fullmatch(r"(.*) → (user )?string of length (.*) u64", place)
    if counted:
        data = memory(run_tokens(counted.group(1).split(), base),
                      min(run_tokens(counted.group(3).split(), base), MOST_TEXT))
        return data.split(b"\0")[0].hex()
    out, done, lost = 0, 0, []
    for piece in place.split(" | "):
        gone = re.fullmatch(r"optimized out( bits (\d+)-(\d+))?", piece)
        if gone:
            bits = int(gone.group(3)) - int(gone.group(2)) + 1 if gone.group(1) else size * 8 - done
            lost.append((done, done + bits))
            done += bits
            continue
        m = re.fullmatch(r"(.*?) ?(→ )?(user )?(ptr|bool|char|enum|string|[usf]\d+|bytes\[\d+\])"
                         r"( bits (\d+)-(\d+))?", piece)
        if not m:
            return None
        if m.group(4) == "string":
            return text_at(run_tokens(m.group(1).split(), base))
        first = int(m.group(6)) if m.group(5) else 0
        bits = int(m.group(7)) - first + 1 if m.group(5) else size * 8 - done
        bits = min(bits, size * 8 - done)
        value = run_tokens(m.group(1).split(), base)
        if m.group(2):
            data = memory(value + first // 8, (first % 8 + bits + 7) // 8)
            value = int.from_bytes(data, "little") >> first % 8
        else:
            value >>= first
        out |= (value & (1 << bits) - 1) << done
        done += bits
    if done < size * 8:
        return None
    data = [f"{byte:02x}" for byte in (out & (1 << size * 8) - 1).to_bytes(size, "little")]
    for first, end in lost:
        data[first // 8:-(-end // 8)] = [".."] * (-(-end // 8) - first // 8)
    return "".join(data[:size])


def size_of(value):
    return len(value["bytes"]) // 2 if "bytes" in value else value.get("size", 1)


def ours_with_sizes(point, base, sizes):
    gdb.newest_frame().select()
    found = {}
    for name, place in point["args"]:
        size = sizes.get(name.removesuffix("__at"))
        # What was kept at the entry is gone; recorded values are compared.
        if not size or not place or "@entry" in place:
            continue
        try:
            found[name] = place_value(place, base, size)
        except Unreadable as e:
            found[name] = {"unreadable": str(e)}
        except (ValueError, IndexError, AttributeError, OverflowError) as e:
            found[name] = {"broken": f"{type(e).__name__} {e}: {place}"}
    return found


class Point(gdb.Breakpoint):
    def __init__(self, plan, number, out):
        self.point = plan["points"][number]
        self.index, self.out, self.left = number, out, plan["hits"]
        self.seen = 0
        self.left_out = False  # the last hit was
        self.base = plan["base"]
        self.pc = plan["base"] + self.point["address"]
        super().__init__(f"*{self.pc:#x}", internal=True)
        self.silent = True

    def after_prologue(self):
        """Where the function's variables are in their slots; None: here."""
        if not self.point.get("slots"):
            return None
        function = gdb.block_for_pc(self.pc)
        while function and function.function is None:
            function = function.superblock
        if not function or function.start != self.pc:
            return None
        # The second row of the function, as gdb itself takes it.
        rows = sorted({row.pc for row in function.function.symtab.linetable()
                       if self.pc < row.pc < function.end})
        return rows[0] if rows else None

    def runs_again(self, again):
        """Go: the runtime asked for a switch, which the function's entry sees and begins again. It
        may ask while gdb looks: then this is the second time."""
        if not self.point.get("preempted"):
            return False
        if memory(register("r14") + 16, 8) == struct.pack("<q", self.point["preempted"]):
            self.left_out = True
            return True
        taken, self.left_out = not self.left_out, False
        return again and taken

    def take(self, again):
        if self.runs_again(again):
            return
        self.seen += 1
        if "args" not in self.point:
            self.out.write(json.dumps({"point": self.index}) + "\n")
        else:
            sizes = {n: 8 for n, _ in self.point["args"]}
            pc = self.pc
            behind = self.after_prologue()
            # First ours, of all sizes that there may be: the process goes on.
            early = {size: ours_with_sizes(self.point, self.base, {n: size for n in sizes})
                     for size in (1, 2, 4, 8)} if behind else None
            if behind:
                stop = gdb.Breakpoint(f"*{behind:#x}", internal=True, temporary=True)
                stop.silent = True
                gdb.execute("continue")
                if not gdb.selected_inferior().pid or gdb.newest_frame().pc() != behind:
                    return
                pc = behind
            values = variables(self.point, pc)
            if values is None:
                values, early = {}, None
            sizes = {n: size_of(v) for n, v in values.items() if "gone" not in v and "skip" not in v}
            if early:
                ours = {n: early[size][n] for n, size in sizes.items()
                        if size in early and n in early[size]}
            else:
                ours = ours_with_sizes(self.point, self.base, sizes)
            self.out.write(json.dumps({"point": self.index, "hit": self.seen - 1, "values": values,
                                       "ours": ours}) + "\n")
        self.left -= 1
        if not self.left:
            self.enabled = False


def main():
    with open(os.environ["PLAN"], encoding="utf-8") as f:
        plan = json.load(f)
    for command in ("pagination off", "confirm off", "disable-randomization on",
                    " ".join(["exec-wrapper env -i", *plan["environment"]]), "breakpoint always-inserted on"):
        gdb.execute("set " + command)
    gdb.execute("file " + plan["program"])
    with open(plan["out"], "w", encoding="utf-8") as out:
        # The program is mapped only when it has begun.
        gdb.execute(f"starti {plan['args']} < {plan['input']} > /dev/null 2>&1")
        at = re.search(r"AT_RANDOM.*(0x[0-9a-f]+)", gdb.execute("info auxv", to_string=True))
        at = int(at.group(1), 16)
        if plan.get("random"):
            gdb.selected_inferior().write_memory(at, bytes.fromhex(plan["random"]))
        elif plan.get("where"):
            # A static program begins there.
            if gdb.newest_frame().name() != plan["main"]:
                gdb.Breakpoint("*" + plan["main"], internal=True, temporary=True).silent = True
                gdb.execute("continue")
            out.write(json.dumps({"random": at, "stack": register("sp")}) + "\n")
        by_pc = {}
        for i in range(len(plan["points"])):
            point = Point(plan, i, out)
            by_pc.setdefault(point.pc, []).append(point)
        gdb.execute("continue")
        last = None
        while gdb.selected_inferior().pid:
            pc = gdb.newest_frame().pc()
            now = [register(name) for name in ("ip", "sp")]
            again, last = now == last, now
            # Those that go on to behind the prologue come last; there may be points, too.
            for point in sorted(by_pc.get(pc, []), key=lambda p: bool(p.point.get("slots"))):
                if point.enabled and gdb.selected_inferior().pid and gdb.newest_frame().pc() == pc:
                    point.take(again)
            if gdb.selected_inferior().pid and gdb.newest_frame().pc() == pc:
                gdb.execute("continue")


try:
    main()
except gdb.error as e:
    print("gdb_values:", e)
