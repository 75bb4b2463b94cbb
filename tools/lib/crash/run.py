"""The command tools/crash-test."""

import argparse
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile

from . import images, job
from .tally import Tally

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))))

HELP = """\
Cuts the power of file systems during every operation that writes to a container, and checks what is left.

A power cut is the kernel's own shutdown of the file system (ext4, xfs), which loses what has not reached the disk, with
the file system's log flushed or lost, often after some pages of the files were written back in any order; or a copy of
the live image (all three). There is one at every step: before each system call that may change a file, and at the end.
Afterwards a first member opens the container in another boot. The container must have everything that was acknowledged
as durable, and everything else wholly or not at all; its journal, its widget and a doctor must agree. Then the power is
cut again, sometimes during that recovery, and the result must be the same.

First every single operation is cut at each of its steps, then the last one of sequences of two and of three after each
call that waited for the disk, then random sequences."""


class Parser(argparse.ArgumentParser):
    """Wrong usage prints one line and exits with status 64, as in all our commands."""

    def error(self, message):
        self.exit(64, f"{self.prog}: {message}; see {self.prog} --help\n")


def arguments():
    """The options of the command line."""
    parser = Parser(
        prog="tools/crash-test", description=HELP, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60, help="the time for random samples of all plans (default: 60)")
    parser.add_argument("--all", action="store_true", help="try every sequence of up to --length; takes hours from 2 on")
    parser.add_argument("--length", type=int, default=3, choices=[1, 2, 3], help="the longest systematic sequence (default: 3)")
    parser.add_argument("--steps", metavar="NAME,…", help="only these operations")
    parser.add_argument("--seed", type=int, help="the random seed, printed at the beginning (default: from the clock)")
    parser.add_argument("--file-system", action="append", choices=list(images.KINDS), help="only this file system")
    parser.add_argument("--directory", default="/dev/shm", help="the directory of the images, some 100 MB (default: /dev/shm)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="the number of trials at once (default: one for each processor)")
    parser.add_argument("--debug", action="store_true", help="use the debug build, which is slower")
    parser.add_argument("--again", metavar="TRIAL", help="only the trial of that name, which a fault has printed")
    options = parser.parse_args()
    if options.jobs < 1 or options.seconds < 1:
        parser.error("--jobs and --seconds are at least 1")
    if not os.path.isdir(options.directory):
        parser.error(f"--directory: there is no directory '{options.directory}'")
    if options.again and len(options.again.split(":")) != 5:
        parser.error("--again is the name that is printed after FAULT: FILE-SYSTEM:HOW:SEED:STEP:PLAN")
    return options


def why_not(kinds):
    """The reason why no trial is possible here; None if trials are possible."""
    if os.geteuid() != 0:
        return "only root may mount file systems"
    if not kinds:
        return "the kernel knows none of the file systems"
    if subprocess.run(["losetup", "--find"], capture_output=True, check=False).returncode != 0:
        return "there is no loop device"
    return None


# The settings of tools/lib/common.sh: with any other one in the same directory, everything in it is built anew, now and by
# the next tool. Prints where the worker is.
BUILD = """\
source "$1/tools/lib/common.sh"
build=(swift_build --package-path "$1" "${swift_options[@]}" --configuration "$2")
"${build[@]}" --product crash-worker >&2
"${build[@]}" --show-bin-path"""


def build(configuration, work):
    """Builds the worker and the cutter."""
    subprocess.run([os.path.join(ROOT, "tools", "setup")], check=True, stdout=sys.stderr)
    built = subprocess.run(["bash", "-euc", BUILD, "build", ROOT, configuration], check=True, stdout=subprocess.PIPE, text=True)
    worker = os.path.join(built.stdout.strip(), "crash-worker")
    cutter = os.path.join(work, "cutter")
    source = os.path.join(os.path.dirname(os.path.realpath(__file__)), "cutter.c")
    subprocess.run(["clang", "-std=gnu17", "-D_GNU_SOURCE", "-O1", "-Wall", "-Werror", "-o", cutter, source], check=True)
    return worker, cutter


def try_all(kinds, options, work):
    """Runs all trials. Returns the tally, and the number of plans."""
    try:
        programs = build("debug" if options.debug else "release", work)
    except (OSError, subprocess.CalledProcessError) as fault:
        sys.exit(f"tools/crash-test: its programs cannot be built: {fault}")
    lines = subprocess.run([programs[0], "steps"], capture_output=True, text=True, check=True).stdout.splitlines()
    steps = [line.split()[0] for line in lines]
    if options.steps:
        wanted = options.steps.split(",")
        unknown = [step for step in wanted if step not in steps]
        if unknown:
            print(f"tools/crash-test: there is no operation {unknown[0]}; there are {', '.join(steps)}", file=sys.stderr)
            sys.exit(64)
        steps = wanted
    results, tally = multiprocessing.Queue(), Tally()
    jobs = [
        multiprocessing.Process(target=job.work, args=(number, options, kinds, steps, work, programs, results))
        for number in range(options.jobs)
    ]
    for process in jobs:
        process.start()
    try:
        left = len(jobs)
        while left:
            what, *details = results.get()
            if what == "over":
                left -= 1
            elif what == "failed":
                tally.faults.append(details[0])
                print(f"FAILED {details[0]}", flush=True)
            elif what == "cut":
                tally.cut(*details)
            else:
                tally.end(*details)
    finally:
        for process in jobs:
            process.terminate()
            process.join()
    return tally, {name: count for name, count, _ in job.phases(options, kinds, steps) if count}


def main():
    """Returns 0: no fault; 1: a fault; 64: wrong usage."""
    options = arguments()
    wanted = options.file_system or list(images.KINDS)
    kinds = [kind for kind in wanted if images.is_known(kind)]
    reason = why_not(kinds)
    if reason:
        print(f"tools/crash-test: skipped: {reason}")
        return 0
    packages = [package for package in map(images.missing, kinds) if package]
    if packages:
        subprocess.run([os.path.join(ROOT, "tools", "setup"), "--file-systems"], check=True)
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(1 << 31)
    for kind in set(wanted) - set(kinds):
        print(f"- {kind} is left out: the kernel does not know it")
    print(f"- file systems: {', '.join(kinds)}; seed {options.seed}", flush=True)
    # So that no mount and no file is left behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    work = tempfile.mkdtemp(prefix="crash-test.", dir=options.directory)
    try:
        tally, sizes = try_all(kinds, options, work)
    except KeyboardInterrupt:
        return 130
    finally:
        shutil.rmtree(work, ignore_errors=True)
    tally.table(sizes)
    return 1 if tally.faults else 0
