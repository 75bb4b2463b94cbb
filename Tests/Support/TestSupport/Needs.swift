import GroupSystemCalls
package import Testing

extension Trait where Self == ConditionTrait {
    /// Skips a test, or a suite, where a program is not installed, of those that `tools/setup --tests` installs.
    package static func needs(_ program: String) -> Self {
        .enabled(if: InstalledPrograms.have(program), "needs \(program)")
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
