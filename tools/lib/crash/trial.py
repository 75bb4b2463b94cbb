"""One plan on one file system: its power cuts, and the state after each."""

import os
import subprocess

from .images import Image


class Bench:
    """The place for one trial at a time: an image, a directory, and the programs."""

    def __init__(self, kind, work, boot, worker, cutter):
        self.kind, self.boot, self.worker, self.cutter = kind, boot, worker, cutter
        self.work = os.path.join(work, kind)
        os.makedirs(self.work)
        self.image = Image(kind, self.path("image"), self.path("disk"))
        self.container = self.path("disk", "container")

    def path(self, *names):
        """The path of a file in this place's directory."""
        return os.path.join(self.work, *names)

    def prepare(self, path):
        """Makes the image with which each trial begins."""
        self.boot.begin("first")
        self.image.make()
        self.image.mount()
        try:
            subprocess.run([self.worker, "prepare", self.container], check=True, stdin=subprocess.DEVNULL)
        finally:
            self.image.unmount()
        self.image.keep(path)

    def steps(self, template, plan):
        """Runs a plan to its end. Returns each step where the power can be cut, whether a call that waits for the disk
        returned right before it, and the number of the plan's operations that were acknowledged by then."""
        return self.traced(template, ["list"], plan)

    def traced(self, template, mode, plan):
        """Runs a plan under the cutter. Returns the steps of its report, and the number of acknowledged operations."""
        self.boot.begin("first")
        self.image.become(template)
        self.image.mount()
        try:
            with open(self.path("printed"), "w+", encoding="utf-8") as printed:
                # Each process appends its lines.
                subprocess.run(
                    [self.cutter, mode[0], self.path("report"), *mode[1:], "--", self.worker, "run", self.container]
                    + list(plan),
                    check=True, stdin=subprocess.DEVNULL, stdout=printed, stderr=subprocess.DEVNULL)
        finally:
            self.image.unmount()
        with open(self.path("printed"), encoding="utf-8") as file:
            printed = file.read()
        if "fault" in printed and mode[0] != "cut":
            raise RuntimeError(f"{' '.join(plan)} failed without a power cut: {printed.strip()}")
        with open(self.path("report"), encoding="ascii") as report:
            lines = [line.split() for line in report]
        return [(int(step), synced == "synced", printed[: int(size)].count("\n")) for step, _, synced, size in lines]

    def inspect(self, plan, acknowledged, wrapper=()):
        """Runs the worker on the container in another boot. Returns its findings and faults."""
        self.boot.begin()
        done = subprocess.run(
            [*wrapper, self.worker, "inspect", self.container, str(acknowledged), *plan], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        lines = done.stdout.splitlines()
        found = next((line for line in lines if line.startswith("found ")), "")
        faults = [line for line in lines if not line.startswith("found ")]
        if not faults and (done.returncode != 0 or not found) and not wrapper:
            faults = [f"inspect ended with {done.returncode} and printed nothing"]
        return found, faults

    def verdict(self, plan, acknowledged, recut=None):
        """Checks the present image: opens it, cuts the power again, and opens it once more. `recut` is a step of the
        first opening at which the power is cut, too."""
        faults = []
        if recut and self.kind != "btrfs":
            self.image.mount()
            try:
                wrapper = [self.cutter, "cut", self.path("report"), str(recut), "lose", self.image.directory, "0", "--"]
                self.inspect(plan, acknowledged, wrapper)
            finally:
                self.image.unmount()
        self.image.mount()
        try:
            found, faults = self.inspect(plan, acknowledged)
            self.image.cut()
        finally:
            self.image.unmount()
        if faults:
            return faults
        self.image.mount()
        try:
            again, faults = self.inspect(plan, acknowledged)
        finally:
            self.image.unmount()
        if again != found:
            faults.append(f"opened again, after another power cut: {again}; at first: {found}")
        return faults
