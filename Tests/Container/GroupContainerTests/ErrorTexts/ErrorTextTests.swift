import Foundation
import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLog
@testable import Widgets

/// The texts of all errors are in one file, so that a reviewer sees each change of one.
@Suite(.ownThreads) struct `Error texts` {
    private static let file = projectDirectory.appending(path: "Tests/Support/error-texts.txt")

    @Test func `error-texts.txt contains exactly the error texts of the sources`() throws {
        let texts = try Self.all()
        let made = FileManager.default.temporaryDirectory.appending(path: "error-texts.txt")
        let kept = try String(contentsOf: Self.file, encoding: .utf8)
        if texts == kept { return }
        try texts.write(to: made, atomically: true, encoding: .utf8)
        let (new, old) = (Set(texts.split(separator: "\n")), Set(kept.split(separator: "\n")))
        for line in texts.split(separator: "\n") where !old.contains(line) { Issue.record("not there: \(line)") }
        for line in kept.split(separator: "\n") where !new.contains(line) {
            Issue.record("not in the sources: \(line)")
        }
        Issue.record("if that is meant: cp \(made.path) Tests/Support/error-texts.txt")
    }

    @Test func `error-texts.txt has an error of every code`() throws {
        let texts = try Self.all()
        let codes = try ErrorSources.codes()
        #expect(codes.count > 15)
        for code in codes { #expect(texts.contains("\(code)"), "\(code)") }
    }

    @Test func `an error of the library names no command and no option`() throws {
        for (file, texts) in try ErrorSources.all()
        where ["Container/GroupContainer/", "Widgets/Widgets/"].contains(where: file.hasPrefix) {
            for text in texts {
                #expect(!text.contains(/groupctl|watch-group|widget-host|(^| )--?[a-z]/), "\(file): \(text)")
            }
        }
    }

    @Test func `error texts are found in each form in which an error is made`() {
        let source = """
            throw CoordinationError(
                .notFound, operation: isIn ? "read" : "list", item: "\\(suite): \\(f("x"))", reason: "no "
                    + "such", remedy: isIn ? nil : .init(.checkPath, "look (there)"))
            throw CoordinationError(.conflict, operation: "set", reason: "changed", remedy: .tryAgain)
            static func damaged(_ file: String) -> CoordinationError {
                .damaged(operation: "open", item: file, reason: "cut")
            }
            // CoordinationError(.noSpace, operation: "read", reason: "in a comment")
            throw CoordinationError(errno, operation: "read", item: label)
            error.remedy = .init(.askOwner, "ask \\(owner)")
            """
        #expect(
            ErrorSources.texts(in: source) == [
                #"notFound: cannot read | list '<suite>: <f("x")>': no such; look (there) [checkPath]"#,
                "conflict: cannot set: changed; try again [tryAgain]",
                "damaged: cannot open '<file>': cut", "; ask <owner> [askOwner]",
            ])
    }

