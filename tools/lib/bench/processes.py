"""The processes that this run started: their resources, and their ends."""

import os
import subprocess

from .failures import Failed

TICKS = os.sysconf("SC_CLK_TCK")


def processor_seconds(process: int) -> float:
    """The user and system time so far."""
    with open(f"/proc/{process}/stat", encoding="utf-8") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def peak_mebibytes(process: int) -> float:
    """The largest resident memory."""
    return memory(process, "VmHWM:")


def resident_mebibytes(process: int) -> float:
    """The resident memory."""
    return memory(process, "VmRSS:")


def memory(process: int, measure: str) -> float:
    with open(f"/proc/{process}/status", encoding="utf-8") as file:
        for line in file:
            if line.startswith(measure):
                return int(line.split()[1]) / 1024
    return 0.0


def switches(process: int) -> int:
    """How often a processor was given to one of the process's threads so far."""
    count = 0
    for task in os.listdir(f"/proc/{process}/task"):
        try:
            with open(f"/proc/{process}/task/{task}/status", encoding="utf-8") as file:
                count += sum(int(line.split()[1]) for line in file if "ctxt_switches:" in line)
        except FileNotFoundError:
            continue
    return count


def end(processes: list[subprocess.Popen]) -> None:
    """Ends each process with SIGTERM, or with SIGKILL after 5 s."""
    for process in processes:
        if process.poll() is None:
            process.terminate()
    for process in processes:
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class IdleMembers:
    """Processes that print "ready" and then do nothing until their standard input, which they share, ends. Used with
    `with`, whose body runs when all are ready."""

    def __init__(self, command: list[str], count: int) -> None:
        self.command, self.count = command, count
        self.started: list[subprocess.Popen] = []

    def __enter__(self) -> "IdleMembers":
        inner, self.input = os.pipe()
        self.output, outer = os.pipe()
        try:
            for _ in range(self.count):
                self.started.append(subprocess.Popen(self.command, stdin=inner, stdout=outer, stderr=outer))
            os.close(outer)
            printed = b""
            while printed.count(b"\n") < self.count:
                more = os.read(self.output, 65_536)
                printed += more
                if not more or printed.strip(b"ready\n"):
                    raise Failed(f"{self.command[1]} failed: {printed[-200:].decode()}")
        except BaseException:
            self.__exit__()
            raise
        finally:
            os.close(inner)
        return self

    def __exit__(self, *_) -> None:
        os.close(self.input)
        end(self.started)
        os.close(self.output)
