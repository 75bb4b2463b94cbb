import GroupSystemCalls
package import Testing

extension Trait where Self == ConditionTrait {
    /// Skips a test, or a suite, if a program is not installed, and says which. `tools/setup --tests` installs them.
    package static func needs(_ programs: String...) -> Self {
        let missing = programs.filter { !InstalledPrograms.have($0) }
        return .enabled(if: missing.isEmpty, "needs \(missing.joined(separator: ", "))")
    }

    /// Skips a test that only root can arrange.
    package static var needsRoot: Self { .enabled(if: isRoot, "needs root") }
}

/// The programs that the tests have looked for, each once.
private enum InstalledPrograms {
    private static let known = Guarded([String: Bool]())

    static func have(_ program: String) -> Bool {
        if let answer = known.withLock({ $0[program] }) { return answer }
        let answer = succeeds(["sh", "-c", "command -v \(program)"])
        known.withLock { $0[program] = answer }
        return answer
    }
}

/// What the tests of a suite need; not each of its tests needs all of it. A test without a tag runs in its own process.
extension Tag {
    /// Programs of this package, which the tests start, stop and kill.
    @Tag package static var process: Self
    /// Root, for file systems of their own or other users.
    @Tag package static var root: Self
    /// Namespaces of processes, mounts or the network.
    @Tag package static var namespaces: Self
    /// etcd, which the tests start.
    @Tag package static var etcd: Self
}
