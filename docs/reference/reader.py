#!/usr/bin/env python3
"""Follows the changes of a group container, as `watch-group --since start` does. Written from format.md alone.

usage: reader.py CONTAINER [--once]     with --once: what the journal has by now

Joins nothing and writes nothing. Checks the header of each record only; the checksum behind it matters after a power
cut, and for damage.
"""
import os, struct, sys, time

KINDS = {1: "created", 2: "modified", 3: "removed", 4: "moved", 5: "exchanged", 6: "touched", 65: "degraded"}
TRANSACTION, DEGRADED = 7, 65
EMPTY, RESERVED, COMMITTED, ABORTED, SEAL = range(5)
M64 = (1 << 64) - 1


class File:  # journal/<n>.log
    def __init__(self, directory, number):
        self.number, self.fd = number, os.open(f"{directory}/{number}.log", os.O_RDONLY)
        fields = struct.unpack_from("<8sIIQQQQQ", self.read(0, 4096))
        if fields[:2] != (b"GROUPLOG", 1):
            sys.exit(f"{number}.log is no log of version 1")
        self.salt, _, self.base, self.previous_end, self.capacity = fields[3:]

    def __del__(self):
        os.close(self.fd) if hasattr(self, "fd") else None

    def read(self, offset, count):
        return os.pread(self.fd, count, offset)

    def word(self, offset):  # the lower 48 bits; None where the upper 16 do not fit them
        number = struct.unpack("<Q", self.read(offset, 8))[0]
        m = (number & (1 << 48) - 1 ^ self.salt ^ offset << 20) & M64
        for factor in 0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53:
            m = (m ^ m >> 33) * factor & M64
        return number & (1 << 48) - 1 if number == 0 or number >> 48 == (m ^ m >> 33) & 0xFFFF else None

    def end(self, following):  # its end, by its successor's header or by a cut
        return min(self.word(144) or self.capacity - 8, following.previous_end if following else self.capacity)


class Body:
    def __init__(self, content):
        self.content, self.place = content, 0

    def take(self, layout):
        self.place += struct.calcsize("<" + layout)
        return struct.unpack_from("<" + layout, self.content, self.place - struct.calcsize("<" + layout))

    def counted(self):
        return self.take(f"{self.take('H')[0]}s")[0]

    def change(self, kind, flags):  # behind kind and flags: states, path, `from`
        self.place += 56 * ((flags >> 2 & 1) + (flags >> 4 & 1))
        return [KINDS[kind], self.counted()] + ([self.counted()] if flags & 2 else [])

    def lines(self):
        kind, flags = self.take("BBHiqQ16s")[:2]
        if kind == TRANSACTION:
            return [self.change(*self.take("BBH")[:2]) for _ in range(self.take("I")[0])]
        line = self.change(kind, flags) if kind in KINDS else None
        if kind == DEGRADED:
            line.append(self.counted())  # the reason; none: watching is complete again
        return [line] if line and line[-1] != b"" else []


class Journal:
    def __init__(self, directory):
        self.directory, self.sequence = directory, None
        self.begin(next(file for file in map(self.open, self.numbers()) if file.word(4096)
                        or file.number == self.numbers()[-1] or file.end(self.open(file.number + 1)) == 4096))

    def numbers(self):  # the segments that lead without a gap to the highest
        there = sorted(int(name[:-4]) for name in os.listdir(self.directory) if name.endswith(".log"))
        return [number for place, number in enumerate(there) if there[-1] - number == len(there) - 1 - place]

    def open(self, number):
        return File(self.directory, number) if os.path.exists(f"{self.directory}/{number}.log") else None

    def begin(self, file):  # True: there is nothing missing before it
        self.file, self.offset, known, self.sequence = file, 4096, self.sequence, file.base
        return known in (None, file.base)

    def lines(self):  # what is new
        following = None
        while True:
            following = following or self.open(self.file.number + 1)
            header = SEAL if self.offset >= self.file.end(following) else self.file.word(self.offset)
            if header is None:
                sys.exit(f"{self.file.number}.log is damaged at byte {self.offset}")
            state, control, length = header & 7, header >> 3 & 1, (header >> 4 & 0x3FFFFF) * 8
            if state in (ABORTED, COMMITTED):
                if state == COMMITTED:
                    count = struct.unpack("<I", self.file.read(self.offset + 8, 4))[0]
                    yield from Body(self.file.read(self.offset + 12, count)).lines()
                    self.sequence += 1 - control
                self.offset += length
            elif state == SEAL and following:
                if not self.begin(following):
                    yield ["rescan", b""]
                following = None
            elif state == SEAL and self.numbers()[-1] > self.file.number:  # the next segment was dropped
                self.begin(self.open(self.numbers()[-1]))
                list(self.lines())
                yield ["rescan", b""]
            else:  # no record yet, or one that is being written
                return


def escaped(name):
    def rewritten(c):
        if c in "\\\t\n\r":
            return {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}[c]
        isPlain = c >= " " and not "\x7f" <= c < "\xa0" and not "\udc80" <= c <= "\udcff"
        return c if isPlain else "".join(f"\\{byte:03o}" for byte in c.encode("utf-8", "surrogateescape"))
    return "".join(map(rewritten, name.decode("utf-8", "surrogateescape")))


journal = Journal(sys.argv[1] + "/.group/journal")
sys.stdout.reconfigure(encoding="utf-8")
while True:
    for line in journal.lines():
        print(line[0], *map(escaped, line[1:]), sep="\t", flush=True)
    if "--once" in sys.argv:
        break
    time.sleep(0.1)
