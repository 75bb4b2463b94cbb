"""Our programs, built for this run: in Swift with optimization, and the small ones in C."""

import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
# Ignored by git, like everything in .build.
KEPT = os.path.join(ROOT, ".build", "bench")
# Measured as they are installed.
INSTALLED = ("watch-group", "groupctl", "group-cluster")
SWIFT = ("bench-worker", "cluster-bench", "database-member", "group-transfer")
# Also with shared libraries, as nothing can be preloaded into a static program.
DYNAMIC = "watch-group"
C = ("arrivals", "bare-inotify", "files", "one-thread", "plain-changes", "round-trips")


# As tools/lib/common.sh has them.
TRAITS = ("--traits", "InotifyTools,SQLite,Curl,Secrets,PNG,ICalendar", "--scratch-path", os.path.join(ROOT, ".build", "tools"))


def build(show) -> dict[str, str]:
    """The programs' paths by name. Ends the run if one does not compile."""
    paths = {}
    run([os.path.join(ROOT, "tools", "setup")])
    show(f"installing {' and '.join(INSTALLED)}")
    run([os.path.join(ROOT, "tools", "install"), "--prefix", os.path.join(KEPT, "installed")])
    for name in INSTALLED:
        paths[name] = os.path.join(KEPT, "installed", "bin", name)
    for name in (*SWIFT, DYNAMIC):
        show(f"building {name}")
        run(["swift", "build", *TRAITS, "--configuration", "release", "--product", name])
        paths[f"dynamic {name}" if name == DYNAMIC else name] = os.path.join(ROOT, ".build", "tools", "release", name)
    for name in C:
        show(f"compiling {name}")
        paths[name] = os.path.join(KEPT, name)
        compile_c(paths[name], [os.path.join(HERE, f"{name}.c")])
    library = "allocations.so"
    paths[library] = os.path.join(KEPT, library)
    compile_c(paths[library], [os.path.join(HERE, "allocations.c")], ["-shared", "-fPIC"])
    return paths


def compiler() -> str:
    found = shutil.which("cc") or shutil.which("clang")
    if found is None:
        sys.exit("tools/bench: no C compiler (cc or clang): install one")
    return found


def compile_c(path: str, sources: list[str], libraries: list[str] | None = None) -> None:
    os.makedirs(KEPT, exist_ok=True)
    if is_newer(path, [os.path.join(directory, name) for directory, _, names in os.walk(HERE) for name in names]):
        return
    strict = ["-std=gnu17", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror"]
    run([compiler(), *strict, "-o", path, *sources, *(libraries or [])])


def compile_swift(path: str, source: str) -> None:
    if not is_newer(path, [source]):
        run(["swiftc", "-O", "-o", path, source])


def is_newer(path: str, sources: list[str]) -> bool:
    """Whether a program exists and is newer than its sources."""
    return os.path.exists(path) and os.path.getmtime(path) > max(map(os.path.getmtime, sources))


def run(command: list[str]) -> None:
    # As in `swift_build` of tools/lib/common.sh.
    environment = {**os.environ, "SWIFT_DETERMINISTIC_HASHING": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        sys.exit(f"{done.stdout}{done.stderr}tools/bench: this failed: {' '.join(command)}")
