"""The build of a package that depends on this one, from nothing."""

import os
import shutil
import subprocess
import time

from ..failures import Failed, Unavailable
from ..goals import Goal
from ..places import Place
from ..programs import ROOT
from ..row import Contender, Finding, Row, cells, gathered
from ..table import Table
from ..watchers import Watcher

BUILD, SIZE = "clean release build, s", "the app, stripped, MiB"
PACKAGE = os.path.join(ROOT, "tools", "lib", "scratch-package")
APP = "shelf"
SWIFT = Watcher("an app and its widget", find=lambda _: ["swift"], command=lambda found, directory: [])


class DependentBuild(Row):
    name = "dependent-build"
    title = "a package with an app and a widget that depends on this one is built with optimization, from nothing"
    places = ("disk",)

    def goals(self) -> list[Goal]:
        return [
            Goal("at most 100 s", BUILD, SWIFT.name, most=100),
            Goal("at most 15 MiB", SIZE, SWIFT.name, most=15),
        ]

    def contenders(self) -> list[Contender]:
        return [Contender(SWIFT.name, SWIFT)]

    def round(self, bench, place: Place, contender: Contender) -> Finding:
        if self.is_quick:
            raise Unavailable("takes minutes")
        package = os.path.join(place.fresh("package"), APP)
        shutil.copytree(PACKAGE, package)
        environment = {**os.environ, "GROUP_CONTAINER_PACKAGE": ROOT}
        command = [*bench.found(contender.watcher), "build", "--configuration", "release", "--package-path", package]
        began = time.monotonic()
        done = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        taken = time.monotonic() - began
        if done.returncode != 0:
            raise Failed(f"does not build: {(done.stdout + done.stderr).strip()[-200:]}")
        app = os.path.join(package, ".build", "release", APP)
        stripped = os.path.join(package, "stripped")
        subprocess.run(["strip", "-o", stripped, app], check=True)
        return {"build": taken, "size": os.path.getsize(stripped) / (1 << 20)}

    def summarize(self, table: Table, findings: dict[Contender, list[Finding]]) -> None:
        table.add(BUILD, cells(gathered(findings, "build"), max))
        table.add(SIZE, cells(gathered(findings, "size"), max))
