"""Reads tests/unsteady.txt, the list of tests that were seen to fail by luck."""
import datetime
import re

MOST_LINES = 10
MOST_DAYS = 14
LINE = re.compile(r"^(\d{4}-\d\d-\d\d)  (\w[\w-]*) ([\w.-]+): (\S.*?)  (\S.*)$")


def faults(text, today):
    """What is wrong with the list, as texts; none if it is all right."""
    found, number_of_tests = [], 0
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        number_of_tests += 1
        m = LINE.match(line)
        if not m:
            found.append(f"line {number}: not 'DATE  SUITE PROGRAM: TEST  CAUSE', with two spaces between the three")
            continue
        try:
            age = (today - datetime.date.fromisoformat(m.group(1))).days
        except ValueError:
            found.append(f"line {number}: invalid date {m.group(1)}")
            continue
        if age > MOST_DAYS:
            found.append(f"line {number}: {m.group(2)} {m.group(3)}: {m.group(4)}: unsteady for {age} days; "
                         f"mend it: {MOST_DAYS} days are the limit")
        elif age < 0:
            found.append(f"line {number}: the date {m.group(1)} has not come yet")
    if number_of_tests > MOST_LINES:
        found.append(f"{number_of_tests} tests are listed; {MOST_LINES} are the limit")
    return found
