"""The page of perf-bpf diff --html in a browser: colours, words and widths of the flame graph of
test_html.sh. Fails where something is not as it should be.

    python3 compared_browser.py FOLDER
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser, missing  # noqa: E402

FRAMES = """return [...document.querySelectorAll(".flame .frame")].map((g) => ({
    name: g.frame.node.name, style: g.getAttribute("class"), said: g.getAttribute("aria-label"),
    width: g.frame.w, opacity: Number(g.querySelector("rect:not(.under)").getAttribute("fill-opacity")),
    color: getComputedStyle(g.querySelector("rect:not(.under)")).fill}))"""
BUTTON = """[...document.querySelectorAll(".tools button")].find((b) =>
    b.textContent === "Widths of the baseline").click()"""


def frames(b):
    return {f["name"]: f for f in b.run(FRAMES)}


def main():
    if missing():
        print("SKIP", missing())
        return
    with Browser(sys.argv[1]) as b:
        b.open("page.html")
        got = frames(b)
        assert {n: f["style"] for n, f in got.items() if n != "[unknown]"} == {
            "all": "frame same", "grows": "frame grown", "shrinks": "frame shrunk",
            "same": "frame same"}, got
        widths = {n: round(f["width"], 2) for n, f in got.items() if n != "[unknown]"}
        assert widths == {"all": 1, "grows": 0.4, "same": 0.4, "shrinks": 0.2}, widths
        assert "10.0 % in the baseline: +30.0 points" in got["grows"]["said"], got["grows"]
        assert "30.0 % in the baseline: \u221210.0 points" in got["shrinks"]["said"], got["shrinks"]
        assert got["grows"]["opacity"] == 1 and 0.4 < got["shrinks"]["opacity"] < 0.5, got
        red, _, blue = (int(v) for v in got["grows"]["color"][4:-1].split(","))
        assert red > blue + 80, got["grows"]
        red, _, blue = (int(v) for v in got["shrinks"]["color"][4:-1].split(","))
        assert blue > red + 80, got["shrinks"]
        # percentages have two digits, and differences a sign
        rows = b.run("""return Object.fromEntries([...document.querySelectorAll(".rows tbody tr")].map((tr) =>
            [...tr.cells].map((cell) => cell.textContent)).map((row) => [row.at(-1), row.slice(0, 2)]))""")
        assert rows["grows"] == ["10.00", "+30.00"], rows
        assert rows["shrinks"] == ["30.00", "-10.00"], rows
        assert rows["same"] == ["40.00", "0.00"], rows
        # on a phone, where long names are to the right of the screen, rows have one line
        b.run("""[...document.querySelectorAll('.rows tbody td:last-child')].at(-1).textContent =
            'a name '.repeat(100)""")
        heights = """return [...new Set([...document.querySelectorAll(".rows tbody tr")].map((tr) =>
            tr.offsetHeight))].length"""
        assert b.run(heights) == 2, b.run(heights)
        b.resize(400, 800)
        assert b.run(heights) == 1, b.run(heights)
        assert b.run("return document.documentElement.scrollWidth") <= 400
        b.resize(1200, 900)
        b.run(BUTTON)
        got = frames(b)
        widths = {n: round(f["width"], 2) for n, f in got.items() if n != "[unknown]"}
        assert widths == {"all": 1, "grows": 0.1, "shrinks": 0.3, "same": 0.4,
                          "gone</script><b>": 0.2}, widths
        assert got["gone</script><b>"]["style"] == "frame shrunk", got
        assert b.run("return document.querySelectorAll('b').length") == 0


if __name__ == "__main__":
    main()
