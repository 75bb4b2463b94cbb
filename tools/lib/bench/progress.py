"""What is being done, in one line of a terminal; nothing where standard error is none."""

import sys
import time


class Progress:
    def __init__(self) -> None:
        self.is_shown = sys.stderr.isatty()
        self.began = time.monotonic()

    def show(self, text: str) -> None:
        if self.is_shown:
            sys.stderr.write(f"\r\033[K{time.monotonic() - self.began:4.0f} s  {text}"[:200])
            sys.stderr.flush()

    def clear(self) -> None:
        if self.is_shown:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
