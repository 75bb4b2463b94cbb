import Glibc
import TestSupport
import Testing

/// Each PID namespace has its own numbers of processes: "process 1" there is another process than here.
@Suite(
    .tags(.process, .root, .namespaces),
    .timeLimit(.minutes(2)),
    .enabled(if: isRoot && succeeds(["unshare", "-p", "-f", "true"]), "needs root and PID namespaces"))
struct `A member in a PID namespace` {
    /// Without `--mount-proc` the processes inside see the /proc of those outside, and its numbers.
    static let wrappers = [["unshare", "-p", "-f", "--mount-proc"], ["unshare", "-p", "-f"]]

    private func held(_ wrapper: [String], in container: TemporaryContainer) async throws -> LockHolder {
        try await container.done("write", "a", input: "old")
        return try await LockHolder(of: "a", in: container, purpose: "the-holder", wrapper: wrapper)
    }

    private func tried(_ wrapper: [String], in container: TemporaryContainer) async throws -> RunningProcess.Outcome {
        let words =
            wrapper.dropFirst() + [BuildDirectory.resolve("groupctl"), "read", container.path, "a", "--timeout", "0"]
        return try await container.start(wrapper[0], Array(words)).finish()
    }

    private func namespace(of process: Int32) throws -> UInt64 {
        var status = stat()
        #expect(unsafe stat("/proc/\(process)/ns/pid", &status) == 0)
        return UInt64(status.st_ino)
    }

    @Test(arguments: wrappers)
    func `a member in a PID namespace is named outside by its number there, and shown as stopped`(wrapper: [String])
        async throws
    {
        let container = try TemporaryContainer()
        let holder = try await held(wrapper, in: container)
        let member = try #require(try await JSONStatus(of: container).members.first { $0.purpose == "the-holder" })
        #expect(member.pidNamespace == nil)
        // A signal to that number reaches the process.
        #expect(kill(member.pid, SIGSTOP) == 0)
        defer { kill(member.pid, SIGCONT) }
        let outcome = try await container.run("read", "a", "--timeout", "0")
        #expect(outcome.status == 75)
        #expect(outcome.errors.contains("process \(member.pid) (the-holder, stopped, '"), "\(outcome)")
        #expect(outcome.errors.contains("continue it (kill -CONT \(member.pid)), or raise --timeout"), "\(outcome)")
        let doctor = try await container.run("doctor")
        #expect(doctor.text.contains("kill -CONT \(member.pid);"), "\(doctor)")
        #expect(kill(member.pid, SIGCONT) == 0)
        #expect(try await holder.release().status == 0)
    }

    @Test(arguments: wrappers)
    func `a member in a PID namespace names a holder outside by the holder's namespace`(wrapper: [String])
        async throws
    {
        let container = try TemporaryContainer()
        let holder = try await held([], in: container)
        let here = holder.command.identifier
        holder.command.signal(SIGSTOP)
        defer { holder.command.signal(SIGCONT) }
        let outcome = try await tried(wrapper, in: container)
        #expect(outcome.status == 75)
        let name = "process \(here) of PID namespace \(try namespace(of: here))"
        #expect(outcome.errors.contains("\(name) (the-holder"), "\(outcome)")
        #expect(!outcome.errors.contains("kill"), "\(outcome)")
        let words = wrapper.dropFirst() + [BuildDirectory.resolve("groupctl"), "doctor", container.path]
        let doctor = try await container.start(wrapper[0], Array(words)).finish()
        #expect(!doctor.text.contains("kill"), "\(doctor)")
        holder.command.signal(SIGCONT)
        #expect(try await holder.release().status == 0)
    }

    @Test(arguments: wrappers)
    func `a member in a PID namespace is named inside by its number there`(wrapper: [String]) async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "old")
        // The shell is process 1 of the namespace, the holder its child.
        let script = #"""
            mkfifo "$2/gate"
            "$0" update "$1" a --purpose the-holder -- sh -c 'echo held >&2; read line <"$0"; echo new' "$2/gate" 2>"$2/errors" &
            holder=$!
            for i in $(seq 600); do grep -q held "$2/errors" 2>/dev/null && break; sleep 0.1; done
            "$0" read "$1" a --timeout 0
            echo "status $? holder $holder"
            kill -STOP $holder
            # The kernel may stop it a moment later.
            for i in $(seq 600); do
                "$0" read "$1" a --timeout 0 2>"$2/stopped"
                grep -q stopped "$2/stopped" && break
                sleep 0.1
            done
            cat "$2/stopped" >&2
            kill -CONT $holder
            echo >"$2/gate"
            wait $holder
            """#
        let words =
            wrapper.dropFirst() + [
                "sh", "-c", script, BuildDirectory.resolve("groupctl"), container.path, container.directory,
            ]
        let outcome = try await container.start(wrapper[0], Array(words)).finish()
        #expect(outcome.status == 0, "\(outcome)")
        let number = try #require(outcome.lines.last?.split(separator: " ").last)
        #expect(outcome.lines.last == "status 75 holder \(number)")
        #expect(outcome.errors.contains("process \(number) (the-holder, '"), "\(outcome)")
        #expect(outcome.errors.contains("process \(number) (the-holder, stopped, '"), "\(outcome)")
        #expect(try container.content("a") == "new\n")
    }
}
