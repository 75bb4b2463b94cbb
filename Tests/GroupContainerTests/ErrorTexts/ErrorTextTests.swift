import Foundation
import GroupSystemCalls
import Testing

@testable import GroupContainer
@testable import Widgets

/// All that an error may say stands in one file, so that a change of it is seen by who reviews it.
@Suite struct `What errors say` {
    private static let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "error-texts.txt")

    @Test func `stands in error-texts.txt, and nothing else does`() throws {
        let said = try Self.all()
        let made = FileManager.default.temporaryDirectory.appending(path: "error-texts.txt")
        let kept = try String(contentsOf: Self.file, encoding: .utf8)
        if said == kept { return }
        try said.write(to: made, atomically: true, encoding: .utf8)
        let (new, old) = (Set(said.split(separator: "\n")), Set(kept.split(separator: "\n")))
        for line in said.split(separator: "\n") where !old.contains(line) { Issue.record("not there: \(line)") }
        for line in kept.split(separator: "\n") where !new.contains(line) { Issue.record("nobody says: \(line)") }
        Issue.record("if that is meant: cp \(made.path) Tests/error-texts.txt")
    }

    @Test func `has a case of every code`() throws {
        let said = try Self.all()
        let codes = try ErrorSources.codes()
        #expect(codes.count > 15)
        for code in codes { #expect(said.contains("\(code)"), "\(code)") }
    }

    @Test func `is found wherever it is made`() {
        let source = """
            throw CoordinationError(
                .notFound, item: "\\(suite): \\(f("x"))", operation: isIn ? "read" : "list", cause: "no "
                    + "such", advice: advice)
            static func damaged(_ file: String) -> CoordinationError { .damaged(file, operation: "open", "cut") }
            // CoordinationError(.noSpace, operation: "read", cause: "in a comment")
            throw CoordinationError(errno, item: label, operation: "read")
            """
        #expect(
            ErrorSources.texts(in: source) == [
                #"notFound: cannot read | list '<suite>: <f("x")>': no such; <advice>"#,
                "damaged: cannot open '<file>': cut",
            ])
    }

    private static func all() throws -> String {
        var lines = ["# What errors say, as a test of that name finds it; <…> is known only then."]
        lines += ["", "# The kernel's reasons, of reading 'a.json'"] + kernelReasons
        lines +=
            ["", "# A path that names no item"]
            + faults.map { fault in
                text(CoordinationError(fault, path: Array("a/b".utf8), operation: "read"))
            }
        lines += ["", "# Who is in the way"] + holders
        lines += ["", "# A provider that failed"] + failures
        for (file, texts) in try ErrorSources.all() { lines += ["", "# \(file)"] + texts }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func text(_ error: CoordinationError) -> String { "\(error.code.rawValue): \(error)" }

    /// Of all that Linux knows; of those of which nothing more is said than the kernel says, one.
    private static var kernelReasons: [String] {
        (1...133).map { CoordinationError(Errno($0), item: "a.json", operation: "read") }
            .filter { $0.code != .inputOutput || $0.cause == Errno.inputOutput.description }.map(text)
    }

    /// All, by a switch that the compiler wants to be complete.
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
            // 0: of a process that no namespace was found for.
            let holder = CoordinationError.Holder(
                processIdentifier: 812, pidNamespace: condition == nil ? 0 : nil, purpose: "todo-app",
                since: 36_000_000_000_000, item: "a.json", isWriting: true,
                command: condition == nil ? nil : "/usr/bin/todo --edit", condition: condition)
            return text(
                CoordinationError(
                    .lockTimedOut, item: "a.json", operation: "write", cause: "<cause>", holders: [holder, holder]))
        }
    }

    private static var failures: [String] {
        [nil, Duration.seconds(30)].map { "\(ProviderFailure(kind: "next-todo", deadline: $0))" }
    }
}
