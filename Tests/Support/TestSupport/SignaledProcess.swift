import Glibc

/// A program whose input and output are descriptors of the caller, and which is signaled without a wait. It is killed,
/// with all that it started, when it is released.
package final class SignaledProcess: Sendable {
    private let life: ProcessLife

    /// Starts a program. Standard error goes where standard output goes.
    package init(_ words: [String], input: Int32, output: Int32) throws {
        let program = BuildDirectory.resolve(words.first ?? "").commandBytes
        let spawn = Spawn(
            words: [program] + words.dropFirst().map(\.commandBytes), environment: Spawn.environment(),
            streams: (input, output, output))
        life = ProcessLife(of: try spawn.start())
    }

    package func signal(_ number: Int32) { life.signal(number) }

    /// Waits until a signal that was sent has stopped the process; false if it has ended.
    package func awaitStop() -> Bool { life.awaitStop() }

    /// Whether the process has ended.
    package var hasEnded: Bool { life.hasEnded }

    /// Waits for the end and returns the status as a shell has it.
    @discardableResult package func reap() -> Int32 { life.reap() }
}
