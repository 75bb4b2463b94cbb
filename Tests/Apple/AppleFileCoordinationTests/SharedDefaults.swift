import AppleFileCoordination
import GroupContainer
import TestSupport
import Testing

extension TemporaryContainer {
    /// Returns the defaults of this container.
    func userDefaults() throws -> GroupUserDefaults { try #require(GroupUserDefaults(try open())) }

    /// Runs `groupctl defaults COMMAND <this container> standard WORDS…` to its end, and returns what it prints.
    @discardableResult
    func defaults(_ command: String, _ words: String..., input: String = "") throws -> String {
        let (status, text) = try RunningProcess(
            ["groupctl", "defaults", command, path, "standard"] + words, input: input
        ).finish()
        if status != 0 { throw Failed(description: "groupctl defaults \(command): status \(status), \(text)") }
        return text
    }
}

/// A reference to defaults for closures of other threads: they may be used there, but Foundation's type is not
/// `Sendable`.
struct DefaultsReference: @unchecked Sendable {
    let object: GroupUserDefaults

    init(_ object: GroupUserDefaults) { self.object = object }
}

/// Settings as apps have them, which compile in the Swift 6 language mode.
enum SharedSettings {
    nonisolated(unsafe) static let shared = GroupUserDefaults(suiteName: "group.com.example.settings")
}
