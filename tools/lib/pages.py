"""The command tools/pages: runs and compiles the blocks of the documents, as they are printed."""

import argparse
import glob
import os
import re
import signal
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
BUILT = os.path.join(ROOT, ".build", "tools", "debug")
CONTEXTS = os.path.join(ROOT, "tools", "lib", "pages")

HELP = """\
Runs the shell blocks of the documents and compiles the Swift ones, as they are printed.

The Swift blocks of a page are one program, in their order, with what tools/lib/pages/PAGE.swift declares for them. The
shell blocks of a page run one after the other in one bash, in a new directory, with this package's programs in PATH and
after tools/lib/pages/PAGE.sh, which stands for what the reader has: other programs, a second terminal, a Ctrl-C. The
Python blocks of a page are one program. A block after <!-- file: NAME --> is a file of the shell's directory. A comment
before a block leaves it out, with the reason: <!-- not run: … -->. So does <!-- no shell block is run: … --> for a whole
page.

Uses what is built in .build/tools/debug (tools/test builds it); for Python and C, tools/library."""

BLOCK = re.compile(
    r"(?:<!-- (?:not run: (?P<reason>.+?)|file: (?P<file>[\w.-]+)) -->\n+)?```(?P<language>swift|sh|python|c|js)\n"
    r"(?P<text>.*?)^```$", re.M | re.S)


def pages():
    """The documents that have blocks, by the name of their context."""
    found = [os.path.join(ROOT, "README.md")]
    for pattern in ("guide/*.md", "guide/examples/[a-z]*.md", "reference/*.md"):
        found += sorted(glob.glob(os.path.join(ROOT, "docs", pattern)))
    return {os.path.basename(path)[:-3]: path for path in found}


def blocks(path, language):
    """The blocks of a language, as (line, text); those that are left out are counted."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    kept, left = [], 0
    none = language == "sh" and "<!-- no shell block is run: " in text
    for match in BLOCK.finditer(text):
        if match["language"] != language or match["file"]:
            continue
        if match["reason"] or none:
            left += 1
        else:
            kept.append((text.count("\n", 0, match.start("text")) + 1, match["text"]))
    return kept, left


def compile_swift(name, path, kept, directory):
    """The output of the compiler; empty where the blocks compile."""
    main = os.path.join(directory, "main.swift")
    with open(main, "w", encoding="utf-8") as file:
        for line, text in kept:
            file.write(f'#sourceLocation(file: "{path}", line: {line})\n{text}')
    context = os.path.join(CONTEXTS, name + ".swift")
    words = ["swiftc", "-typecheck", "-swift-version", "6", "-I", os.path.join(BUILT, "Modules"), "-package-name", "documents"]
    for modulemap in glob.glob(os.path.join(BUILT, "*.build", "module.modulemap")) + glob.glob(
            os.path.join(ROOT, "Sources", "*", "C*", "module.modulemap")):
        words += ["-Xcc", f"-fmodule-map-file={modulemap}"]
    words += [main, os.path.join(CONTEXTS, "common.swift")] + ([context] if os.path.exists(context) else [])
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 and "warning:" not in done.stderr else done.stderr


def files(path):
    """The blocks that are files, by their names."""
    with open(path, encoding="utf-8") as file:
        return {match["file"]: match["text"] for match in BLOCK.finditer(file.read()) if match["file"]}


def run_python(path, kept, directory):
    """The output of the page's Python blocks; empty where they succeed."""
    script = os.path.join(directory, "page.py")
    with open(script, "w", encoding="utf-8") as file:
        for line, text in kept:
            file.write(f"# {path}, line {line}\n{text}")
    done = subprocess.run([sys.executable, script], cwd=directory, env=library_environment(), capture_output=True,
                          text=True, check=False, timeout=120, stdin=subprocess.DEVNULL)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def library_environment():
    """The environment in which programs in Python and C find the library that tools/library has built."""
    library = os.path.join(ROOT, ".build", "library", "files", "lib")
    return dict(os.environ, PYTHONPATH=os.path.join(ROOT, "Sources", "Languages", "Python"), PYTHONDONTWRITEBYTECODE="1",
                GROUP_CONTAINER_LIBRARY=os.path.join(library, "libgroupcontainer.so.0"), LD_LIBRARY_PATH=library,
                PKG_CONFIG_PATH=os.path.join(library, "pkgconfig"))


def run_shell(name, kept, directory, contents):
    """The output of the page's shell; empty where each block succeeds."""
    for file_name, text in contents.items():
        with open(os.path.join(directory, file_name), "w", encoding="utf-8") as file:
            file.write(text)
    script = os.path.join(directory, "page.sh")
    with open(script, "w", encoding="utf-8") as file:
        file.write("set -eu\n")
        context = os.path.join(CONTEXTS, name + ".sh")
        if os.path.exists(context):
            file.write(f". '{context}'\n")
        for line, text in kept:
            file.write(f"echo '-- line {line}' >&2\n{text}")
        file.write("if type finish >/dev/null 2>&1; then finish; fi\n")
    home = os.path.join(directory, "home")
    os.mkdir(home)
    environment = dict(library_environment(), PATH=BUILT + ":" + os.environ["PATH"], HOME=home, PAGES=CONTEXTS,
                       GROUP_CONTAINERS_HOME=os.path.join(home, "groups"))
    # Into a file: a program that the page leaves in the background would keep a pipe open.
    with open(os.path.join(directory, "output"), "w+", encoding="utf-8", errors="replace") as output:
        with subprocess.Popen(["bash", script], cwd=directory, env=environment, stdout=output, stderr=output,
                              stdin=subprocess.DEVNULL, start_new_session=True) as shell:
            try:
                status = f"status {shell.wait(120)}"
            except subprocess.TimeoutExpired:
                status = "it did not end in 120 s"
            try:
                os.killpg(shell.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        output.seek(0)
        return "" if status == "status 0" else f"{status}\n{output.read()}"


def main():
    """0: every block does what it should; 1: one does not."""
    parser = argparse.ArgumentParser(prog="tools/pages", description=HELP, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", nargs="*", help="only these pages (README, tour, …)")
    # Wrong usage exits with status 64, as in all our commands.
    parser.error = lambda message: parser.exit(64, f"tools/pages: {message}; see tools/pages --help\n")
    options = parser.parse_args()
    known = pages()
    for name in options.page:
        if name not in known:
            parser.error(f"there is no page {name}")
    failed = False
    for name, path in known.items():
        if options.page and name not in options.page:
            continue
        for language in ("swift", "python", "sh"):
            kept, left = blocks(path, language)
            if not kept and not left:
                continue
            output = ""
            if kept:
                with tempfile.TemporaryDirectory() as directory:
                    if language == "swift":
                        output = compile_swift(name, path, kept, directory)
                    elif language == "python":
                        output = run_python(path, kept, directory)
                    else:
                        output = run_shell(name, kept, directory, files(path))
            if output:
                failed = True
                print(f"FAIL {os.path.relpath(path, ROOT)}, {language}:\n{output}")
            else:
                print(f"ok   {os.path.relpath(path, ROOT)}: {len(kept)} of {language}" + (f", {left} left out" if left else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
