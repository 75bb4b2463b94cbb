"""The programs that replace files, and those that lock them. All have the same commands; see files.c."""

import os

from . import packages, programs
from .stores import Store
from .watchers import module_version, script


def foundation(_: dict[str, str]) -> list[str]:
    path = os.path.join(programs.KEPT, "foundation-files")
    programs.compile_swift(path, os.path.join(programs.HERE, "foundation-files.swift"))
    return [path]


def filelock(_: dict[str, str]) -> list[str]:
    return [packages.python("filelock"), script("filelock_work.py")]


def sqlite_insert(_: dict[str, str]) -> list[str]:
    packages.files(["/usr/include/sqlite3.h"], ["libsqlite3-dev"])
    path = os.path.join(programs.KEPT, "sqlite-insert")
    programs.compile_c(path, [os.path.join(programs.HERE, "sqlite-insert.c")], ["-lsqlite3"])
    return [path]


# Two of ours: the calls of an app, and the layer below them.
COORDINATOR = Store("coordinated write", lambda found: [found["bench-worker"]])
LOCK = Store("lock", lambda found: [found["bench-worker"]])
DATA = Store("Data.write(.atomic)", foundation)
BARE = Store("system calls", lambda found: [found["files"]])
ROUND_TRIPS = Store("futex round trips", lambda found: [found["round-trips"]])
FILELOCK = Store("py-filelock", filelock, version=lambda found: module_version("filelock")(found[:1]))
DATABASE = Store("GroupDatabase", lambda found: [found["database-member"], "measure"])
SQLITE_INSERT = Store("SQLite by itself", sqlite_insert, version=lambda found: [*found, "version"])
