"""The units of the trials, in their order."""

import itertools
import os
import random
from dataclasses import dataclass

from . import plans
from .images import CUTS


@dataclass(frozen=True)
class Unit:
    """One plan, on one file system, with one kind of cut."""

    kind: str
    how: str
    plan: tuple
    # The steps to cut: all; of the last operation those after a call that waited for the disk (the other operations are
    # cut at the end of a shorter plan); or a number of random ones.
    cuts: object
    seed: int

    def chosen(self, steps):
        """Chooses the steps at which the power is cut."""
        if self.cuts == "all":
            return [step for step, *_ in steps]
        if self.cuts == "synced":
            return [step for step, synced, done in steps if synced and done >= len(self.plan) - 1]
        lots = random.Random(self.seed)
        numbers = [step for step, *_ in steps]
        return sorted(lots.sample(numbers, min(self.cuts, len(numbers))))

    def lots(self, step):
        """The seed for the pages of files that are written back before the cut, 0 for none; and the step at which the
        recovery is cut, None for no cut."""
        lots = random.Random(self.seed * 1_000_003 + step)
        written_back = 0 if lots.randrange(3) == 0 else lots.randrange(1, 1 << 32)
        return written_back, lots.randint(1, 40) if lots.randrange(4) == 0 else None


def systematic(kinds, steps, length, seed):
    """All sequences of a number of steps on every file system, shuffled, so that each part is a random sample."""
    units = [
        Unit(kind, how, plan, "all" if length == 1 else "synced", seed)
        for kind in kinds
        for plan in plans.systematic(steps, length)
        for how in CUTS[kind]
    ]
    random.Random(seed).shuffle(units)
    return units


def drawn(kinds, steps, seed):
    """Random plans, without end, each cut at three steps."""
    lots = random.Random(seed)
    for number, plan in zip(itertools.count(1), plans.drawn(steps, seed)):
        kind = kinds[number % len(kinds)]
        yield Unit(kind, lots.choice(CUTS[kind]), plan, 3, seed * 1_000_003 + number)


def trial(bench, template, unit, only=None):
    """Makes the cuts of a unit, or one of them: yields each step with its faults."""
    if unit.how == "copy":
        yield from copied(bench, template, unit, only)
        return
    for step in [only] if only else unit.chosen(bench.steps(template, unit.plan)):
        written_back, recut = unit.lots(step)
        mode = ["cut", str(step), unit.how, bench.image.directory, str(written_back)]
        report = bench.traced(template, mode, unit.plan)
        # Some runs have a step less.
        if report:
            yield step, bench.verdict(unit.plan, report[0][2], recut)


def copied(bench, template, unit, only):
    """Makes the cuts from copies of the live image, all in one run."""
    prefix = bench.path("copy-")
    report = bench.traced(template, ["copy", bench.image.path, prefix], unit.plan)
    chosen = {only} if only else set(unit.chosen(report))
    for step, _, acknowledged in report:
        if step in chosen:
            os.replace(f"{prefix}{step}", bench.image.path)
            yield step, bench.verdict(unit.plan, acknowledged, unit.lots(step)[1])
        else:
            os.unlink(f"{prefix}{step}")
