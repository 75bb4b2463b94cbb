import Glibc
import GroupSystemCalls
import TestSupport

/// Members of every kind in one container, under the storm's kills, stops and full disk. What happens is drawn from one
/// seed; the order in which the kernel runs the processes is not.
final class Storm {
    let place: StormPlace
    private let signals = TerminationSignals()
    private(set) var participants: [Participant] = []
    private var random: SeededGenerator
    private(set) var story: [String: Int] = [:]
    private var fullUntil: Int64?

    /// At least two of each, so that one goes on while the other is dead; the first few are enough to wait for each
    /// other.
    private static let roles: [Participant.Role] = [
        .listener, .follower, .writer, .poster, .setter, .writer, .shell, .widget, .limited, .opener, .looker, .writer,
        .setter, .poster, .listener, .follower, .shell, .writer,
    ]

    init(members: Int, seed: UInt64, in place: StormPlace) throws {
        self.place = place
        random = SeededGenerator(seed: seed)
        let canLimit = succeeds(["unshare", "-Ur", "sh", "-c", "echo 0 >/proc/sys/user/max_inotify_instances"])
        if !canLimit { printLine("storm: no follower is without inotify: unshare -Ur is not allowed here") }
        let roles = (0..<max(members, 11)).map { Self.roles[$0 % Self.roles.count] }
        // A listener gets everything only if it is there before anything is posted.
        for role in roles.filter({ $0 == .listener }) + roles.filter({ $0 != .listener }) {
            try checkSignals()
            let number = participants.count
            let actual = role == .limited && !canLimit ? .follower : role
            let participant = try Participant(actual, "\(actual.rawValue)\(number)", in: place, seed: random.next())
            participants.append(participant)
            if role == .listener { try participant.wait { $0.contains("listening\n") } }
        }
    }

    struct Interrupted: Error {
        var signal: Int32
    }

    /// A storm that is interrupted releases everything on the way out: the members, and the file system.
    private func checkSignals() throws {
        if let signal = signals.received { throw Interrupted(signal: signal) }
    }

    private func note(_ word: String) { story[word, default: 0] += 1 }

    /// Every 50 ms something happens. No process waits for that time: it is the pace of the storm.
    func rage(seconds: Double) throws {
        let end = monotonicNanoseconds() + Int64(seconds * 1e9)
        while monotonicNanoseconds() < end {
            pause(nanoseconds: 50_000_000)
            try checkSignals()
            let now = monotonicNanoseconds()
            for participant in participants {
                if let until = participant.stoppedUntil, until < now { participant.resume() }
            }
            if let until = fullUntil, until < now {
                fullUntil = nil
                try place.makeRoom()
            }
            let victim = participants[Int.random(in: 0..<participants.count, using: &random)]
            let length = Int64.random(in: 0..<1_000_000_000, using: &random)
            switch Int.random(in: 0..<40, using: &random) {
            case 0..<26:
                note("kills")
                try victim.kill(microseconds: length / 1_000_000)
            case 26..<34: stop(victim, until: now + length)
            case 34 where !place.isFull:
                note("times full")
                try place.fill()
                fullUntil = now + length / 2
            case 35:
                guard let leader = leader() else { break }
                note("leaders killed")
                try leader.kill(microseconds: 0)
            case 36, 37:
                guard let leader = leader() else { break }
                note("leaders stopped")
                // Longer than any member waits for its reply.
                stop(leader, until: now + 1_000_000_000 + length)
            default: break
            }
        }
    }

    private func stop(_ participant: Participant, until time: Int64) {
        note("stops")
        if participant.stoppedUntil == nil { participant.stop(until: time) }
    }

    /// Returns the leader as a looker has last seen it: a look of the storm's own might wait for a stopped process.
    private func leader() -> Participant? {
        for looker in participants where looker.role == .looker {
            let lines = looker.text.split(separator: "\n")
            guard let line = lines.last(where: { $0.contains("\"members\"") && $0.hasSuffix("}") }),
                let status = try? JSONStatus(String(line)),
                let leader = status.members.first(where: \.leader)
            else { continue }
            return participants.first { $0.identifier == leader.pid }
        }
        return nil
    }

    /// Lets all go on, and ends those that change anything; returns all changes, as lines, when the followers have
    /// reported them.
    func calm() throws -> [String] {
        try place.makeRoom()
        for participant in participants { participant.resume() }
        let posters = participants.filter { $0.role == .poster }
        let staying: [Participant.Role] = [.poster, .listener, .follower, .limited]
        for participant in participants where !staying.contains(participant.role) {
            try participant.end()
            try checkSignals()
        }
        for poster in posters.dropLast() { try poster.end() }
        if let poster = posters.last {
            // Waits for a message that was posted after all others had ended.
            let count = Self.posts(in: poster.text).count
            try poster.wait { Self.posts(in: $0).count > count + 1 }
            try poster.end()
        }
        let last = participants.flatMap { $0.lives.flatMap { Self.posts(in: $0.text) } }.max { $0.number < $1.number }
        for listener in participants where listener.role == .listener {
            if let last { try listener.wait { $0.contains("got \(last.text) \(last.number)\n") } }
            try listener.end()
        }
        let reported = try place.run(["groupctl", "changes", place.container, "--since", "start", "--json"])
        let lines = reported.text.split(separator: "\n").map(String.init)
        if reported.status != 0 { throw TemporaryContainer.Failed(description: "groupctl changes: \(reported)") }
        // The last leader is one that can watch.
        for role in [.limited, .follower] as [Participant.Role] {
            for follower in participants where follower.role == role {
                if let line = lines.last { try follower.wait { $0.contains(line + "\n") } }
                try follower.end()
            }
        }
        return lines
    }

    struct Post: Hashable {
        var text: String
        var number: Int
    }

    static func posts(in text: String) -> [Post] { messages("posted ", text[...].split(separator: "\n")) }

    /// Parses lines `WORD NAME ATTEMPT NUMBER`.
    static func messages(_ word: String, _ lines: [Substring]) -> [Post] {
        lines.compactMap { line in
            guard line.hasPrefix(word), let space = line.lastIndex(of: " "),
                let number = Int(line[space...].dropFirst())
            else { return nil }
            return Post(text: String(line[..<space].dropFirst(word.count)), number: number)
        }
    }
}
