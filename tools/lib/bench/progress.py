"""The present step, in one line on a terminal; nothing where standard error is not one."""

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
