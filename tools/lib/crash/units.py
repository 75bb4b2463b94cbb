"""What there is to be tried, in the order in which it is tried."""

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
    # Which of its steps: all; those behind a call that waited for the disk, of its last operation (the others are cut
    # at the end of a shorter plan); or so many by lot.
    cuts: object
    seed: int

    def chosen(self, steps):
        """The steps at which the power is cut."""
        if self.cuts == "all":
            return [step for step, *_ in steps]
        if self.cuts == "synced":
            return [step for step, synced, done in steps if synced and done >= len(self.plan) - 1]
        lots = random.Random(self.seed)
        numbers = [step for step, *_ in steps]
        return sorted(lots.sample(numbers, min(self.cuts, len(numbers))))

    def lots(self, step):
        """What of the files is written back before the cut: a seed; 0 for nothing. And the step at which the recovery is
        cut; None for not at all."""
        lots = random.Random(self.seed * 1_000_003 + step)
        written_back = 0 if lots.randrange(3) == 0 else lots.randrange(1, 1 << 32)
        return written_back, lots.randint(1, 40) if lots.randrange(4) == 0 else None


def systematic(kinds, steps, length, seed):
    """Every sequence of so many steps on every file system, shuffled, so that a part of them is a fair one."""
    units = [
        Unit(kind, how, plan, "all" if length == 1 else "synced", seed)
        for kind in kinds
        for plan in plans.systematic(steps, length)
        for how in CUTS[kind]
    ]
    random.Random(seed).shuffle(units)
    return units


def drawn(kinds, steps, seed):
    """Plans by lot, without end, cut at three steps each."""
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
        # Now and then there is a step less.
        if report:
            yield step, bench.verdict(unit.plan, report[0][2], recut)


def copied(bench, template, unit, only):
    """The same from copies of the live image, made in one run."""
    prefix = bench.path("copy-")
    report = bench.traced(template, ["copy", bench.image.path, prefix], unit.plan)
    chosen = {only} if only else set(unit.chosen(report))
    for step, _, acknowledged in report:
        if step in chosen:
            os.replace(f"{prefix}{step}", bench.image.path)
            yield step, bench.verdict(unit.plan, acknowledged, unit.lots(step)[1])
        else:
            os.unlink(f"{prefix}{step}")