    private static func all() throws -> String {
        var lines = ["# The texts of all errors, as the suite 'Error texts' finds them; <…> is known only at run time."]
        lines += ["", "# The kernel's reasons, of reading 'a.json'"] + kernelReasons
        lines +=
            ["", "# A path that names no item"]
            + faults.map { fault in
                text(CoordinationError(fault, operation: "read", path: Array("a/b".utf8)))
            }
        lines += ["", "# What is wrong with a log"] + logFailures
        lines += ["", "# Who is in the way"] + holders
        lines += ["", "# A provider that failed"] + failures
        for (file, texts) in try ErrorSources.all() { lines += ["", "# \(file)"] + texts }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func text(_ error: CoordinationError) -> String {
        "\(error.code.rawValue): \(error)" + (error.remedy.map { " [\($0.code.rawValue)]" } ?? "")
    }

    /// The reasons for all error numbers of Linux; one stands for all that have only the kernel's text.
    private static var kernelReasons: [String] {
        (1...133).map { CoordinationError(Errno($0), operation: "read", item: "a.json") }
            .filter { $0.code != .inputOutput || $0.reason == Errno.inputOutput.description }.map(text)
    }

    /// All faults, from a switch that the compiler requires to be complete.
    private static var faults: [ItemLocation.Fault] {
        func next(_ fault: ItemLocation.Fault?) -> ItemLocation.Fault? {
            switch fault {
            case nil: .empty
            case .empty: .absolute
            case .absolute: .leadsOut
            case .leadsOut: .reserved
            case .reserved: .malformed
            case .malformed: .nulByte
            case .nulByte: .componentTooLong
            case .componentTooLong: .tooLong
            case .tooLong: nil
            }
        }
        return Array(
            sequence(state: nil as ItemLocation.Fault?) { state in
                state = next(state)
                return state
            })
    }

    /// All, by switches that the compiler wants to be complete; the kernel's reasons are those above.
    private static var logFailures: [String] {
        func next(_ reason: LogFailure.Reason?) -> LogFailure.Reason? {
            switch reason {
            case nil: .newerFormat(9)
            case .newerFormat: .recordTooLarge(byteCount: 9_000, room: 4_096)
            case .recordTooLarge: .notDurable(.inputOutput)
            case .notDurable: .onlyForReading
            case .onlyForReading: .damaged(.noSegment)
            case .damaged(let damage): self.next(damage).map { .damaged($0) }
            case .system: nil
            }
        }
        return sequence(state: nil as LogFailure.Reason?) { reason in
            reason = next(reason)
            return reason
        }.map { reason in
            text(CoordinationError(LogFailure(reason, file: ".group/journal/1.log", operation: "read")))
        }
    }

    private static func next(_ damage: LogDamage) -> LogDamage? {
        switch damage {
        case .noSegment: .missing
        case .missing: .removedInUse
        case .removedInUse: .foreign
        case .foreign: .unconnected
        case .unconnected: .outOfNumbers
        case .outOfNumbers: .notAFile
        case .notAFile: .wrongType(.tooManyLinks)
        case .wrongType(.tooManyLinks): .wrongType(.noSuchDevice)
        case .wrongType(.noSuchDevice): .wrongType(.isADirectory)
        case .wrongType: .brokenHeader
        case .brokenHeader: .unreadable
        case .unreadable: .unreadableInUse
        case .unreadableInUse: .cutShort(size: 4_096, capacity: 65_536)
        case .cutShort: .tooLarge(capacity: 8_388_608, largest: 4_194_304)
        case .tooLarge: .truncatedInUse
        case .truncatedInUse: .outside(offset: 4_096)
        case .outside: .brokenRecordHeader(offset: 4_096)
        case .brokenRecordHeader: .lostRecordHeader(offset: 4_096)
        case .lostRecordHeader: .recordTooLong(offset: 4_096)
        case .recordTooLong: .brokenChecksum(offset: 4_096)
        case .brokenChecksum: .brokenAfterSync(offset: 4_096)
        case .brokenAfterSync: nil
        }
    }

    private static var holders: [String] {
        func next(_ condition: CoordinationError.Holder.Condition?) -> CoordinationError.Holder.Condition? {
            switch condition {
            case nil: .running
            case .running: .stopped
            case .stopped: .zombie
            case .zombie: nil
            }
        }
        let all = sequence(state: nil as CoordinationError.Holder.Condition?) { state in
            state = next(state)
            return state
        }
        return ([nil] + all.map { $0 }).map { condition in
            // 0: no namespace was found for the process.
            let holder = CoordinationError.Holder(
                processIdentifier: 812, pidNamespace: condition == nil ? 0 : nil, purpose: "todo-app",
                since: Date(timeIntervalSince1970: 36_000), item: "a.json", isWriting: true,
                command: condition == nil ? nil : "/usr/bin/todo --edit", condition: condition)
            return text(
                CoordinationError(
                    .lockTimedOut, operation: "write", item: "a.json", containerPath: "/srv/shared", reason: "<reason>",
                    holders: [holder, holder]))
        }
    }

    private static var failures: [String] {
        [nil, Duration.seconds(30)].map { "\(ProviderFailure(kind: "next-todo", timeLimit: $0))" }
    }
}
