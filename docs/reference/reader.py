#!/usr/bin/env python3
"""Follows the changes of a group container, as `watch-group --since start` does. Written from format.md alone.

usage: reader.py CONTAINER [--once] [--copy DIRECTORY]

With --once: what the journal has by now. With --copy: keeps a copy of the container in DIRECTORY, which may be made new.

Joins nothing, and writes nothing into the container. Checks the header of each record only; the checksum behind it matters after a power
cut, and for damage.
"""
import os, shutil, stat, struct, sys, time

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


class Copy:
    """The container's files, links and directories in another directory. A line only says where to look: by the time
    that it is read, something else may stand there, which has a line of its own later. What comes and goes without
    coordination may have no line at all."""

    def __init__(self, container, directory):
        self.container, self.directory = (os.path.realpath(os.fsencode(place)) for place in (container, directory))
        self.copied = {}  # what each file and link looked like when it was copied
        self.listed = set()  # the paths that no line has named: they were found in a directory
        os.makedirs(self.directory, exist_ok=True)
        self.take(b"")

    def handle(self, kind, *paths):
        for path in [b""] if kind == "rescan" else [] if kind == "degraded" else paths:
            self.take(path)

    def settle(self):  # removes what was found in a directory, and is gone without a line
        for path in sorted(self.listed):
            elsewhere = self.leads_elsewhere(self.container, os.path.dirname(path))
            if elsewhere or not self.look(os.path.join(self.container, path)):
                self.take(path)

    def take(self, path, named=True):  # copies what stands at a path now, with all that is in it
        (self.listed.discard if named else self.listed.add)(path)
        above = os.path.dirname(path)
        if self.leads_elsewhere(self.directory, above):  # another kind of item stands above it
            return self.take(above)
        source, goal = os.path.join(self.container, path), os.path.join(self.directory, path)
        found = None if self.leads_elsewhere(self.container, above) else self.look(source)
        if found and stat.S_ISDIR(found[0]):
            if not os.path.isdir(goal) or os.path.islink(goal):
                self.remove(goal)
                os.mkdir(goal)
            for name in set(self.names(source) + self.names(goal)) - {b".group"}:
                self.take(os.path.join(path, name), named=False)
        elif not found or found != self.copied.get(path) or not os.path.lexists(goal):
            self.copied.pop(path, None)
            self.remove(goal)
            if found and (stat.S_ISREG(found[0]) or stat.S_ISLNK(found[0])):
                try:
                    shutil.copy2(source, goal, follow_symlinks=False)
                except FileNotFoundError:
                    return
                if self.look(source) == found:
                    self.copied[path] = found

    @staticmethod
    def leads_elsewhere(top, path):  # if a link or a file stands where there was a directory
        place = os.path.normpath(os.path.join(top, path))
        return os.path.realpath(place) != place or not os.path.isdir(place)

    @staticmethod
    def look(place):  # the date of change is another one after each write, even if the other date was put back
        try:
            found = os.lstat(place)
            return found.st_mode, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
        except (FileNotFoundError, NotADirectoryError):
            return None

    @staticmethod
    def names(directory):
        try:
            return os.listdir(directory)
        except (FileNotFoundError, NotADirectoryError):
            return []

    @staticmethod
    def remove(place):
        if os.path.isdir(place) and not os.path.islink(place):
            shutil.rmtree(place)
        elif os.path.lexists(place):
            os.unlink(place)


journal = Journal(sys.argv[1] + "/.group/journal")
sys.stdout.reconfigure(encoding="utf-8")
copy = Copy(sys.argv[1], sys.argv[sys.argv.index("--copy") + 1]) if "--copy" in sys.argv else None
while True:
    for line in journal.lines():
        if copy:
            copy.handle(*line)
        print(line[0], *map(escaped, line[1:]), sep="\t", flush=True)
    if copy:
        copy.settle()
    if "--once" in sys.argv:
        break
    time.sleep(0.1)
