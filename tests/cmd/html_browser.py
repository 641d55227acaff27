"""The pages of tests/unit/write_page.c in a browser, their numbers against the
JSON of the same results. Prints what was not as it should be, and fails then.

    python3 html_browser.py FOLDER
"""
import json
import math
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser, missing  # noqa: E402

HOSTILE = '</script><b>"x",\\x1b[31m\\x0a\\xff é'


def equal(got, want):
    assert got == want, f"got {got!r}, wanted {want!r}"


def number(text):
    return int(text.replace(",", ""))


class Page:
    def __init__(self, browser, folder, name):
        with open(os.path.join(folder, name + ".json"), encoding="utf-8", errors="surrogateescape") as f:
            self.results = {r["map"]: r for r in map(json.loads, f)}
        self.b = browser
        browser.open(name + ".html")
        # which section a map has: counts stand together
        self.section = {r["map"]: f"#r{i} " for i, r in enumerate(
            r for r in self.results.values() if r["kind"] != "count")}

    def box(self, selector):
        self.b.run("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", selector)
        return self.b.run("""const b = document.querySelector(arguments[0]).getBoundingClientRect();
            return {x: b.x, y: b.y, w: b.width, h: b.height}""", selector)

    def tip(self):
        if self.b.run("return document.getElementById('tip').hidden"):
            return None
        return self.b.texts("#tip > *")

    def still(self):
        """Nothing ran that was not to, nothing was fetched, nothing failed."""
        equal(self.b.complaints(), [])
        equal(self.b.run("return performance.getEntriesByType('resource').length"), 0)
        equal(self.b.run("return document.querySelectorAll('script').length"), 2)
        equal(self.b.run("return document.querySelectorAll('b').length"), 0)


def hists(page, name):
    section = page.section[name]
    want = []
    for hist in page.results[name]["hists"]:
        want += [b["count"] for b in hist["buckets"]]
    got = [number(t) for t in page.b.texts(section + ".hist td.count")]
    equal([n for n in got if n], want)
    return got


def test_hostile(page):
    b = page.b
    equal(b.run("return document.title"), HOSTILE)
    equal(b.text("h1"), HOSTILE)
    equal(b.texts("#counts .number"), ["18,446,744,073,709,551,615"])
    t = page.section["hostile"]
    equal(b.text(t + "h2"), HOSTILE)
    # sorted by the first number of the value: the largest first
    equal(b.texts(t + "tbody td"), [
        "dd(7)", HOSTILE, "18,446,744,073,709,551,615", "-9,223,372,036,854,775,808", "0.5", "true",
        "8", "", "2", "3", "", "false"])
    equal(b.text(t + "p.about:last-child"), "3 more rows were left out (--top).")
    got = hists(page, "hists")
    equal(got, [2, 0, 5, 18446744073709551608, 2, 0, 5])
    equal(b.texts(page.section["hists"] + "h3"), [HOSTILE])
    equal(b.text(page.section["stacks"] + ".note"), HOSTILE)
    frames = set(b.run("return [...document.querySelectorAll(arguments[0])].map(g => g.node.name)",
                       page.section["stacks"] + ".frame"))
    equal(frames, {"all", "dd", "none", "main", HOSTILE, "inner;Lname"})
    equal(b.texts(page.section["ring"] + "p"), ["2 events, 1 lost."])
    equal(b.texts(page.section["ring"] + "tbody td"), [
        "22:13:20.000000", HOSTILE, "18446744073709551615", "22:13:20.250000", "short", ""])
    page.still()


def test_empty(page):
    equal(page.b.texts("#counts .number"), ["0"])
    equal(page.b.texts(".empty"), ["No stacks.", "No entries.", "No values.", "No values."])
    equal(page.b.texts(page.section["ring"] + "p"), ["0 events, 1 lost."])
    page.still()


