"""The files in which programs read the start of the machine."""

import ctypes
import os
import uuid

from .images import run

NEW_MOUNTS = 0x20000
IDENTIFIER = "/proc/sys/kernel/random/boot_id"


class Boot:
    """Gives this process a mount namespace of its own, in which it decides when the machine seems to start."""

    def __init__(self, path):
        self.path, self.first = path, str(uuid.uuid4())
        self.begin("first")
        if ctypes.CDLL(None, use_errno=True).unshare(NEW_MOUNTS) != 0:
            raise OSError(ctypes.get_errno(), "unshare")
        run("mount", "--make-rprivate", "/")
        run("mount", "--bind", path, IDENTIFIER)

    def begin(self, name=None):
        """Shows another boot, or the first one again."""
        # Written in place, because the file is mounted.
        with open(self.path, "r+" if os.path.exists(self.path) else "w", encoding="ascii") as file:
            file.write((self.first if name == "first" else str(uuid.uuid4())) + "\n")
