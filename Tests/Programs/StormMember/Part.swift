import Glibc
import GroupContainer
import TestSupport

/// What each role has: its container, its name, its random numbers, and the number of its last attempt.
final class Part {
    let path: String
    let name: String
    /// The number of the last attempt; a later life begins with a higher one.
    private(set) var number: Int
    var random: SeededGenerator

    init(path: String, name: String, number: Int, random: SeededGenerator) {
        self.path = path
        self.name = name
        self.number = number
        self.random = random
    }

    func draw(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

    /// Does one thing after the other, some milliseconds apart, until its input is closed. An operation that is
    /// refused, as by a full disk, is printed, and is no reason to end.
    func takeTurns(within milliseconds: Int = 8, _ turn: () throws -> Void) throws {
        while try !isInputClosed(within: draw(0..<milliseconds)) { try attempt(turn) }
    }

    func takeTurns(within milliseconds: Int = 8, _ turn: () async throws -> Void) async throws {
        while try !isInputClosed(within: draw(0..<milliseconds)) {
            do { try await turn() } catch let error as CoordinationError { sayRefused(error) }
        }
    }

    func attempt(_ turn: () throws -> Void) throws {
        do { try turn() } catch let error as CoordinationError { sayRefused(error) }
    }

    /// Prints that it tries, with the number of this attempt, and then that it was acknowledged.
    func trying(_ word: String, _ body: (Int) throws -> Void) throws {
        number += 1
        let number = number
        printLine("> \(word) \(number)")
        try body(number)
        printLine("\(word) \(number)")
    }

    private func sayRefused(_ error: CoordinationError) {
        printLine("refused \(error.code.rawValue): \("\(error)".split(separator: "\n").joined(separator: " "))")
    }

    /// Waits for the end of its input for this long: poll(2) paces it, and returns at the end at once.
    private func isInputClosed(within milliseconds: Int) throws -> Bool {
        var input = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&input, 1, Int32(milliseconds)) > 0
    }
}

/// Prints a line with one write(2): what was printed stays, whenever this process is killed.
func printLine(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(1, $0.baseAddress, $0.count) }
    if count != bytes.count { exit(74) }
}