def test_table(page):
    b, t = page.b, page.section["by_file"]
    rows = page.results["by_file"]["rows"]

    def column(n):
        return b.texts(t + f"tbody td:nth-child({n})")

    equal([number(n) for n in column(3)], sorted((r["opens"] for r in rows), reverse=True)[:200])
    b.click(t + "th:nth-child(4) button")
    equal([number(n) for n in column(4)], sorted((r["bytes"] for r in rows), reverse=True)[:200])
    b.click(t + "th:nth-child(4) button")
    equal([number(n) for n in column(4)], sorted(r["bytes"] for r in rows)[:200])
    equal(b.run("return document.querySelector(arguments[0]).getAttribute('aria-sort')",
                t + "th:nth-child(4)"), "ascending")
    b.click(t + "button.more")
    equal(len(column(1)), 500)
    equal(sum(number(n) for n in column(4)), sum(r["bytes"] for r in rows))
    b.type(t + "input", "worker3")
    mine = [r for r in rows if r["pid_text"] == "worker3(1003)"]
    equal(b.text(t + ".said"), f"{len(mine)} of 500 rows")
    equal([number(n) for n in column(4)], sorted(r["bytes"] for r in mine))
    b.type(t + "input", "")
    page.still()


def test_hist(page):
    b, t = page.b, page.section["latency"]
    got = hists(page, "latency")
    total = sum(got)
    equal(b.texts(t + ".hist th")[:3], ["[512, 1K)", "[1K, 2K)", "[2K, 4K)"])
    box = page.box(t + ".hist tr:nth-child(5) td.bar")
    b.pointer(("move", box["x"] + 5, box["y"] + box["h"] / 2))
    equal(page.tip(), ["8,192 to 16,383 ns", f"1,900 times, {1900 * 100 / total:.1f} %",
                       f"{sum(got[:5]) * 100 / total:.1f} % are in this range or below"])
    bars = b.run("return [...document.querySelectorAll(arguments[0])].map(e => e.clientWidth)",
                 t + ".hist td.bar > div")
    most = max(bars)
    for n, w in zip(got, bars):
        assert abs(w - n * most / max(got)) <= 2, (n, w)


def test_linear(page):
    b, t = page.b, page.section["linear"]
    equal(b.texts(t + ".hist th"), ["(…, -20)", "[-20, -10)", "[-10, 0)", "[0, …)"])
    equal(hists(page, "linear"), [3, 12, 1, 4])
    for row, words in ((1, "-21 and less C"), (2, "-20 to -11 C"), (4, "0 and more C")):
        box = page.box(t + f".hist tr:nth-child({row}) td.bar")
        b.pointer(("move", box["x"] + 5, box["y"] + box["h"] / 2))
        equal(page.tip()[0], words)


# A table that is wider than the page scrolls; its texts do not become columns of letters.
def test_wide(page):
    b, t = page.b, page.section["wide"]
    tall = b.run("return document.querySelector(arguments[0]).clientHeight", t + "tbody tr")
    assert tall < 50, f"a row is {tall} pixels high"


