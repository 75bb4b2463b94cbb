import Foundation
import TestSupport
import Testing

/// The shell of a COMMAND that says what it does, and whose trap waits for the gate, a FIFO, to be opened.
private let cleaning =
    #"trap 'kill -KILL $! 2>&-; echo cleaning; cat "$GATE"; echo cleaned; exit 3' TERM INT HUP; echo begun; tail -f /dev/null & wait"#

@Suite(.tags(.process))
struct `Signals while COMMAND runs` {
    private let container: TemporaryContainer
    private let gate: String

    init() throws {
        container = try TemporaryContainer()
        gate = container.directory + "/gate"
        try #require(unsafe mkfifo(gate, 0o600) == 0)
    }

    private func start(_ words: String...) throws -> RunningProcess {
        try container.start("groupctl", words, environment: ["GATE": gate])
    }

    /// Lets those go on that wait for the gate.
    private func openGate() async throws { #expect(try await container.shell(": > \"$2\"", gate).status == 0) }

    private func isLocked(_ item: String = "a") async throws -> Bool {
        try await container.run("lock", item, "--timeout", "0", "--", "true").status == 75
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
    func `COMMAND cleans up under the lock`(signal: Int32) async throws {
        let command = try start("lock", container.path, "a", "--", "sh", "-c", cleaning)
        #expect(try await command.readLine() == "begun")
        command.signal(signal)
        #expect(try await command.readLine() == "cleaning")
        #expect(try await isLocked())
        try await openGate()
        let outcome = try await command.finish()
        #expect(outcome.status == 3 && outcome.lines == ["begun", "cleaning", "cleaned"], "\(outcome)")
        #expect(try await isLocked() == false)
    }

    @Test func `what COMMAND has started cleans up under the lock, too`() async throws {
        let command = try start("lock", container.path, "a", "--", "sh", "-c", "sh -c '\(cleaning.quoted)'; true")
        #expect(try await command.readLine() == "begun")
        command.signal(SIGTERM)
        #expect(try await command.readLine() == "cleaning")
        #expect(try await isLocked())
        try await openGate()
        let outcome = try await command.finish()
        #expect(outcome.status == 128 + SIGTERM && outcome.lines.last == "cleaned", "\(outcome)")
    }

    @Test func `a second signal ends the wait for what COMMAND has started`() async throws {
        let command = try start("lock", container.path, "a", "--", "sh", "-c", "sh -c '\(cleaning.quoted)'; true")
        #expect(try await command.readLine() == "begun")
        command.signal(SIGTERM)
        #expect(try await command.readLine() == "cleaning")
        // It is said after a second.
        #expect(try await command.readLine(from: .errors)?.contains("a signal ends the wait") == true)
        command.signal(SIGTERM)
        #expect(try await command.end() == 128 + SIGTERM)
        #expect(try await isLocked() == false)
        try await openGate()
    }

    @Test func `what ignores the signal keeps the lock, until another signal`() async throws {
        let command = try start(
            "lock", container.path, "a", "--", "sh", "-c", #"trap '' TERM; cat "$GATE" & trap - TERM; echo begun; wait"#
        )
        #expect(try await command.readLine() == "begun")
        command.signal(SIGTERM)
        #expect(try await command.readLine(from: .errors)?.contains("waiting for 'cat") == true)
        #expect(try await isLocked())
        command.signal(SIGTERM)
        #expect(try await command.end() == 128 + SIGTERM)
        #expect(try await isLocked() == false)
        try await openGate()
    }

    @Test(arguments: [SIGHUP, SIGINT]) func `a signal that is ignored from the start stays so, also in COMMAND`(
        signal: Int32
    ) async throws {
        let name = signal == SIGHUP ? "HUP" : "INT"
        let command = try container.start(
            "sh",
            [
                "-c", "trap '' \(name); exec groupctl lock \"$0\" a -- sh -c 'echo begun; cat \"$GATE\"; echo end'",
                container.path,
            ],
            environment: ["GATE": gate])
        #expect(try await command.readLine() == "begun")
        command.signal(signal)
        #expect(try await isLocked())
        try await openGate()
        let outcome = try await command.finish()
        #expect(outcome.status == 0 && outcome.lines.last == "end", "\(outcome)")
    }

    @Test func `SIGUSR1 is passed on to COMMAND`() async throws {
        let script =
            #"use POSIX; sigaction(SIGUSR1, POSIX::SigAction->new(sub { syswrite STDOUT, "message\n" })); "#
            + #"syswrite STDOUT, "begun\n"; sleep 600 for 1..2"#
        let command = try start("lock", container.path, "a", "--", "perl", "-e", script)
        #expect(try await command.readLine() == "begun")
        command.signal(SIGUSR1)
        #expect(try await command.readLine() == "message")
        #expect(try await isLocked())
        command.signal(SIGTERM)
        #expect(try await command.end() == 128 + SIGTERM)
    }

    @Test func `a shell that gets the interrupt, too, ends its loop`() async throws {
        // The shell ignores nothing and waits for its child: it ends only if the child was ended by the interrupt.
        let script =
            #"for i in 1 2; do groupctl lock "$0" a -- sh -c 'echo begun; kill -INT 0; sleep 60'; done; echo after"#
        let outcome = try await container.start("bash", ["-c", script, container.path]).finish()
        #expect(outcome.status == 128 + SIGINT && outcome.lines == ["begun"], "\(outcome)")
    }

    @Test(.needs("python3")) func `COMMAND gets the end of the terminal if groupctl leads its session`() async throws {
        let script = """
            import os, pty, sys
            child, terminal = pty.fork()
            if child == 0: os.execvp("groupctl", ["groupctl", "lock", sys.argv[1], "a", "--", "sh", "-c",
                                                  "echo begun; sleep 600"])
            while b"begun" not in os.read(terminal, 100): pass
            os.close(terminal)
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            """
        let outcome = try await container.start("python3", ["-c", script, container.path]).finish()
        #expect(outcome.text == "\(128 + SIGHUP)\n", "\(outcome)")
        #expect(try await isLocked() == false)
    }

    @Test func `an interrupted refresh has the status of the signal`() async throws {
        let command = try start("refresh", container.path, "w", "--", "sh", "-c", "echo begun >&2; sleep 600")
        #expect(try await command.readLine(from: .errors) == "begun")
        command.signal(SIGTERM)
        let outcome = try await command.finish()
        #expect(outcome.status == 128 + SIGTERM && outcome.text == "failed\n", "\(outcome)")
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
    func `update writes nothing after a signal, although COMMAND succeeds`(signal: Int32) async throws {
        try await container.done("write", "a", input: "old")
        let script =
            #"trap 'kill -KILL $! 2>&-; cat "$GATE"; echo half; exit 0' TERM INT HUP; echo begun >&2; tail -f /dev/null & wait"#
        let command = try start("update", container.path, "a", "--", "sh", "-c", script)
        #expect(try await command.readLine(from: .errors) == "begun")
        command.signal(signal)
        #expect(try await isLocked())
        try await openGate()
        let outcome = try await command.finish()
        #expect(outcome.status == 128 + signal && outcome.output.isEmpty, "\(outcome)")
        #expect(try container.content("a") == "old")
    }

    @Test func `what is being saved when present gets a signal is saved`() async throws {
        try await container.done("write", "a", input: "old")
        let script =
            #"trap 'kill -KILL $! 2>&-; cat "$GATE"; echo saved | groupctl write "$GROUP_CONTAINER" a; exit 0' TERM; echo begun; tail -f /dev/null & wait"#
        let presenter = try start("present", container.path, "a", "--verbose", "--", "sh", "-c", script)
        #expect(try await presenter.readLine(from: .errors)?.contains("presenting 'a'") == true)
        let reader = try container.start("read", "a")
        #expect(try await presenter.readLine() == "begun")
        presenter.signal(SIGTERM)
        try await openGate()
        #expect(try await reader.finish().text == "saved\n")
        #expect(try await presenter.finish().status == 128 + SIGTERM)
    }

    @Test func `what COMMAND of present has started saves, too, after a signal`() async throws {
        try await container.done("write", "a", input: "old")
        // The signal has its effect at any moment after the line: a process that a shell forks could miss it.
        let inner = #"""
            use POSIX; my $isOver = 0;
            sigaction(SIGTERM, POSIX::SigAction->new(sub { $isOver = 1 })) or die;
            syswrite STDOUT, "begun\n";
            select undef, undef, undef, 0.01 until $isOver;
            until (open my $gate, "<", $ENV{GATE}) { exit 2 unless $!{EINTR} }
            open my $item, ">", "$ENV{GROUP_CONTAINER}/a" or die; print $item "saved\n"; close $item
            """#
        let presenter = try start(
            "present", container.path, "a", "--verbose", "--", "sh", "-c", #"perl -e "$0"; true"#, inner)
        #expect(try await presenter.readLine(from: .errors)?.contains("presenting 'a'") == true)
        let reader = try container.start("read", "a")
        #expect(try await presenter.readLine() == "begun")
        presenter.signal(SIGTERM)
        // It is said after a second.
        var lines: [String] = []
        while lines.last?.contains("a signal ends the wait") != true {
            lines.append(try #require(try await presenter.readLine(from: .errors), "\(lines)"))
        }
        try await openGate()
        // The signal ended COMMAND itself, which is no answer; but not before what it has started.
        let outcome = try await reader.finish()
        #expect(outcome.status == 1 && outcome.errors.contains("its presenter failed"), "\(outcome)")
        #expect(try container.content("a") == "saved\n")
        #expect(try await presenter.finish().status == 128 + SIGTERM)
    }

    /// A COMMAND that counts the interrupts that it gets until the gate is opened. It handles each at once, also while it
    /// is about to wait for the gate: perl's %SIG would do so only when it has waited.
    private static let counting = #"""
        use POSIX; my $count = 0;
        sigaction(SIGINT, POSIX::SigAction->new(sub { syswrite STDOUT, "interrupt " . ++$count . "\n" }));
        syswrite STDOUT, "begun " . getppid . "\n";
        until (open my $gate, "<", $ENV{GATE}) { exit 2 unless $!{EINTR} }
        syswrite STDOUT, "end\n"; exit 1
        """#

    @Test(
        .ownThreads,
        arguments: [["watch-group", "--since", "start"], ["groupctl", "channels", "follow", "--listener", "x"]])
    func `COMMAND gets a key of the terminal once`(call: [String]) async throws {
        try await container.done("write", "a", input: "1")
        // The listener is to be there before the message.
        _ = try await container.start(
            "groupctl", ["channels", "follow", container.path, "c", "--listener", "x", "--timeout", "0"]
        ).finish()
        #expect(
            try await container.start("groupctl", ["channels", "post", container.path, "c", "1"]).finish().status == 0)
        let words =
            call + [container.path] + (call[0] == "groupctl" ? ["c"] : []) + ["--", "perl", "-e", Self.counting]
        let terminal = try TerminalProcess(
            words, columns: 80, rows: 24, environment: container.environment.merging(["GATE": gate]) { $1 })
        try terminal.wait { $0.contains("begun") && $0.contains("\n") }
        let parent = try #require(terminal.text.firstMatch(of: /begun ([0-9]+)/).flatMap { Int32($0.1) })
        try terminal.type("\u{3}")
        try terminal.wait { $0.contains("interrupt 1") }
        // Now its parent has got the key, too, and sleeps again.
        #expect(await eventually { isQuiet(parent) })
        try await openGate()
        #expect(terminal.reap() == 128 + SIGINT)
        #expect(!terminal.text.contains("interrupt 2"), "\(terminal.text)")
    }

    @Test(.ownThreads) func `a COMMAND that heeds a key by itself goes on under the lock`() async throws {
        let terminal = try TerminalProcess(
            ["groupctl", "lock", container.path, "a", "--", "perl", "-e", Self.counting], columns: 80, rows: 24,
            environment: container.environment.merging(["GATE": gate]) { $1 })
        try terminal.wait { $0.contains("begun") }
        try terminal.type("\u{3}")
        try terminal.wait { $0.contains("interrupt 1") }
        #expect(try await isLocked())
        try await openGate()
        #expect(terminal.reap() == 1)
        #expect(terminal.text.contains("end"))
    }
}

extension String {
    /// For a word of a shell in quotes.
    fileprivate var quoted: String { replacing("'", with: #"'\''"#) }
}

/// Whether all threads of a process sleep, and no signal is left for it to handle.
private func isQuiet(_ process: Int32) -> Bool {
    let directory = "/proc/\(process)/task"
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    return threads.allSatisfy { thread in
        let status = (try? String(contentsOfFile: "\(directory)/\(thread)/status", encoding: .utf8)) ?? ""
        return status.contains("State:\tS") && status.contains("SigPnd:\t0000000000000000")
            && status.contains("ShdPnd:\t0000000000000000")
    }
}
