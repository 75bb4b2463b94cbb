"""Installs missing peers: from Debian, and into a Python environment below .build."""

import os
import shutil
import subprocess
import sys

from .failures import Unavailable
from .programs import KEPT

ENVIRONMENT = os.path.join(KEPT, "python")
PYTHON = os.path.join(ENVIRONMENT, "bin", "python")


def debian(command: str, package: str) -> str:
    """The path of a command. Installs its package if it is missing."""
    path = shutil.which(command)
    if path is None:
        install([package])
        path = shutil.which(command)
    if path is None:
        raise missing([package])
    return path


def files(paths: list[str], names: list[str]) -> None:
    """Installs packages if headers or similar files are missing."""
    if not all(map(os.path.exists, paths)):
        install(names)
    if not all(map(os.path.exists, paths)):
        raise missing(names)


def missing(names: list[str]) -> Unavailable:
    return Unavailable(f"could not be installed; try: apt-get install {' '.join(names)}")


def install(names: list[str]) -> None:
    root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    apt = root + ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-o", "DPkg::Lock::Timeout=120", "-q=2"]
    command = apt + ["install", "--yes", "--no-install-recommends", *names]
    if not succeeds(command) and succeeds(apt + ["update"]):
        succeeds(command)


def python(module: str) -> str:
    """The interpreter of the environment, which has the module."""
    if not os.path.exists(PYTHON) and not succeeds([sys.executable, "-m", "venv", ENVIRONMENT]):
        raise Unavailable("no Python environment could be made; try: apt-get install python3-venv")
    if not succeeds([PYTHON, "-c", f"import {module}"]):
        if not succeeds([PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", module]):
            raise Unavailable(f"could not be installed; try: {PYTHON} -m pip install {module}")
    return PYTHON


def succeeds(command: list[str]) -> bool:
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError:
        return False
    return done.returncode == 0


def answer(command: list[str]) -> str:
    """The first line that a command prints, whatever its status; nothing where it cannot be started."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return (done.stdout + done.stderr).strip().partition("\n")[0]
