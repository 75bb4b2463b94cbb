"""Does the same as files.c, with py-filelock: see there.

usage: filelock_work.py create DIRECTORY
       filelock_work.py lock DIRECTORY BATCH BATCHES
       filelock_work.py POLL work DIRECTORY 0 BEGIN END SEED    asks again every so many seconds
"""

import os
import sys
import time

from filelock import FileLock


def lock(batch: int, batches: int) -> None:
    held = FileLock("lock")
    for number in range(-1, batches):
        began = time.monotonic_ns()
        for _ in range(batch):
            with held:
                pass
        if number >= 0:
            print((time.monotonic_ns() - began) // batch)


def work(poll: float, begin: int, end: int) -> None:
    held = FileLock("lock")
    temporary = f"temporary.{os.getpid()}"
    writes, longest, last, faults = 0, 0, 0, 0
    time.sleep(max(0, begin - time.monotonic_ns()) / 1e9)
    while (began := time.monotonic_ns()) < end:
        with held.acquire(poll_interval=poll):
            longest = max(longest, time.monotonic_ns() - began)
            with open("n", encoding="ascii") as file:
                following = int(file.read()) + 1
            with open(temporary, "w", encoding="ascii") as file:
                file.write(f"{following}\n")
            os.rename(temporary, "n")
        faults += following <= last
        last = following
        writes += 1
    print(writes, 0, longest // 1000, longest // 1000, faults)


def main(words: list[str]) -> None:
    poll = float(words.pop(0)) if words[0][0].isdigit() else 0.05
    word, directory = words[:2]
    os.chdir(directory)
    if word == "create":
        FileLock("lock").acquire().lock.release()
    elif word == "lock":
        lock(int(words[2]), int(words[3]))
    elif word == "work":
        work(poll, int(words[3]), int(words[4]))


main(sys.argv[1:])
