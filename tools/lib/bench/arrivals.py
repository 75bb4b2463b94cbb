"""The reader of the pipes (arrivals.c): the reported changes, with their times."""

import os
import subprocess
from dataclasses import dataclass

from .failures import Failed


@dataclass
class Report:
    """The last output of the reader, in the order in which it is printed."""

    open: int
    ready: int
    lowest_probe: int
    samples: int
    befores: int
    bytes: int
    is_marked: int
    first_probe: int


@dataclass
class Arrival:
    first: int
    last: int
    pipes: int


class Arrivals:
    def __init__(self, program: str, scratch: str, descriptors: list[int], raw: str | None = None) -> None:
        self.dump_file = os.path.join(scratch, "arrivals")
        self.process = subprocess.Popen(
            [program, raw or "-", *map(str, descriptors)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, pass_fds=descriptors,
        )

    def command(self, text: str) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(text + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Failed("the reader of the pipes ended") from None

    def report(self) -> Report:
        self.command("report")
        return Report(*map(int, self.answer().split()))

    def dump(self) -> dict[int, Arrival]:
        """The times by the number of the sample, without samples that were never reported."""
        self.command(f"dump {self.dump_file}")
        self.answer()
        arrivals = {}
        with open(self.dump_file, encoding="ascii") as file:
            for line in file:
                number, first, last, pipes = map(int, line.split())
                arrivals[number] = Arrival(first, last, pipes)
        return arrivals

    def answer(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise Failed("the reader of the pipes ended")
        return line

    def close(self) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process.wait()
