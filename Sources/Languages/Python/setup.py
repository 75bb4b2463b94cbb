"""Builds the wheel; called by tools/wheel, which puts the library and the version here."""

import os

from setuptools import setup

# The library is the same for each Python 3, but not for each machine: Debian 12 has the C library 2.36.
setup(
    version=os.environ["GROUP_CONTAINER_VERSION"],
    options={"bdist_wheel": {"plat_name": "manylinux_2_36_" + os.uname().machine}},
)
