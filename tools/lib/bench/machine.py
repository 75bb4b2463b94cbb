"""The facts about the machine, above the tables: without them the numbers mean nothing."""

import os
import platform
import time

from .packages import answer
from .places import Place
from .programs import ROOT


def facts(places: list[Place], versions: dict[str, str]) -> dict[str, str]:
    commit = answer(["git", "-c", f"safe.directory={ROOT}", "-C", ROOT, "describe", "--always", "--dirty"])
    return {
        "date": time.strftime("%Y-%m-%d %H:%M %Z"),
        "machine": f"{processor()}, {os.cpu_count()} cores, {memory_gibibytes()} GiB",
        "load before": " ".join(f"{load:.2f}" for load in os.getloadavg()),
        "kernel": f"{platform.system()} {platform.release()}",
        "file systems": ", ".join(f"{place.name}: {place.type} at {os.path.dirname(place.root)}" for place in places),
        "inotify limits": limits(),
        "ours": f"at commit {commit}, {answer(['swift', '--version'])}",
        "theirs": ", ".join(f"{name} {version}" for name, version in versions.items()),
    }


def processor() -> str:
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()


def memory_gibibytes() -> int:
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)


def limits() -> str:
    parts = []
    for name in ("max_queued_events", "max_user_instances", "max_user_watches"):
        with open(f"/proc/sys/fs/inotify/{name}", encoding="utf-8") as file:
            parts.append(f"{name} {file.read().strip()}")
    return ", ".join(parts)
