import Foundation
import Glibc
import GroupSystemCalls
import Testing

/// How many programs each suite starts, and the processor time of these programs and of the suite's own threads.
/// tools/test names the file in which the tests' process writes it at its end.
enum ProcessUsage {
    static let variable = "GROUP_CONTAINER_USAGE"

    private struct Sum {
        var processes = 0
        var microseconds = 0
    }

    private static let sums: Guarded<[String: Sum]>? = environmentValue(variable).map { path in
        atexit { ProcessUsage.write() }
        return Guarded([:])
    }

    /// The suite of the test that runs on this thread; "-" on threads that a test has started.
    static var suite: String {
        guard let identifier = Test.current?.id else { return "-" }
        return "\(identifier)".split(separator: "/").first.map(String.init) ?? "-"
    }

    static func start(in suite: String) { sums?.withLock { $0[suite, default: Sum()].processes += 1 } }

    /// Adds the time of a process, with that of all that it has waited for.
    static func end(in suite: String, _ usage: rusage) {
        add(microseconds(usage.ru_utime) + microseconds(usage.ru_stime), to: suite)
    }

    static func add(_ microseconds: Int, to suite: String) {
        sums?.withLock { $0[suite, default: Sum()].microseconds += microseconds }
    }

    private static func microseconds(_ time: timeval) -> Int { Int(time.tv_sec) * 1_000_000 + Int(time.tv_usec) }

    /// The processor time of the calling thread.
    static var ofThread: Int {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int(time.tv_sec) * 1_000_000 + Int(time.tv_nsec) / 1_000
    }

    /// A line for each suite: processes, microseconds, name; and one for the rest of the tests' process.
    private static func write() {
        guard let path = environmentValue(variable), let sums else { return }
        var own = rusage()
        unsafe getrusage(RUSAGE_SELF.rawValue, &own)
        let total = microseconds(own.ru_utime) + microseconds(own.ru_stime)
        let lines = sums.withLock { $0 }.sorted { $0.key < $1.key }.map {
            "\($0.value.processes)\t\($0.value.microseconds)\t\($0.key)\n"
        }
        try? (lines.joined() + "0\t\(total)\t(the tests' own process)\n")
            .write(toFile: path, atomically: true, encoding: .utf8)
    }
}
