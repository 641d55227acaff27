#!/usr/bin/env python3
"""Writes a random C program that tells the true values of its functions' arguments.

    generate.py SEED DIR [--mutate-inlined]

makes in DIR:

    prog.c      the program: structs, bit fields, arrays, inlining, calls
    truth.c     what it prints with; compile it with any options, without -g
    points      a line for each point: "NUMBER KIND DEFINITION"

Compile both into one program and run it. On stdout it prints, for each pass of
a point, a line for each of the definition's arguments:

    POINT ID ARG VALUE

POINT is the number in points; ID the value of the argument "id" in that pass,
a random number by which a hit is recognised; ARG the argument's place in the
definition, from 0. VALUE is 16 hexadecimal digits, a number extended to 64 bits
as C converts it to long long (compare the bits that the variable has); "s:" and
the bytes of a string; "b:" and the bytes of an array or a struct.

KIND is entry, line or return. Points of kind return have one argument,
$retval, and no id: it is that of the entry of the same call. A line for the
passes of a function that was never called is not there. Definitions lack
exec=. A function may be inlined, its arguments optimised out: the definition
then has several points, or obstacles; but what is read is what is printed.

--mutate-inlined: functions that may be inlined change their parameters in
their first statements too. clang's location lists do not tell the value at the
copy's entry then; gcc's do.
"""
import argparse
import os
import random

INTS = [("signed char", 1), ("unsigned char", 1), ("short", 2), ("unsigned short", 2),
        ("int", 4), ("unsigned int", 4), ("long", 8), ("unsigned long", 8)]


class Leaf:
    """A number: text declares NAME."""

    def __init__(self, text, kind="int"):
        self.text = text
        self.kind = kind

    def declare(self, name):
        return f"{self.text} {name}"

    def random(self):
        if self.kind == "bool":
            return "(rnd() & 1)"
        if self.kind == "enum":
            return "(enum color)(rnd() % 3)"
        if self.kind == "float":
            return f"({self.text})((int)rnd() % 1000 * 0.5)"
        return f"({self.text})rnd64()"


class String:
    kind = "string"

    def declare(self, name):
        return f"const char *{name}"

    def random(self):
        return "strings[rnd() % 4]"


class Struct:
    kind = "struct"

    def __init__(self, name, fields, solid=False):
        self.name = name
        self.fields = fields  # (name, type, bits or None)
        self.solid = solid  # no padding: may be compared as bytes

    def declare(self, name):
        return f"struct {self.name} {name}"

    def random(self):
        return f"some_{self.name}()"


class Union:
    """An anonymous union of a number that is written and one that is read over it."""
    kind = "union"

    def __init__(self, first, second):
        self.first = first
        self.second = second


class Array:
    kind = "array"

    def __init__(self, element, dims):
        self.element = element
        self.dims = dims

    def declare(self, name):
        return self.element.declare(name + "".join(f"[{d}]" for d in self.dims))


class Chars:
    kind = "chars"

    def __init__(self, n):
        self.n = n

    def declare(self, name):
        return f"char {name}[{self.n}]"


class Pointer:
    kind = "pointer"

    def __init__(self, to):
        self.to = to

    def declare(self, name):
        return f"{self.to.declare('*' + name)}"

    def random(self):
        if isinstance(self.to, Struct):
            return f"&pool_{self.to.name}[rnd() & 3]"
        return "&numbers[rnd() & 7]"


