"""watchman is a server and a client. This run has a server of its own, apart from the user's."""

import json
import os
import subprocess
import time

from . import processes
from .failures import Failed


class Watchman:
    def __init__(self, found: list[str], directory: str, scratch: str) -> None:
        self.found, self.directory, self.scratch = found, directory, scratch
        self.socket = os.path.join(scratch, "sock")

    def start(self, output: int, errors: int) -> list[subprocess.Popen]:
        # The shortest quiet time after which it reports.
        with open(os.path.join(self.directory, ".watchmanconfig"), "w", encoding="utf-8") as file:
            file.write('{"settle": 1}\n')
        files = [f"--{name}={os.path.join(self.scratch, name)}" for name in ("statefile", "logfile", "pidfile")]
        server = subprocess.Popen(
            [*self.found, "--foreground", f"--sockname={self.socket}", *files],
            stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, env=os.environ | {"HOME": self.scratch},
        )
        try:
            self.await_socket(server)
            self.ask("watch", self.directory)
            clock = self.ask("clock", self.directory)["clock"]
            # Since the clock; otherwise it reports all existing files first.
            words = ["subscribe", self.directory, "bench", {"fields": ["name", "exists"], "since": clock}]
            client = subprocess.Popen(
                [*self.client, "--persistent"], stdin=subprocess.PIPE, stdout=output, stderr=errors, text=True
            )
            assert client.stdin is not None
            client.stdin.write(json.dumps(words) + "\n")
            client.stdin.close()
        except BaseException:
            processes.end([server])
            raise
        return [client, server]

    @property
    def client(self) -> list[str]:
        return [*self.found, f"--sockname={self.socket}", "--no-spawn", "--no-pretty", "--json-command"]

    def await_socket(self, server: subprocess.Popen) -> None:
        for _ in range(5000):
            if os.path.exists(self.socket):
                return
            if server.poll() is not None:
                raise Failed(f"its server ended with {server.returncode}")
            time.sleep(0.002)
        raise Failed("its server made no socket in 10 s")

    def ask(self, *words: str) -> dict[str, str]:
        done = subprocess.run(self.client, input=json.dumps(words), capture_output=True, text=True, check=False)
        try:
            answer = json.loads(done.stdout)
        except json.JSONDecodeError:
            answer = {"error": done.stderr.strip() or done.stdout.strip()}
        if "error" in answer:
            raise Failed(f"{words[0]}: {answer['error']}")
        return answer
