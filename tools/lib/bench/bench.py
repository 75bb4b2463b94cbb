"""One run: the parts that all rows share, and the order of the contenders' turns."""

import os
import subprocess
import tempfile

from . import packages, programs
from .changes import Changes
from .failures import Failed, Unavailable
from .places import Place
from .progress import Progress
from .row import Contender, Finding, Row
from .session import Session
from .table import Table
from .stores import Store
from .watchers import Watcher


class Bench:
    """A run, used with `with`: makes its directories, and removes them."""

    def __init__(self, directory: str | None, is_quick: bool = False) -> None:
        self.is_quick = is_quick
        self.directory = directory or tempfile.gettempdir()
        self.progress = Progress()
        self.places: list[Place] = []
        self.scratch = ""
        self.programs: dict[str, str] = {}
        self.findings: dict[str, list[str] | Unavailable] = {}

    def __enter__(self) -> "Bench":
        self.programs = programs.build(self.progress.show)
        self.changes = Changes(self.programs)
        # In memory, so that notes during the run disturb no disk. A short path, because watchman's socket is in it.
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else self.directory
        self.scratch = tempfile.mkdtemp(prefix="bench.", dir=memory)
        self.places = [Place.make("memory", memory), Place.make("disk", self.directory)]
        if self.places[0].type == self.places[1].type:
            self.places.pop().close()
        return self

    def __exit__(self, *_) -> None:
        self.progress.clear()
        for place in self.places:
            place.close()
        Place("scratch", self.scratch, "").close()

    def found(self, party: Watcher | Store) -> list[str]:
        """The first words of its commands. Installs the program at the first call. Raises Unavailable."""
        if party.name not in self.findings:
            self.progress.show(f"looking for {party.name}")
            try:
                self.findings[party.name] = party.find(self.programs)
            except Unavailable as reason:
                self.findings[party.name] = reason
        found = self.findings[party.name]
        if isinstance(found, Unavailable):
            raise found
        return found

    def versions(self, rows: list[Row]) -> dict[str, str]:
        """The versions of the peers in some rows, as the programs print them."""
        versions = {}
        for party in dict.fromkeys(contender.party for row in rows for contender in row.contenders()):
            if party.version is None:
                continue
            try:
                answer = packages.answer(party.version(self.found(party)))
                versions[party.name] = answer.removeprefix(party.name).strip()
            except Unavailable as reason:
                versions[party.name] = f"({reason})"
        return versions

    def container(self, watcher: Watcher, directory: str) -> str:
        """The directory. For our watcher, makes it a container."""
        if watcher.is_ours:
            self.changes.make_container(directory)
        return directory

    def learn(self, watcher: Watcher, directory: str) -> None:
        """Runs our watcher once on the present container, so that it will not report later what is there already."""
        if watcher.is_ours:
            with Session(self, watcher, directory) as session:
                session.await_said()
                session.await_idle()

    def run(self, row: Row, place: Place) -> Table:
        """Runs all rounds of a row on a place: each contender once, then each again, so that noise affects all alike."""
        contenders = row.contenders()
        columns = list(dict.fromkeys(contender.column for contender in contenders))
        table = Table(row.name, place.type, row.heading, columns)
        findings: dict[Contender, list[Finding]] = {contender: [] for contender in contenders}
        excuses: dict[Contender, tuple[str, str]] = {}
        try:
            row.prepare(self, place)
        except Failed as reason:
            excuses = {contender: ("failed", str(reason)) for contender in contenders}
        for number in range(row.rounds):
            for contender in contenders:
                if contender in excuses:
                    continue
                self.progress.show(f"{row.name} ({place.type}), round {number + 1} of {row.rounds}: {contender.name}")
                try:
                    findings[contender].append(row.round(self, place, contender))
                except Unavailable as reason:
                    excuses[contender] = ("not there", str(reason))
                except Failed as reason:
                    excuses[contender] = ("failed", str(reason))
                except (OSError, subprocess.SubprocessError) as reason:
                    excuses[contender] = ("failed", f"could not be run: {reason}")
        row.summarize(table, {contender: rounds for contender, rounds in findings.items() if rounds})
        for contender, (word, reason) in excuses.items():
            table.excuses.setdefault(contender.column, word)
            table.notes.append(f"{contender.name}: {reason}")
        table.goals = [goal.verdict(table) for goal in row.goals() if goal.applies(table)]
        place.empty()
        self.progress.clear()
        return table