def test_flame(page):
    b, t = page.b, page.section["on_cpu"]
    stacks = page.results["on_cpu"]["stacks"]
    total = sum(s["count"] for s in stacks)

    def through(*path):
        """How many stacks begin with these frames, the process first."""
        return sum(s["count"] for s in stacks if
                   ([s["label"]] + [f["name"] for f in reversed(s["frames"])])[:len(path)] == list(path))

    def frames():
        return b.run("""return [...document.querySelectorAll(arguments[0])].map(g => {
            const path = [];
            for (let n = g.node; n.parent; n = n.parent) path.unshift(n.name);
            const r = g.querySelector("rect");
            return [path, Number(g.node.total), +r.getAttribute("x"), +r.getAttribute("y"),
                    +r.getAttribute("width")] })""", t + ".frame")

    def find(path):
        found, = [i for i, f in enumerate(frames()) if f[0] == path]
        return found + 1

    box = page.box(t + "svg")
    for path, n, x, _, w in frames():
        equal(n, through(*path))
        assert abs(w - (n * box["w"] / total - 1)) < 1.01, (path, n, w)
    # hover: what the tip says is the data's
    path = ["sort", "_start", "main", "read_input"]
    place = page.box(t + f".frame:nth-child({find(path)})")
    b.pointer(("move", place["x"] + place["w"] / 2, place["y"] + place["h"] / 2))
    n = through(*path)
    equal(page.tip()[:2], ["read_input", f"{n:,} samples, {n * 100 / total:.1f} % of all"])
    b.screenshot("flame.png")
    # zoom: a click makes it as wide as the graph
    b.pointer("down", "up")
    x, w = [f[2:5:2] for f in frames() if f[0] == path][0]
    assert x == 0 and abs(w - box["w"]) < 2, (x, w)
    assert all(f[0][:4] == path or f[0] == path[:len(f[0])] for f in frames())
    child = max((f for f in frames() if len(f[0]) == 5), key=lambda f: f[1])
    assert abs(child[4] - (child[1] * box["w"] / n - 1)) < 1.01, child
    b.screenshot("zoomed.png")
    b.click(t + "> div > .tools button:nth-of-type(1)")
    equal(max(f[1] for f in frames()), total)
    assert abs([f for f in frames() if f[0] == path][0][4] - (n * box["w"] / total - 1)) < 1.01
    # search: stacks count once, however often the name stands in them
    for text, matches in (("memchr", lambda f: "memchr" in f), ("^vfs_(read|write)$", lambda f: f in (
            "vfs_read", "vfs_write")), ("MALLOC", lambda f: f == "malloc"), ("(", lambda f: "(" in f)):
        b.type(t + "> div > .tools input", text)
        want = sum(s["count"] for s in stacks if any(matches(f["name"]) for f in s["frames"]))
        share = want * 100 / total
        equal(b.text(t + "> div > .tools .said"), f"{share:.1f} % matched ({want:,} of {total:,})")
        equal(b.run("return document.querySelectorAll(arguments[0]).length > 0", t + ".frame.match"),
              want > 0)
    b.type(t + "> div > .tools input", "memchr")
    b.screenshot("searched.png")
    b.type(t + "> div > .tools input", "")
    b.press("Escape")
    equal(b.text(t + "> div > .tools .said"), "")
    # flame: the root is the lowest; icicle: the highest
    rows = {tuple(f[0]): f[3] for f in frames()}
    equal(rows[()], max(rows.values()))
    b.click(t + "> div > .tools button:nth-of-type(2)")
    turned = {tuple(f[0]): f[3] for f in frames()}
    equal(turned[()], 0)
    equal(turned[tuple(path)] + rows[tuple(path)], rows[()])
    b.click(t + "> div > .tools button:nth-of-type(2)")
    # the keyboard: to the process, to its largest branch, into it, and out again
    b.run("document.querySelector(arguments[0]).focus()", t + "svg")
    b.press("Up", "Up", "Up", "Up", "Up")
    assert b.text(t + "p.told").startswith("read_input: "), b.text(t + "p.told")
    b.press("Enter")
    equal([f[2] for f in frames() if f[0] == path], [0])
    b.press("Right")
    b.press("Escape")
    equal(len(frames()[0][0]), 0)
    assert b.run("return document.querySelector(arguments[0]).disabled", t + "> div > .tools button:nth-of-type(1)")
    # the functions: each stack once for each function
    b.click(t + "summary")
    names = b.texts(t + "details td:nth-child(1)")
    for name, alone, of in zip(names, b.texts(t + "details td:nth-child(3)"),
                               b.texts(t + "details td:nth-child(4)")):
        equal(number(alone), sum(s["count"] for s in stacks if s["frames"] and s["frames"][0]["name"] == name))
        equal(number(of), sum(s["count"] for s in stacks if any(f["name"] == name for f in s["frames"])))
    b.click(t + "summary")
    page.still()


