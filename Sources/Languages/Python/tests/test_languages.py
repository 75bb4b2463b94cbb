"""Programs in Swift, Python, C and JavaScript are members of one container. Run by tools/wheel --test, which builds them."""

import os
import re
import subprocess

import pytest

from group_container import GroupError

PYTHON = """
import sys
from group_container import Container
container = Container(sys.argv[1], purpose="in Python")
for _ in range(int(sys.argv[2])):
    container.defaults().increment("n")
    print("key", flush=True)
    container.update("n", lambda old: b"%d" % (int(old or 0) + 1), durable=False, timeout=None)
    print("file", flush=True)
"""

# Each request of one client, without waiting for the answers of the other keys.
NODE = """
const Group = require("./group.js")
async function main() {
    const group = new Group(process.argv[2])
    for (let i = 0; i < Number(process.argv[3]); i++) {
        await group.request("increment", { key: "n" })
        console.log("key")
        await group.update("n", text => String(Number(text ?? "0") + 1))
        console.log("file")
    }
    group.close()
}
main()
"""

SHELL = """
for i in $(seq "$2"); do
    groupctl defaults increment "$1" standard n >/dev/null && echo key
    groupctl update "$1" n --relaxed --timeout 60 -- sh -c 'read -r n || :; echo $((${n:-0} + 1))' && echo file
done
"""


@pytest.fixture
def programs():
    directory = os.environ.get("GROUP_CONTAINER_PROGRAMS")
    if directory is None:
        pytest.fail("GROUP_CONTAINER_PROGRAMS is not set: tools/wheel --test builds the programs")
    return directory


@pytest.fixture
def server(programs, container, path, tmp_path):
    """The socket of a server of the container."""
    socket = str(tmp_path / "socket")
    with open(programs + "/serve.md") as page:
        client = re.search(r"<!-- file: group.js -->\n+```js\n(.*?)^```$", page.read(), re.M | re.S)
    (tmp_path / "group.js").write_text(client.group(1))
    (tmp_path / "count.js").write_text(NODE)
    process = subprocess.Popen(
        [programs + "/groupctl", "serve", path, "--socket", socket], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "listening at %s\n" % socket
    yield socket
    process.terminate()
    process.stdout.close()
    process.wait()


def test_no_addition_of_four_languages_is_lost_though_some_are_killed(programs, container, path, server, tmp_path):
    times = 40
    environment = dict(os.environ, PATH=programs + ":" + os.environ["PATH"])
    commands = {
        "swift": ["sh", "-c", SHELL, "sh", path, str(times)],
        "c": [programs + "/library-member", "increment", path, str(times)],
        "python": ["python3", "-c", PYTHON, path, str(times)],
        "node": ["node", str(tmp_path / "count.js"), server, str(times)],
    }
    killed = keys = files = 0
    for turn in range(2):
        members = [
            (language, subprocess.Popen(
                commands[language], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment,
                start_new_session=True))
            for language in commands for _ in range(2)
        ]
        if turn == 1:
            for language, member in members[::2]:
                member.stdout.readline()
                keys += 1
                # Not the groups: what a shell has started ends what it does.
                member.kill()
                killed += 1
        for language, member in members:
            lines = member.stdout.read().split("\n")
            member.wait()
            keys += lines.count("key")
            files += lines.count("file")
            if turn == 0:
                assert lines.count("key") == lines.count("file") == times, (language, lines)
    # A killed program may have made one addition of each that it has not printed.
    assert keys <= container.defaults()["n"] <= keys + killed
    assert files <= int(container.read("n")) <= files + killed


def test_a_client_in_javascript_that_is_killed_holds_no_lock(container, server, tmp_path):
    (tmp_path / "hold.js").write_text("""
        const Group = require("./group.js")
        const group = new Group(process.argv[2])
        group.request("hello", { purpose: "in JavaScript" })
        group.request("lock", { writing: ["a"] }).then(() => console.log("held"))
        """)
    holder = subprocess.Popen(["node", str(tmp_path / "hold.js"), server], stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(GroupError) as refused:
        container.write("a", "1", timeout=0)
    assert refused.value.holders[0].purpose == "in JavaScript"
    holder.kill()
    container.write("a", "1", timeout=30)
    holder.stdout.close()
    holder.wait()
