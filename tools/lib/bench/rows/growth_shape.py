"""The cost of a start, a change and a write in a wide and in a deep tree."""

import os

from ..changes import RENAME
from ..goals import Goal
from ..places import Place
from ..row import Contender
from ..watchers import FLOOR, INOTIFYWAIT, OURS
from .growth import Growth, steady_goals


class GrowthOfShape(Growth):
    """A wide and a deep tree beside a small one. The changes are uncoordinated, for all contenders alike."""

    name = "growth-shape"
    title = "the shape of a tree: {wide:,} files in one directory; {deep:,} directories one in the other"
    # Python removes at most some 900 nested directories.
    sizes = {"samples": (100, 10), "wide": (100_000, 1_000), "deep": (800, 100)}

    def shapes(self) -> dict[int, str]:
        """The names of the trees, by the numbers that stand for them."""
        wide, deep = self.size("wide"), self.size("deep")
        return {100: "100 files", wide: f"{wide:,} files in one directory", deep: f"{deep:,} nested directories"}

    def steps(self) -> list[int]:
        return list(self.shapes())

    def label(self, count: int, what: str) -> str:
        return f"{self.shapes()[count]}: {what}"

    def goals(self) -> list[Goal]:
        # Nothing of the deep tree: the kernel walks down the path for each change, from the container's root.
        return steady_goals(self, 100, self.size("wide"))

    def contenders(self) -> list[Contender]:
        return [Contender(w.name, w, RENAME, str(count)) for w in (OURS, FLOOR, INOTIFYWAIT) for count in self.steps()]

    def directory(self, bench, place: Place, contender: Contender) -> str:
        directory, count = place.fresh(), int(contender.variant)
        if count == self.size("deep"):
            deepest = directory
            for _ in range(count):
                deepest = os.path.join(deepest, "d")
                os.mkdir(deepest)
        else:
            bench.changes.make_files(directory, "file", 0, count)
        if contender.watcher.is_ours:
            bench.changes.make_container(directory)
            bench.learn(OURS, directory)
        return directory

    def changed(self, directory: str) -> str:
        deepest = os.path.join(directory, "/".join("d" * self.size("deep")))
        return deepest if os.path.isdir(deepest) else directory
