"""The places for directories: in memory, and on a disk. Everything is removed at the end of the run."""

import os
import shutil
import tempfile
from dataclasses import dataclass


def file_system(path: str) -> str:
    """The type of a path's file system, by the kernel's name."""
    device = os.stat(path).st_dev
    wanted = f"{os.major(device)}:{os.minor(device)}"
    found = "unknown"
    with open("/proc/self/mountinfo", encoding="utf-8") as mounts:
        for line in mounts:
            before, _, after = line.partition(" - ")
            if before.split()[2] == wanted:
                found = after.split()[0]
    return found


@dataclass
class Place:
    """One directory of this run; each round gets a new one in it."""

    name: str
    root: str
    type: str
    count: int = 0

    @staticmethod
    def make(name: str, parent: str) -> "Place":
        return Place(name, tempfile.mkdtemp(prefix="group-container-bench.", dir=parent), file_system(parent))

    def fresh(self, word: str = "round") -> str:
        self.count += 1
        directory = os.path.join(self.root, f"{word}{self.count}")
        os.mkdir(directory)
        return directory

    def empty(self) -> None:
        """Removes what the rounds of a row left: files in memory take memory and inodes from the next row."""
        for name in os.listdir(self.root):
            shutil.rmtree(os.path.join(self.root, name), ignore_errors=True)

    def close(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