def test_heat(page):
    b, t = page.b, page.section["io_latency"]
    heat = page.results["io_latency"]
    counts = heat["counts"]

    def shown():
        return [number(n) for n in b.texts(t + ".hist td.count")]

    def sums(first, end):
        return [n for n in (sum(slot[r] for slot in counts[first:end]) for r in range(len(counts[0]))) if n]

    def plain(numbers):
        return [n for n in numbers if n]

    equal(plain(shown()), sums(0, len(counts)))
    box = page.box(t + "canvas")
    # where the cells are: the tip tells them apart
    rows = len(heat["ranges"])
    tall = (box["h"] - 24) / rows
    y = box["y"] + tall / 2

    def slot_at(x, row=0):
        b.pointer(("move", x, y + row * tall))
        tip = page.tip()
        if not tip:
            return None
        h, m, s = map(int, tip[1].split(" ")[0].split(":"))
        return ((h * 3600 + m * 60 + s) - (22 * 3600 + 13 * 60 + 20), tip)

    left = next(x for x in range(int(box["x"]), int(box["x"]) + 80) if slot_at(x))
    wide = (box["x"] + box["w"] - left) / len(counts)

    def middle(slot):
        return left + (slot + 0.5) * wide

    for slot, row in ((0, rows - 3), (40, 4), (89, rows - 4), (35, rows - 1)):
        at, tip = slot_at(middle(slot), row)
        r = heat["ranges"][rows - 1 - row]
        equal(at, slot)
        equal(tip[2], f"{counts[slot][rows - 1 - row]:,} times")
        equal(tip[0], f"{r['low']:,} to {r['high']:,} µs")
    # a drag from slot 50 to slot 31, backwards
    b.pointer(("move", middle(50), y), "down", ("move", middle(40), y), ("move", middle(31), y), "up")
    equal(plain(shown()), sums(31, 51))
    equal(b.text(t + "h3"), f"22:13:51 – 22:14:11: {sum(sums(31, 51)):,} values")
    b.screenshot("heat.png")
    b.click(t + ".tools button")
    equal(plain(shown()), sums(0, len(counts)))
    # the keyboard: to slot 2, then three more with Shift
    b.run("document.querySelector(arguments[0]).focus()", t + "canvas")
    b.press("Right", "Right", "Right")
    equal(b.text(t + "p.told").split(", ")[1:2], ["22:13:22 – 22:13:23"])
    b.press("Right", "Right", "Right", shift=True)
    equal(plain(shown()), sums(2, 6))
    b.press("Escape")
    equal(plain(shown()), sums(0, len(counts)))
    page.still()


def test_long_heat(page):
    """More slots than pixels: neighbours share a column, and nothing is lost."""
    b, t = page.b, page.section["long"]
    counts = page.results["long"]["counts"]
    box = page.box(t + "canvas")
    group = math.ceil(len(counts) / (box["w"] - 60))  # what labels take is less than 60
    middle = (box["x"] + box["w"] / 2, box["y"] + 30)
    b.pointer(("move", *middle))
    tip = page.tip()
    first, last = [int(x.split(".")[1]) + 1000 * int(x.split(":")[2].split(".")[0]) - 20000
                   for x in tip[1].split(" – ")]
    equal(last - first, group)
    equal(tip[2], f"{sum(slot[0] for slot in counts[first:last])} times")
    b.pointer(("move", *middle), "down", ("move", box["x"] + box["w"] + 20, middle[1]), "up")
    equal([number(n) for n in b.texts(t + ".hist td.count")],
          [sum(slot[r] for slot in counts[first:]) for r in (0, 1)])
    b.resize(400, 700)
    equal([number(n) for n in b.texts(t + ".hist td.count")],
          [sum(slot[r] for slot in counts) for r in (0, 1)])
    b.resize(1200, 900)
    page.still()


def test_widths(page):
    for width in (320, 480, 1200):
        page.b.resize(width, 800)
        wide = page.b.run("return document.documentElement.scrollWidth")
        assert wide <= width, f"at {width} pixels the page is {wide} wide"
        page.b.run("scrollTo(0, 0)")
        page.b.screenshot(f"width{width}.png")
    page.b.scheme("dark")
    dark = page.b.run("return getComputedStyle(document.body).backgroundColor")
    page.b.screenshot("dark.png")
    page.b.scheme("light")
    light = page.b.run("return getComputedStyle(document.body).backgroundColor")
    assert sum(map(int, dark[4:-1].split(","))) < 150 < 600 < sum(map(int, light[4:-1].split(","))), (dark, light)
    # everything that acts can be reached by Tab
    reached = set()
    page.b.run("document.activeElement.blur(); scrollTo(0, 0)")
    for _ in range(64):
        page.b.press("Tab")
        reached.add(page.b.run("return document.activeElement.tagName.toLowerCase()"))
    assert {"a", "button", "input", "svg", "canvas", "summary"} <= reached, reached


def main():
    folder = sys.argv[1]
    if missing():
        print("SKIP", missing())
        return
    with Browser(folder) as b:
        test_hostile(Page(b, folder, "hostile"))
        test_empty(Page(b, folder, "empty"))
        page = Page(b, folder, "nice")
        for test in (test_hist, test_linear, test_wide, test_flame, test_heat, test_long_heat, test_table, test_widths):
            test(page)


if __name__ == "__main__":
    main()
