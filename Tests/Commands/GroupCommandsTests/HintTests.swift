import FoundationEssentials
import GroupCommandLine
import GroupCommands
import GroupContainer
import Testing

@Suite struct `Hints of commands` {
    private typealias Remedy = CoordinationError.Remedy

    private static func error(
        _ code: CoordinationError.Code, _ operation: String = "write", _ item: String = "a.json",
        remedy: CoordinationError.Remedy? = nil, holders: [CoordinationError.Holder] = []
    ) -> CoordinationError {
        CoordinationError(
            code, operation: operation, item: item, containerPath: "/srv/shared", reason: "it is so", holders: holders,
            remedy: remedy)
    }

    @Test(
        arguments: [
            (.notFound, "read", .checkPath, "groupctl list shows what is there"),
            (.notEmpty, "remove", .recurse, "-r removes it with everything in it"),
            (.wrongType, "copy", .recurse, "-r copies it with everything in it"),
            (.conflict, "move", .replace, "leave out -n to replace it"),
            (.notFound, "open", .createContainer, "groupctl create makes it"),
            (.notFound, "open", .finishDeletion, "'groupctl delete-group --yes a.json' finishes it"),
            (.damaged, "open", .checkContainer, "nothing was changed; groupctl doctor shows what can be done"),
            (.damaged, "listen", .checkContainer, "the messages that follow are whole; groupctl doctor shows"),
            (.damaged, "open", .restoreDatabase, "the remedy (sqlite3 FILE .recover)"),
            (.damaged, "read", .repairContainer, "groupctl doctor --repair keeps what can be read"),
            (.lockTimedOut, "delete", .endMembers, "the remedy (groupctl status shows them)"),
            (.lockTimedOut, "repair", .tryAgain, "try again; groupctl status shows what the members do"),
            (.lockTimedOut, "open", .endProcess, "groupctl doctor shows that process; end it, and try again"),
            (.notPermitted, "open", .askOwnerToShare, "the remedy (groupctl create --unix-group)"),
            (.limitReached, "read", .raiseOpenFiles, "the remedy: ulimit -n"),
            (.limitReached, "read", .raiseProcesses, "the remedy: ulimit -u"),
            (.inputOutput, "write", .raiseFileSize, "the remedy: ulimit -f"),
            (.unsupportedFileSystem, "remove", .changeWithoutCoordination, "remove it with rm"),
            (.unsupportedFileSystem, "move", .changeWithoutCoordination, "remove the original with rm"),
            (.limitReached, "copy", .changeWithoutCoordination, "copy it with cp -a"),
            (.outsideContainer, "set the mode of", .changeWithoutCoordination, "set it with chmod"),
            (.invalidArgument, "create", .checkUnixGroup, "getent group shows the groups"),
            (.unsupportedFileSystem, "open", .mountProc, "mount it: mount -t proc proc /proc"),
        ] as [(CoordinationError.Code, String, CoordinationError.Remedy.Code, String)])
    func `a command's hint takes the place of the library's remedy`(
        code: CoordinationError.Code, operation: String, remedy: CoordinationError.Remedy.Code, hint: String
    ) {
        let error = Self.error(code, operation, remedy: Remedy(remedy, "the remedy"))
        #expect(GroupCommands.hint(for: error)?.contains(hint) == true, "\(error.remedy as Any)")
        #expect(message(of: error).contains("' in '/srv/shared': it is so; "), "\(message(of: error))")
        #expect(message(of: error).contains(hint))
    }

    @Test func `a command prints the error's own remedy where it has no hint`() {
        let error = Self.error(.conflict, remedy: Remedy(.readAgain, "read it again"))
        #expect(hint(for: error) == nil && message(of: error) == error.description)
        let other = Self.error(.conflict, remedy: .ofCommand("groupctl does it"))
        #expect(hint(for: other) == nil && message(of: other).hasSuffix("; groupctl does it"))
        // A file outside of containers is not found in the list of a container.
        let outside = CoordinationError(
            .notFound, operation: "import", item: "x", reason: "no", remedy: Remedy(.checkPath, "check the path"))
        #expect(hint(for: outside) == nil)
    }

    private static func holder(
        _ process: Int32, _ condition: CoordinationError.Holder.Condition = .running, namespace: UInt64? = nil
    ) throws -> CoordinationError.Holder {
        CoordinationError.Holder(
            processIdentifier: process, pidNamespace: namespace, purpose: "todo-app",
            since: Date(timeIntervalSince1970: 36_000),
            item: "a.json", isWriting: true, command: nil, condition: condition)
    }

    @Test func `the hint for a lock that timed out names the processes to continue or to end`() throws {
        let stopped = Self.error(.lockTimedOut, holders: [try Self.holder(812, .stopped), try Self.holder(7)])
        #expect(
            message(of: stopped)
                == "cannot write 'a.json' in '/srv/shared': it is so; process 812 (todo-app, stopped) has held it since "
                + "10:00:00Z; process 7 (todo-app) has held it since 10:00:00Z; continue it (kill -CONT 812), or raise "
                + "--timeout")
        let running = Self.error(.lockTimedOut, holders: [try Self.holder(7)])
        #expect(hint(for: running) == "raise --timeout, or end it (kill 7)")
        for holders in [[], [try Self.holder(7, .stopped, namespace: 1)]] {
            #expect(hint(for: Self.error(.lockTimedOut, holders: holders)) == "raise --timeout")
        }
        let opening = Self.error(
            .lockTimedOut, "open", remedy: Remedy(.continueProcess, "continue or end process 9", process: 9))
        #expect(hint(for: opening) == "continue it (kill -CONT 9), or end it")
    }

    @Test func `an error in JSON has the hint as advice, and the code of the remedy`() {
        let error = Self.error(.notEmpty, "remove", remedy: Remedy(.recurse, "pass `recursively: true`"))
        let text = ErrorReport.object(error).encoded()
        #expect(text.contains(#""cause":"it is so","advice":"-r removes it with everything in it","remedy":"recurse""#))
        #expect(text.contains(#""code":"notEmpty","item":"a.json","container":"/srv/shared","operation":"remove""#))
    }
}
