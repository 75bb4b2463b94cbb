"""One of several processes that run the trials."""

import ctypes
import os
import signal
import time

from . import units
from .boot import Boot
from .trial import Bench

PR_SET_PDEATHSIG = 1


def phases(options, kinds, steps):
    """The phases, one after the other: a name, the number of units, and the units."""
    for length in range(1, options.length + 1):
        name = "single steps" if length == 1 else f"sequences of {length}"
        every = units.systematic(kinds, steps, length, options.seed)
        # Where there is no time for all trials, each phase gets some.
        yield name, len(every), every if options.all or length == 1 else every[: 15 * len(kinds)]
    if not options.all:
        yield "sequences of two to eight, by lot", None, units.drawn(kinds, steps, options.seed)


def work(number, options, kinds, steps, directory, programs, results):
    """Runs this job's share of the units, and reports the results."""
    try:
        # The job ends with its parent process.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        directory = os.path.join(directory, str(number))
        os.makedirs(directory)
        boot = Boot(os.path.join(directory, "boot"))
        benches = {kind: Bench(kind, directory, boot, *programs) for kind in kinds}
        templates = {kind: os.path.join(directory, f"{kind}.template") for kind in kinds}
        for kind in kinds:
            benches[kind].prepare(templates[kind])
        if options.again:
            if number == 0:
                once(options.again, benches, templates, results)
            return
        end = time.monotonic() + options.seconds

        def is_over():
            return not options.all and time.monotonic() > end

        for name, _, todo in phases(options, kinds, steps):
            for index, unit in enumerate(todo):
                if is_over():
                    return
                if index % options.jobs == number:
                    go_through(unit, name, benches[unit.kind], templates[unit.kind], results, is_over)
    except Exception as error:  # pylint: disable=broad-except
        results.put(("failed", f"{type(error).__name__}: {error}"[:400]))
    finally:
        results.put(("over", number))


def go_through(unit, phase, bench, template, results, is_over):
    """Makes all cuts of one unit."""
    for step, faults in units.trial(bench, template, unit):
        results.put(("cut", unit, step, faults))
        if is_over():
            return
    results.put(("end", unit, phase))


def once(name, benches, templates, results):
    """Runs the trial whose name a fault has printed."""
    kind, how, seed, step, plan = name.split(":")
    unit = units.Unit(kind, how, tuple(plan.split(",")), "all", int(seed))
    for number, faults in units.trial(benches[kind], templates[kind], unit, int(step)):
        results.put(("cut", unit, number, faults))
