import Foundation
import GroupContainer
import TestSupport

/// What has to hold after any fault at any place.
struct FaultOracle: Sendable {
    private let operation: FaultedOperation
    private let before: ContainerState
    private let after: ContainerState
    /// What the operation prints when nothing fails.
    private let text: String
    private let allowed: [ContainerState]

    init(_ operation: FaultedOperation, before: ContainerState, after: ContainerState, text: String) {
        let simplify = { (state: ContainerState) in operation.cutsJournal ? state.with { $0.recorded = [] } : state }
        self.operation = operation
        self.text = text
        self.before = simplify(before)
        self.after = simplify(after)
        allowed = ([before, after] + operation.stages(before, after)).map(simplify)
    }

    /// Returns what is not as it has to be; `fault` is nil if none was reached. `witness` was a member all the time,
    /// and leaves.
    func faults(
        in container: TemporaryContainer, _ witness: inout Container?, after fault: Strace.Fault?, status: Int32,
        text: String
    ) -> [String] {
        var faults = ending(fault, status, text)
        do {
            switch operation.fate {
            case .stays:
                faults += try whole(container, witness, status, text)
                witness = nil
                faults += try leftovers(in: container)
            case .comes:
                if status == 0 { _ = try container.open() }
                _ = try Container(path: container.path, creating: true)
                faults += try whole(container, nil, 0, "") + leftovers(in: container)
            case .goes: faults += try gone(container, status)
            }
        } catch {
            faults.append("then: \(error)")
        }
        if !faults.isEmpty { faults.append("it ended with \(status) and printed: \(text.prefix(500))") }
        return faults
    }

    /// Checks how the process ended: by the signal that it was sent, with a complete error, or well.
    private func ending(_ fault: Strace.Fault?, _ status: Int32, _ text: String) -> [String] {
        switch fault {
        case .kill: return status == 137 ? [] : ["it was not killed"]
        case nil, .error("EINTR"):
            if status != 0 { return ["it failed, which only an interruption is no reason for"] }
        default:
            if status > 127 { return ["a signal ended it"] }
            if status != 0 {
                return Self.namesAll(text) ? [] : ["its error does not name the operation, the item and the cause"]
            }
        }
        return operation.printsTheSame && text != self.text ? ["it printed something else than '\(self.text)'"] : []
    }

    /// Returns whether an error has the form `cannot write 'item' in '/srv/shared': No space left on device`; a
    /// doctor's findings have their own.
    private static func namesAll(_ text: String) -> Bool {
        if text.contains(/(?:error|warning) +[^ ]+: .{3,}\n +why it matters/) { return true }
        if text.contains(/(?:groupctl|watch-group): standard (?:input|output): .{3,}/) { return true }
        return text.contains(/cannot [a-z][a-z -]* '[^']+'(?: in '[^']+')?: .{3,}/) && !text.contains("error other")
    }

    private func whole(
        _ container: TemporaryContainer, _ witness: Container?, _ status: Int32, _ text: String
    ) throws -> [String] {
        var faults: [String] = []
        // Before any repair: each visible file is whole already.
        let visible = ContainerState.tree(of: container)
        for (path, content) in visible where !allowed.contains(where: { $0.tree[path] == content }) {
            if operation.fate == .stays { faults.append("at first \(path) contains \(content.prefix(100))") }
        }
        if operation.repairs {
            let left = try ContainerCheck(.path(Array(container.path.utf8))).repair().left
            // The warning that a journal was not durable stays until another segment is the last one.
            faults += left.filter { $0.severity != .note && $0.code != .journalNotDurable }.map {
                "not repaired: \($0.what)"
            }
        }
        // No lock is left, and an unfinished change is finished by the next process that wants its item.
        let heir = try (witness ?? container.open()).coordinator(purpose: "heir").blocking
        for item in Set(before.tree.keys).union(after.tree.keys).sorted() where visible[item] != "/" {
            do { _ = try heir.readBytes(ItemPath(item), timeout: .zero) } catch let error as CoordinationError {
                if ![.notFound, .wrongType].contains(error.code) { faults.append("heir: \(error)") }
            }
        }
        _ = try heir.write(
            bytes: Array("heir".utf8), to: ItemPath(ContainerState.probe), durability: .durable, timeout: .zero)

        var found = try ContainerState(of: container, isNumbered: !operation.cutsJournal)
        if operation.cutsJournal { found.recorded = [] }
        // A writer that could not read the status after its rename has recorded the one before it. The companion, which
        // watches, may find the difference.
        if operation.companion != nil && text.contains("the change is visible") {
            found.recorded.removeAll { $0.hasPrefix("!touched ") }
        }
        if status == 0 || operation.repairs {
            if found != after { faults.append("it is not done: \(found.difference(from: after))") }
        } else if text.contains("nothing was changed") {
            // Nothing of the item was changed: directories above it may have been made.
            if found == after && after != before || !allowed.contains(found) {
                faults.append("something was changed: \(found.difference(from: before))")
            }
        } else if !allowed.contains(found) {
            let differences = [before, after].map { found.difference(from: $0) }
            faults.append("neither old (\(differences[0])) nor new (\(differences[1]))")
        }
        return faults
    }

    /// Returns what is left once all members have left and another one has come.
    private func leftovers(in container: TemporaryContainer) throws -> [String] {
        _ = try container.open()
        let doctor = try ContainerCheck(.path(Array(container.path.utf8)))
        var found = doctor.examine()
        // A journal that went on in another segment is a warning. That a log was not durable is known until it is made
        // anew, by a doctor or by the next process that wants it durable.
        if found.contains(where: { $0.code == .logNotDurable }) {
            found = try doctor.repair().left
        }
        return container.staging.filter { !$0.hasSuffix(".intent") }.map { "\($0) is left in staging" }
            + found.filter { $0.severity == .error || $0.severity == .warning && $0.code != .journalNotDurable }.map {
                "the doctor finds: \($0.what)"
            }
    }

    private func gone(_ container: TemporaryContainer, _ status: Int32) throws -> [String] {
        if status != 0, let found = try? ContainerState(of: container), found != before {
            return ["it is there, but not whole: \(found.difference(from: before))"]
        }
        do throws(CoordinationError) {
            let removal = try ContainerDeletion(.path(Array(container.path.utf8)))
            if status == 0 { return ["it is there still"] }
            _ = try removal.survey()
            _ = try removal.remove()
        } catch {
            if error.code != .notFound { throw error }
        }
        let left = (try? FileManager.default.subpathsOfDirectory(atPath: container.path)) ?? []
        return left.isEmpty ? [] : ["it cannot be deleted: \(left.prefix(5))"]
    }
}
