"""File systems in files, whose power can be cut."""

import fcntl
import os
import shutil
import subprocess

# _IOR('X', 125, __u32), and the flag with which the log's memory is lost.
SHUT_DOWN, LOSE_LOG = 0x8004587D, 2

# For each kind: the command that makes it, the mount options with which nothing reaches the disk by time alone, and its
# package.
KINDS = {
    "ext4": (["mkfs.ext4", "-q", "-F"], 64, "commit=300", "e2fsprogs"),
    "xfs": (["mkfs.xfs", "-q", "-f"], 320, "nouuid", "xfsprogs"),
    "btrfs": (["mkfs.btrfs", "-q", "-f"], 256, "commit=300", "btrfs-progs"),
}

# The ways of a power cut: the file system's own log is lost or flushed, or a copy of the live image is taken.
CUTS = {"ext4": ["lose", "flush", "copy"], "xfs": ["lose", "flush", "copy"], "btrfs": ["copy"]}


def run(*words):
    """Runs a command; prints its output only if it fails."""
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: {done.stdout.strip() or done.returncode}")


def missing(kind):
    """The package of the command that makes such a file system, if that command is missing."""
    command, _, _, package = KINDS[kind]
    return None if shutil.which(command[0]) else package


def is_known(kind):
    """Whether the kernel has that file system."""
    with open("/proc/filesystems", encoding="ascii") as lines:
        return any(line.split()[-1] == kind for line in lines)


class Image:
    """A file with a file system in it, and the directory where that is mounted."""

    def __init__(self, kind, path, directory):
        self.kind, self.path, self.directory = kind, path, directory
        os.makedirs(directory, exist_ok=True)

    def make(self):
        """Makes the file system anew."""
        command, megabytes, _, _ = KINDS[self.kind]
        with open(self.path, "wb") as file:
            file.truncate(megabytes << 20)
        run(*command, self.path)

    def become(self, other):
        """Takes the content of another image."""
        run("cp", other, self.path)

    def keep(self, path):
        """Copies the present content to a file, with holes where there are zeros."""
        run("cp", "--sparse=always", self.path, path)

    def mount(self):
        """Mounts the file system, which recovers it after a power cut."""
        run("mount", "-t", self.kind, "-o", "loop," + KINDS[self.kind][2], self.path, self.directory)

    def unmount(self):
        """Unmounts the file system."""
        run("umount", self.directory)

    def cut(self):
        """Cuts the power now; returns false where only a copy of the image can stand for a cut."""
        if "lose" not in CUTS[self.kind]:
            return False
        root = os.open(self.directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.ioctl(root, SHUT_DOWN, LOSE_LOG.to_bytes(4, "little"))
        finally:
            os.close(root)
        return True
