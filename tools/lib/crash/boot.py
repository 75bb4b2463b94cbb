"""What programs take for the start of the machine."""

import ctypes
import os
import uuid

from .images import run

NEW_MOUNTS = 0x20000
IDENTIFIER = "/proc/sys/kernel/random/boot_id"


class Boot:
    """This process goes into a mount namespace of its own, where the machine is started as often as it says."""

    def __init__(self, path):
        self.path, self.first = path, str(uuid.uuid4())
        self.begin("first")
        if ctypes.CDLL(None, use_errno=True).unshare(NEW_MOUNTS) != 0:
            raise OSError(ctypes.get_errno(), "unshare")
        run("mount", "--make-rprivate", "/")
        run("mount", "--bind", path, IDENTIFIER)

    def begin(self, name=None):
        """Another one; or the first again."""
        # In place: it is mounted.
        with open(self.path, "r+" if os.path.exists(self.path) else "w", encoding="ascii") as file:
            file.write((self.first if name == "first" else str(uuid.uuid4())) + "\n")
