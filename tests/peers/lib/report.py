"""The table that is printed and kept, and the TAP lines of a comparison."""
import os

from lib.common import ONLY, say


class Report:
    def __init__(self, title):
        self.lines = [title] + ([f"(PEERS_ONLY={ONLY})"] if ONLY != "*" else [])
        self.results = []
        self.skips = []

    def add(self, *lines):
        self.lines += ["", *lines]

    def check(self, good, name):
        self.results.append((good, name))

    def skip(self, name, why):
        self.skips.append((name, why))
        self.add(f"{name}: not tried: {why}")

    def compiled(self, what, compiled):
        self.add(f"{what}: {compiled.summary()}")
        if compiled.failed:
            self.lines += [f"  {name}: {why}" for name, why in compiled.failed]
        self.check(compiled.objects and len(compiled.failed) * 20 <= len(compiled.objects),
                   f"{what} compile against our headers")

    def comparison(self, where, cmp):
        self.add(f"== {where} ==", *cmp.table())
        self.check(not cmp.broken, f"{where}: no object ends or hangs the client")
        for line in cmp.broken:
            say(f"{where}: {line}")
        self.check(cmp.opened > 0 and not cmp.only_peer_opens,
                   f"{where}: what {cmp.peer} opens, ours opens")
        self.check(cmp.both > 0 and not cmp.only_peer,
                   f"{where}: what {cmp.peer} loads, ours loads")
        self.check(cmp.whole_both > 0 and not cmp.other_whole,
                   f"{where}: objects are loaded with the programs and maps that {cmp.peer} loads")
        self.check(cmp.both > 0 and not cmp.other_type,
                   f"{where}: programs have the types that {cmp.peer} gives them")

    def guests(self, what, found):
        for suite, result in found.items():
            if isinstance(result, str):
                self.skip(f"{what} on {suite}'s kernel", result)
                continue
            release, cmp, ended = result
            self.comparison(f"{what} on {release or suite}", cmp)
            self.check(ended, f"{what} on {release or suite}: the guest came to its end")

    def finish(self):
        """Prints it all, keeps the table; the exit status."""
        text = "\n".join(line.rstrip() for line in self.lines)
        if os.environ.get("PEERS_TABLE"):
            with open(os.environ["PEERS_TABLE"], "w") as f:
                f.write(text + "\n")
        say(text)
        print(f"1..{len(self.results) + len(self.skips)}")
        n = 0
        for n, (good, name) in enumerate(self.results, 1):
            print(f"{'ok' if good else 'not ok'} {n} - {name}")
        for i, (name, why) in enumerate(self.skips, n + 1):
            print(f"ok {i} - {name} # SKIP {why}")
        return 0 if all(good for good, _ in self.results) else 1
