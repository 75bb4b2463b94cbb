"""The numbers of power cuts, by file system and kind of cut."""

import sys
import time
from collections import Counter

WORDS = {
    "lose": "what is in memory",
    "flush": "pages, not the file system's log",
    "copy": "what is not on the live image",
}


class Tally:
    """Counts the cuts, and prints each fault at once."""

    def __init__(self):
        self.cuts, self.plans, self.phases, self.faults = Counter(), Counter(), Counter(), []
        self.start = self.shown = time.monotonic()

    def cut(self, unit, step, faults):
        """Counts one more cut."""
        self.cuts[unit.kind, unit.how] += 1
        if faults:
            name = f"{unit.kind}:{unit.how}:{unit.seed}:{step}:{','.join(unit.plan)}"
            self.faults.append(name)
            print(f"{self.clear()}FAULT {name}")
            for fault in faults:
                print(f"      {fault[:2000]}", flush=True)
        elif time.monotonic() > self.shown + (0.2 if sys.stderr.isatty() else 30):
            self.shown = time.monotonic()
            text = f"{int(self.shown - self.start)} s, {sum(self.cuts.values())} power cuts"
            print(f"\r{text}" if sys.stderr.isatty() else text, end="" if sys.stderr.isatty() else "\n",
                  file=sys.stderr, flush=True)

    def end(self, unit, phase):
        """Counts a plan that is done."""
        self.plans[unit.kind, unit.how] += 1
        self.phases[phase] += 1

    @staticmethod
    def clear():
        """The characters that clear a line of a terminal."""
        return "\r\033[K" if sys.stderr.isatty() else ""

    def table(self, sizes):
        """The result as Markdown. `sizes` are the numbers of plans in each phase."""
        print(f"{self.clear()}\n| file system | what the cut takes | plans | power cuts |\n|---|---|---|---|")
        for kind, how in sorted(self.cuts):
            print(f"| {kind} | {WORDS[how]} | {self.plans[kind, how]} | {self.cuts[kind, how]} |")
        print()
        for phase, count in self.phases.items():
            print(f"- {phase}: {count}" + (f" of {sizes[phase]}" if phase in sizes else ""))
        print(f"\n{sum(self.cuts.values())} power cuts in {int(time.monotonic() - self.start)} s, "
              f"{len(self.faults)} faults")
