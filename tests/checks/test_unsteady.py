#!/usr/bin/env python3
"""tests/unsteady.txt is short, and no test stays in it for long."""
import datetime
import os
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, TESTS)
import unsteady  # noqa: E402


def main():
    with open(os.path.join(TESTS, "unsteady.txt"), encoding="utf-8") as f:
        faults = unsteady.faults(f.read(), datetime.date.today())
    for fault in faults:
        print(f"# tests/unsteady.txt: {fault}")
    print(f"1..1\n{'not ok' if faults else 'ok'} 1 - the_list_is_short_and_young")


if __name__ == "__main__":
    main()