class Generator:
    def __init__(self, seed, mutate_inlined):
        self.r = random.Random(seed)
        self.mutate_inlined = mutate_inlined
        self.structs = []
        self.lines = []
        self.points = []
        self.functions = []

    def number(self):
        x = self.r.random()
        if x < 0.08:
            return Leaf("_Bool", "bool")
        if x < 0.16:
            return Leaf("enum color", "enum")
        if x < 0.22:
            return Leaf("char")
        return Leaf(self.r.choice(INTS)[0])

    def make_struct(self, index):
        r = self.r
        name = f"s{index}"
        if index == 0 or r.random() < 0.25:  # small, without padding
            element = Leaf(r.choice([i for i in INTS if i[1] >= 2])[0])
            size = dict(INTS)[element.text]
            n = r.randint(1, 16 // size)
            return Struct(name, [(f"m{i}", element, None) for i in range(n)], solid=True)
        fields = []
        for i in range(r.randint(2, 7)):
            x = r.random()
            if x < 0.2:
                base, size = r.choice(INTS)
                for k in range(r.randint(1, 4)):
                    width = r.randint(1, min(size * 8, 40))
                    fields.append((f"b{i}_{k}", Leaf(base), width))
            elif x < 0.3:
                fields.append((f"m{i}", Array(self.number(), [r.randint(1, 4)]), None))
            elif x < 0.36:
                fields.append((f"m{i}", Array(Leaf(r.choice(INTS)[0]), [2, r.randint(2, 3)]), None))
            elif x < 0.42:
                fields.append((f"m{i}", Chars(r.randint(4, 12)), None))
            elif x < 0.48:
                fields.append((f"m{i}", String(), None))
            elif x < 0.6 and self.structs:
                fields.append((f"m{i}", Pointer(r.choice(self.structs)), None))
            elif x < 0.7 and self.structs:
                fields.append((f"m{i}", r.choice(self.structs), None))
            elif x < 0.75 and self.structs:
                fields.append((f"m{i}", Array(r.choice(self.structs), [2]), None))
            elif x < 0.8:
                fields.append((f"u{i}", Union(Leaf("unsigned long"), Leaf("short")), None))
            elif x < 0.84:
                fields.append((f"m{i}", Leaf(r.choice(["float", "double"]), "float"), None))
            else:
                fields.append((f"m{i}", self.number(), None))
        return Struct(name, fields)

    def leaves(self, path, type_, depth=0):
        """(path, kind) of all that can be read from a path."""
        if isinstance(type_, Leaf):
            return [(path, type_.kind)]
        if isinstance(type_, String):
            return [(path, "string")]
        if isinstance(type_, Chars):
            return [(path, "string")]
        if isinstance(type_, Array):
            index = "".join(f"[{self.r.randrange(d)}]" for d in type_.dims)
            found = self.leaves(path + index, type_.element, depth)
            if isinstance(type_.element, Leaf) and len(type_.dims) == 1:
                found.append((path, "bytes"))
            return found
        if isinstance(type_, Pointer):
            if depth > 3 or not isinstance(type_.to, Struct):
                return [(path, "int")]
            return [(path, "int")] + self.members(path + "->", type_.to, depth + 1)
        if isinstance(type_, Struct):
            found = self.members(path + ".", type_, depth + 1)
            if type_.solid:
                found.append((path, "bytes"))
            return found
        return []

    def members(self, prefix, struct, depth):
        found = []
        for name, type_, bits in struct.fields:
            if isinstance(type_, Union):
                found.append((prefix + name + "a", "int"))
                found.append((prefix + name + "b", "int"))
            elif bits:
                found.append((prefix + name, "int"))
            else:
                found += self.leaves(prefix + name, type_, depth)
        return found

    def out(self, line):
        self.lines.append(line)

    def emit_structs(self):
        for i in range(self.r.randint(4, 7)):
            self.structs.append(self.make_struct(i))
        for s in self.structs:
            self.out(f"struct {s.name} {{")
            for name, type_, bits in s.fields:
                if isinstance(type_, Union):
                    self.out(f"\tunion {{ {type_.first.declare(name + 'a')}; "
                             f"{type_.second.declare(name + 'b')}; }};")
                elif bits:
                    self.out(f"\t{type_.declare(name)} : {bits};")
                else:
                    self.out(f"\t{type_.declare(name)};")
            self.out("};")
            self.out(f"static struct {s.name} pool_{s.name}[4];")
        for s in self.structs:
            self.out(f"static __attribute__((noinline)) void fill_{s.name}(struct {s.name} *p)")
            self.out("{")
            self.out("\tmemset(p, 0, sizeof(*p));")
            self.fill("p->", s)
            self.out("}")
            self.out(f"static __attribute__((noinline)) struct {s.name} some_{s.name}(void)")
            self.out("{")
            self.out(f"\treturn pool_{s.name}[rnd() & 3];")
            self.out("}")

    def fill(self, prefix, struct):
        for name, type_, bits in struct.fields:
            self.fill_one(prefix + name, type_)

    def fill_one(self, path, type_):
        if isinstance(type_, Union):
            self.out(f"\t{path}a = rnd64();")
        elif isinstance(type_, Chars):
            self.out(f"\tsnprintf({path}, {type_.n}, \"%x\", rnd());")
        elif isinstance(type_, Array):
            count = 1
            for d in type_.dims:
                count *= d
            for i in range(count):
                rest, index = i, ""
                for d in reversed(type_.dims):
                    index = f"[{rest % d}]" + index
                    rest //= d
                self.fill_one(path + index, type_.element)
        elif isinstance(type_, Struct):
            self.out(f"\t{path} = {type_.random()};")
        else:
            self.out(f"\t{path} = {type_.random()};")

    # ---- points ----

    def point(self, kind, place, args):
        number = len(self.points)
        self.points.append((number, kind, place, args))
        return number

    @staticmethod
    def record(number, index, path, kind, ident):
        if kind == "string":
            return f"rec_string({number}, {ident}, {index}, {path});"
        if kind == "bytes":
            return f"rec_bytes({number}, {ident}, {index}, &{path}, sizeof({path}));"
        if kind == "float":
            return f"rec_float({number}, {ident}, {index}, {path}, sizeof({path}));"
        return f"rec({number}, {ident}, {index}, (long long)({path}));"

    @staticmethod
    def argument(index, path, kind):
        return f"a{index}={path}" + (":string" if kind == "string" else "")

    def choose(self, leaves, most):
        r = self.r
        leaves = [l for l in leaves]
        r.shuffle(leaves)
        return leaves[:r.randint(1, most)]

    # ---- functions ----

    def param_type(self):
        x = self.r.random()
        if x < 0.45:
            return self.number()
        if x < 0.7:
            return Pointer(self.r.choice(self.structs))
        if x < 0.82:
            return self.r.choice(self.structs)
        if x < 0.9:
            return String()
        if x < 0.95:
            return Pointer(Leaf("long"))
        return Leaf(self.r.choice(["float", "double"]), "float")

    def return_type(self):
        x = self.r.random()
        if x < 0.5:
            return self.number()
        if x < 0.65:
            return Pointer(self.r.choice(self.structs))
        if x < 0.85:
            return self.r.choice(self.structs)
        if x < 0.92:
            return String()
        return None

    def plan_functions(self):
        r = self.r
        for i in range(r.randint(8, 14)):
            attribute = r.choice(["static inline ", "static inline ", "static ", "static ",
                                  "static __attribute__((noinline)) ",
                                  "__attribute__((noinline)) ", "__attribute__((noinline)) "])
            params = [("id", Leaf("unsigned int"))]
            for k in range(r.randint(0, 7)):
                params.append((f"p{k}", self.param_type()))
            if r.random() < 0.3:
                r.shuffle(params)
            leaves = []
            for name, type_ in params:
                if name != "id":
                    leaves += self.leaves(name, type_)
            for s in r.sample(self.structs, min(2, len(self.structs))):
                leaves += self.leaves(f"global_{s.name}", s)[:4]
            leaves += [("counter", "int"), ("shared", "int")]
            self.functions.append({
                "name": f"f{i}",
                "attribute": attribute,
                "params": params,
                "returns": self.return_type(),
                "args": [("id", "int")] + self.choose(leaves, 8),
                "can_mutate": "noinline" in attribute,
            })
        for f in self.functions:
            args = " ".join(self.argument(k, p, kind) for k, (p, kind) in enumerate(f["args"]))
            f["entry"] = self.point("entry", f["name"], args)
            f["return"] = None
            returns = f["returns"]
            if returns is None:
                continue
            path, kind = "$retval", "int"
            if isinstance(returns, Struct):
                found = [l for l in self.leaves("R", returns) if l[1] != "float"]
                if not found:
                    continue
                path, kind = self.r.choice(found)
                f["return_path"] = path[1:]
                path = "$retval" + path[1:]
            elif isinstance(returns, String):
                kind = "string"
            f["return_kind"] = kind
            f["return"] = self.point("return", f["name"] + "%return", self.argument(0, path, kind))

    def signature(self, f):
        params = ", ".join(t.declare(n) for n, t in f["params"])
        returns = f["returns"]
        text = f"{f['name']}({params})"
        return f["attribute"] + (f"void {text}" if returns is None else returns.declare(text))

    def expression(self, names):
        r = self.r
        if not names:
            return str(r.randint(-99, 99))
        a = r.choice(names)
        x = r.random()
        if x < 0.3:
            return f"{a} + {r.randint(1, 50)}"
        if x < 0.5:
            return f"({a} ^ {r.choice(names)})"
        if x < 0.6:
            return f"{a} * {r.randint(2, 9)}"
        if x < 0.7:
            return f"({a} >> {r.randint(1, 5)})"
        if x < 0.8:
            return f"-(long){a}"
        return f"({a} & {r.choice(names)}) - {r.randint(0, 9)}"

    def call(self, callee, tag, indent, names):
        """Statements that call a function and tell what it is given."""
        r, t = self.r, "\t" * indent
        self.out(f"{t}{{")
        self.out(f"{t}\tunsigned int id{tag} = rnd();")
        actual = {}
        for name, type_ in callee["params"]:
            if name == "id":
                actual[name] = f"id{tag}"
                continue
            local = f"{name}_{tag}"
            value = type_.random()
            if isinstance(type_, Leaf) and type_.kind == "int":
                x = r.random()
                if x < 0.2:
                    value = f"({type_.text}){r.randint(-128, 127)}"
                elif x < 0.4 and names:
                    value = f"({type_.text})({self.expression(names)})"
            self.out(f"{t}\t{type_.declare(local)} = {value};")
            actual[name] = local
        for k, (path, kind) in enumerate(callee["args"]):
            self.out(t + "\t" + self.record(callee["entry"], k, self.substitute(path, actual), kind,
                                            f"id{tag}"))
        given = ", ".join(actual[name] for name, _ in callee["params"])
        returns = callee["returns"]
        if returns is None:
            self.out(f"{t}\t{callee['name']}({given});")
        else:
            self.out(f"{t}\t{returns.declare('r' + tag)} = {callee['name']}({given});")
            if callee["return"] is not None:
                path = f"r{tag}" + callee.get("return_path", "")
                self.out(t + "\t" + self.record(callee["return"], 0, path, callee["return_kind"],
                                                f"id{tag}"))
            else:
                self.out(f"{t}\t(void)r{tag};")
        self.out(f"{t}}}")

    @staticmethod
    def substitute(path, actual):
        end = 0
        while end < len(path) and (path[end].isalnum() or path[end] == "_"):
            end += 1
        base = path[:end]
        return actual.get(base, base) + path[end:]

    def body(self, index, f):
        r = self.r
        first = len(self.lines) + 1
        self.out(self.signature(f))
        self.out("{")
        numbers = [n for n, t in f["params"] if isinstance(t, Leaf) and t.kind == "int"
                   and n != "id"]
        # All locals first, so that they are in sight at each line.
        values = []
        locals_ = []
        mutated = None
        if (f["can_mutate"] or self.mutate_inlined) and numbers and r.random() < 0.6:
            mutated = r.choice(numbers)
            self.out(f"\t{mutated} += {r.randint(1, 9)};")
        for k in range(r.randint(1, 4)):
            type_ = Leaf(r.choice(INTS)[0])
            name = f"v{k}"
            self.out(f"\t{type_.declare(name)} = ({type_.text})({self.expression(numbers + values)});")
            values.append(name)
            locals_.append((name, type_))
        if r.random() < 0.4:
            s = r.choice(self.structs)
            self.out(f"\t{s.declare('ls')} = {s.random()};")
            locals_.append(("ls", s))
            if r.random() < 0.5:
                self.out("\tescape(&ls);")
        if r.random() < 0.3:
            self.out(f"\tint la[4] = {{1, 2, (int){values[0]}, {r.randint(5, 99)}}};")
            self.out("\tescape(la);")
            locals_.append(("la", Array(Leaf("int"), [4])))
        if r.random() < 0.2:
            self.out("\tstatic int calls;")
            self.out("\tcalls++;")
            locals_.append(("calls", Leaf("int")))
        for k in range(r.randint(1, 4)):
            x = r.random()
            if x < 0.3 and numbers + values:
                # Not to become a conditional move: gcc does not tell then which of the two
                # values the variable has.
                self.out(f"\tif ({r.choice(numbers + values)} > {r.randint(-50, 50)}) {{")
                self.out("\t\tBARRIER;")
                self.out(f"\t\t{r.choice(values)} += {self.expression(numbers + values)};")
                self.out("\t}")
            elif x < 0.5:
                self.out(f"\tfor (int i = 0; i < {r.randint(2, 5)}; i++)")
                self.out(f"\t\t{r.choice(values)} += i * {r.randint(1, 7)};")
            elif x < 0.85 and index + 1 < len(self.functions):
                callee = self.functions[r.randrange(index + 1, len(self.functions))]
                self.out("\tif (may_call())")
                self.call(callee, f"{index}_{k}", 1, numbers + values)
            else:
                self.out(f"\tsink((long){r.choice(values)});")
        for _ in range(r.randint(0, 2)):
            leaves = []
            for name, type_ in f["params"] + locals_:
                # clang 14 may lose the change, and tell the old value behind it.
                if name == mutated and not self.mutate_inlined:
                    continue
                if name != "id" and not isinstance(type_, Pointer):
                    leaves += self.leaves(name, type_)
            if not leaves:
                break
            args = [("id", "int")] + self.choose(leaves, 6)
            self.out("\tBARRIER;")
            line = len(self.lines) + 1 - first
            text = " ".join(self.argument(k, p, kind) for k, (p, kind) in enumerate(args))
            number = self.point("line", f"{f['name']}:{line}", text)
            self.out("\t" + " ".join(self.record(number, k, p, kind, "id")
                                     for k, (p, kind) in enumerate(args)))
            self.out(f"\t{r.choice(values)} += {self.expression(numbers + values)};")
        self.out(f"\tsink((long){r.choice(values)});")
        returns = f["returns"]
        if isinstance(returns, Leaf):
            self.out(f"\treturn ({returns.text})({self.expression(numbers + values)});"
                     if returns.kind == "int" else f"\treturn {returns.random()};")
        elif returns is not None:
            self.out(f"\treturn {returns.random()};")
        self.out("}")

    def emit(self):
        self.out('#include "truth.h"')
        self.out("enum color { RED, GREEN = 7, BLUE = 300 };")
        self.out("static long numbers[8];")
        self.out("static int counter;")
        self.out("unsigned short shared;")
        self.emit_structs()
        for s in self.structs:
            self.out(f"static struct {s.name} global_{s.name};")
        self.plan_functions()
        for i in reversed(range(len(self.functions))):
            self.body(i, self.functions[i])
        self.out("int main(void)")
        self.out("{")
        for s in self.structs:
            self.out("\tfor (int i = 0; i < 4; i++)")
            self.out(f"\t\tfill_{s.name}(&pool_{s.name}[i]);")
        self.out("\tfor (int i = 0; i < 8; i++)")
        self.out("\t\tnumbers[i] = rnd();")
        self.out("\tfor (int round = 0; round < 6; round++) {")
        self.out("\t\tcounter = rnd();")
        self.out("\t\tshared = rnd();")
        for s in self.structs:
            self.out(f"\t\tglobal_{s.name} = some_{s.name}();")
        self.out("\t\tmore_calls();")
        self.out("\t\tBARRIER;")
        for i, f in enumerate(self.functions):
            self.call(f, f"m{i}", 2, [])
        self.out("\t}")
        self.out("\treturn 0;")
        self.out("}")


TRUTH_H = """\
#include <stdio.h>
#include <string.h>
unsigned int rnd(void);
unsigned long rnd64(void);
void rec(int point, unsigned int id, int arg, long long value);
void rec_string(int point, unsigned int id, int arg, const char *value);
void rec_bytes(int point, unsigned int id, int arg, const void *value, unsigned long n);
void rec_float(int point, unsigned int id, int arg, double value, unsigned long n);
void sink(long value);
void escape(void *p);
int may_call(void);
void more_calls(void);
extern const char *const strings[4];
#define BARRIER __asm__ volatile("" ::: "memory")
"""

TRUTH_C = """\
#include "truth.h"
static unsigned long state = SEED * 2654435761ul + 12345;
static int calls;
volatile long hole;
const char *const strings[4] = {"north", "south-south-west", "", "e"};
unsigned int rnd(void)
{
	state = state * 6364136223846793005ul + 1442695040888963407ul;
	return state >> 33;
}
unsigned long rnd64(void)
{
	return (unsigned long)rnd() << 40 ^ (unsigned long)rnd() << 17 ^ rnd();
}
void rec(int point, unsigned int id, int arg, long long value)
{
	printf("%d %u %d %016llx\\n", point, id, arg, value);
}
static void hex(const unsigned char *p, unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		printf("%02x", p[i]);
	putchar('\\n');
}
void rec_string(int point, unsigned int id, int arg, const char *value)
{
	printf("%d %u %d s:", point, id, arg);
	hex((const unsigned char *)value, strlen(value));
}
void rec_bytes(int point, unsigned int id, int arg, const void *value, unsigned long n)
{
	printf("%d %u %d b:", point, id, arg);
	hex(value, n);
}
void rec_float(int point, unsigned int id, int arg, double value, unsigned long n)
{
	float narrow = (float)value;
	printf("%d %u %d b:", point, id, arg);
	hex(n == 4 ? (const unsigned char *)&narrow : (const unsigned char *)&value, n);
}
void sink(long value)
{
	hole += value;
}
void escape(void *p)
{
	__asm__ volatile("" : : "r"(p) : "memory");
}
int may_call(void)
{
	return calls > 0 && calls--;
}
void more_calls(void)
{
	calls = 40;
}
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("seed", type=int)
    parser.add_argument("dir")
    parser.add_argument("--mutate-inlined", action="store_true")
    opts = parser.parse_args()
    generator = Generator(opts.seed, opts.mutate_inlined)
    generator.emit()
    os.makedirs(opts.dir, exist_ok=True)

    def write(name, text):
        with open(os.path.join(opts.dir, name), "w", encoding="ascii") as f:
            f.write(text)

    write("prog.c", "\n".join(generator.lines) + "\n")
    write("truth.h", TRUTH_H)
    write("truth.c", TRUTH_C.replace("SEED", str(opts.seed)))
    write("points", "".join(f"{n} {kind} {place} {args}\n"
                            for n, kind, place, args in generator.points))


if __name__ == "__main__":
    main()
