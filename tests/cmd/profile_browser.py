"""The page of report --html in a browser: what is seen first, on a screen and on a phone.

    python3 profile_browser.py FOLDER
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser, missing  # noqa: E402


def seen(b, selector):
    return b.run("""const box = document.querySelector(arguments[0]).getBoundingClientRect();
        return {top: box.top + scrollY, left: box.left, right: box.right}""", selector)


def main():
    why = missing()
    if why:
        print("SKIP", why)
        return
    with Browser(sys.argv[1]) as b:
        b.open("profile.html")
        b.resize(1280, 900)
        titles = [t.split()[0] for t in b.texts("section > .table > .scroll > .rows > thead th")]
        assert titles[:3] == ["With", "Self", "Function"], titles
        assert "Samples" in titles and "Command" in titles and "Binary" in titles, titles
        flame = seen(b, "section svg")
        table = seen(b, "section > .table")
        assert flame["top"] < 500, flame
        assert flame["top"] < table["top"], (flame, table)
        b.resize(390, 800)
        cell = seen(b, "section > .table > .scroll > .rows > tbody td:nth-child(3)")
        assert cell["left"] < 250, cell
        assert b.run("return document.documentElement.scrollWidth") <= 390


main()
