"""The lines of the watchers' standard error in a round, each with its time."""

import os
import threading
import time


class ErrorsPipe:
    def __init__(self) -> None:
        reading, self.writing = os.pipe()
        self.lines: list[tuple[int, str]] = []
        self.thread = threading.Thread(target=self.collect, args=(reading,), daemon=True)
        self.thread.start()

    def collect(self, reading: int) -> None:
        with os.fdopen(reading, encoding="utf-8", errors="replace") as file:
            for line in file:
                self.lines.append((time.monotonic_ns(), line.rstrip("\n")))

    def moment(self, word: str, number: int = 1) -> int | None:
        """The time of the first line with a word, or of the second, and so on."""
        moments = [moment for moment, line in self.lines if word in line]
        return moments[number - 1] if len(moments) >= number else None

    def last(self) -> str:
        return self.lines[-1][1][:160] if self.lines else "nothing on standard error"

    def close_writing(self) -> None:
        if self.writing >= 0:
            os.close(self.writing)
            self.writing = -1

    def close(self) -> None:
        self.close_writing()
        self.thread.join(timeout=5)
