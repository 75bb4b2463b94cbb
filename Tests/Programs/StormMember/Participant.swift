import Foundation
import Glibc
import GroupSystemCalls
import TestSupport

/// A process in a storm, in all its lives.
final class Participant {
    enum Role: String {
        case writer, setter, poster, listener, widget, opener
        /// `watch-group` with a cursor file; the kernel gives the limited one no inotify.
        case follower, limited
        /// A program without coordination.
        case shell
        /// A person or a monitor that looks at the status.
        case looker
    }

    struct Life {
        var text: String
        var status: Int32
        /// The signal that ended it, if the storm sent one.
        var signal: Int32?
        /// A follower's cursor at its start.
        var cursor: String?

        /// The whole lines.
        var lines: [Substring] {
            text.lastIndex(of: "\n").map { text[..<$0].split(separator: "\n") } ?? []
        }
    }

    let role: Role
    let name: String
    private let place: StormPlace
    private let seed: UInt64
    private(set) var lives: [Life] = []
    private var process: RunningProcess
    private var cursor: String?
    /// The time at which it is to go on.
    private(set) var stoppedUntil: Int64?

    init(_ role: Role, _ name: String, in place: StormPlace, seed: UInt64) throws {
        self.role = role
        self.name = name
        self.place = place
        self.seed = seed
        cursor = Self.kept(name, place)
        process = try place.start(Self.words(role, name, 0, place, seed))
    }

    var identifier: Int32 { process.identifier }
    var text: String { process.text }

    private static func kept(_ name: String, _ place: StormPlace) -> String? {
        try? String(contentsOfFile: "\(place.directory)/\(name)", encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static func words(_ role: Role, _ name: String, _ life: Int, _ place: StormPlace, _ seed: UInt64)
        -> [String]
    {
        let seed = seed &+ UInt64(life)
        let following = [
            "--json", "--verbose", "--since", "start", "--cursor-file", "\(place.directory)/\(name)", place.container,
        ]
        switch role {
        case .follower: return ["watch-group"] + following
        case .limited:
            let script = "echo 0 >/proc/sys/user/max_inotify_instances && exec watch-group \"$@\""
            return ["unshare", "-Ur", "sh", "-c", script, "sh"] + following
        case .shell: return ["bash", "-c", shell, "bash", place.container, name, "\(seed % 32_768)"]
        case .looker: return ["bash", "-c", looker, "bash", place.container]
        default: return ["storm-member", role.rawValue, place.container, name, "\(life)", "\(seed)"]
        }
    }

    /// An editor, a script, or another program that moves files about. The time-out of `read` paces it, and ends at the
    /// end of the input at once.
    private static let shell = """
        RANDOM=$3
        cd "$1" && mkdir -p "shell/$2" && cd "shell/$2" || exit
        while read -r -t "0.0$((RANDOM % 9 + 1))" _; (($? > 128)); do
            case $((RANDOM % 9)) in
                0) echo $RANDOM >new && mv new saved ;;
                1) echo $RANDOM >>log ;;
                2) mkdir -p d/deep && echo $RANDOM >d/deep/item ;;
                3) mv d e ;;
                4) rm -rf e ;;
                5) cp saved saved~ && echo $RANDOM >saved && rm saved~ ;;
                6) mv log "log.$((RANDOM % 3))" ;;
                7) chmod 640 saved ;;
                8) mv e/d d || mv -T e d ;;
            esac 2>/dev/null
        done
        echo ended
        """

    private static let looker = """
        while read -r -t 0.2 _; (($? > 128)); do
            groupctl status --json "$1" || echo "fault status $?"
            groupctl doctor --json "$1"
            (($? < 2)) || echo "fault doctor $?"
        done
        echo ended
        """

    func wait(for isThere: (String) -> Bool) throws { try process.waitForText(isThere) }

    /// Kills it, with all that it has started, and starts it anew. A writer is killed this long after it has begun an
    /// attempt, if it soon begins one: at another time nothing could be left half done.
    func kill(microseconds: Int64) throws {
        if role == .writer && stoppedUntil == nil {
            let (number, limit) = (process.lastNumber, monotonicNanoseconds() + 10_000_000)
            while process.lastNumber == number && monotonicNanoseconds() < limit { pause(nanoseconds: 10_000) }
            pause(nanoseconds: microseconds * 1_000)
        }
        stoppedUntil = nil
        process.signal(SIGKILL, toGroup: true)
        try bury(SIGKILL)
        cursor = Self.kept(name, place)
        process = try place.start(Self.words(role, name, lives.count, place, seed))
    }

    func stop(until time: Int64) {
        process.signal(SIGSTOP, toGroup: true)
        stoppedUntil = time
    }

    func resume() {
        process.signal(SIGCONT, toGroup: true)
        stoppedUntil = nil
    }

    /// Requests its end, and waits until it has ended.
    func end() throws {
        if role == .follower || role == .limited {
            process.signal(SIGTERM)
            try bury(SIGTERM)
        } else {
            process.closeInput()
            try bury(nil)
        }
    }

    private func bury(_ signal: Int32?) throws {
        let (status, text) = try process.finish()
        lives.append(Life(text: text, status: status, signal: signal, cursor: cursor))
    }

    /// The lives that ended by themselves, or printed that they saw what must never be.
    var faults: [String] {
        lives.enumerated().flatMap { number, life in
            let isExpected =
                life.signal.map { life.status == 128 + $0 } ?? (life.status == 0 && life.text.hasSuffix("ended\n"))
            let ending = isExpected ? [] : ["ended with \(life.status): \(life.text.suffix(500))"]
            let reported = life.lines.filter { $0.hasPrefix("fault ") }.map(String.init)
            return (ending + reported).map { "\(name), life \(number): \($0)" }
        }
    }
}
