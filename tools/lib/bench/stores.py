"""The stores of keys and values: how each is built or found. All have the same commands; see stores/store.c."""

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

from . import packages, programs
from .failures import Unavailable

HERE = os.path.join(programs.HERE, "stores")


@dataclass(frozen=True)
class Store:
    """A store. `find` installs what it needs, builds it and returns the first words of its commands; raises Unavailable."""

    name: str
    find: Callable[[dict[str, str]], list[str]]
    version: Callable[[list[str]], list[str]] | None = None
    is_on_bus: bool = False


@dataclass(frozen=True)
class StoreContender:
    """A column of the table, or, with a variant, a part of one."""

    column: str
    store: Store
    durability: str = "relaxed"
    variant: str = ""

    @property
    def party(self) -> Store:
        return self.store

    @property
    def name(self) -> str:
        return f"{self.column}, {self.variant}" if self.variant else self.column


def build(name: str, libraries: list[str] | None = None) -> list[str]:
    path = os.path.join(programs.KEPT, name)
    sources = [os.path.join(HERE, source) for source in ("store.c", "unsupported.c", f"{name}.c")]
    programs.compile_c(path, sources, libraries)
    return [path]


def sqlite(_: dict[str, str]) -> list[str]:
    packages.files(["/usr/include/sqlite3.h"], ["libsqlite3-dev"])
    return build("sqlite", ["-lsqlite3"])


def lmdb(_: dict[str, str]) -> list[str]:
    packages.files(["/usr/include/lmdb.h"], ["liblmdb-dev"])
    return build("lmdb", ["-llmdb"])


def dconf(_: dict[str, str]) -> list[str]:
    service = "/usr/share/dbus-1/services/ca.desrt.dconf.service"
    packages.files(["/usr/include/dconf/dconf.h", service], ["libdconf-dev", "dconf-service"])
    packages.debian("pkg-config", "pkg-config")
    packages.debian("dbus-daemon", "dbus")
    said = subprocess.run(["pkg-config", "--cflags", "--libs", "dconf"], capture_output=True, text=True, check=False)
    if said.returncode != 0:
        raise Unavailable(said.stderr.strip().partition("\n")[0])
    return build("dconf", said.stdout.split())


def foundation(_: dict[str, str]) -> list[str]:
    path = os.path.join(programs.KEPT, "foundation")
    programs.compile_swift(path, os.path.join(HERE, "foundation.swift"))
    return [path]


OURS = Store("GroupDefaults", find=lambda found: [found["bench-worker"]])
SQLITE = Store("SQLite", sqlite, version=lambda found: [*found, "version"])
LMDB = Store("LMDB", lmdb, version=lambda found: [*found, "version"])
DCONF = Store("dconf", dconf, version=lambda _: ["pkg-config", "--modversion", "dconf"], is_on_bus=True)
FOUNDATION = Store("UserDefaults", foundation)
SWAP = Store("compare-and-swap", lambda _: build("compare-and-swap"))
INOTIFY = Store("inotify on a file", lambda _: build("inotify"))
