import Glibc
import GroupContainer
import GroupSystemCalls
import TestSupport

/// What the users of one machine have: a container, a name that no other one has, and random numbers.
final class Worker {
    let path: String
    let name: String
    private var number: Int
    private var random: SeededGenerator

    init(_ path: String, _ name: String, life: Int, seed: UInt64) {
        self.path = path
        self.name = name
        number = life * 1_000_000
        random = SeededGenerator(seed: seed &+ UInt64(life))
    }

    func draw(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

    /// Returns a word that nothing else has.
    func token() -> String {
        number += 1
        return "\(name).\(number)"
    }

    /// Does one thing after the other, until its input is closed: poll(2) paces it, and returns at the end at once.
    func takeTurns(within milliseconds: Int, _ turn: () throws -> Void) throws {
        while true {
            var input = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
            if unsafe poll(&input, 1, Int32(draw(1..<milliseconds))) > 0 { return }
            try turn()
        }
    }
}

/// Prints a line with one write(2): what was printed stays, whenever this process is killed.
func printLine(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(1, $0.baseAddress, $0.count) }
    if count != bytes.count { exit(74) }
}
