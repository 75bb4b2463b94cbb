// Processes that present items, and processes that request them, by schedules that are drawn from a seed.
import Glibc
import PresenterModel
import TestSupport

let usage = """
    usage: presenter-storm run SCHEDULES SEED
                                              run schedules, the first one drawn from SEED, the next one from SEED + 1
           presenter-storm lines SEED         run one schedule, and print all events and violations
           presenter-storm work CONTAINER SEED NAME
                                              be the process of that name in the schedule of SEED

    Exits with 1 if a rule was violated. The rules are in Tests/Support/PresenterModel.

    """

func printLines(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(1, $0.baseAddress, $0.count) }
    if count != bytes.count { exit(74) }
}

let words = CommandLine.arguments
switch (words.dropFirst().first, words.count) {
case ("run", 4):
    let storm = PresenterStorm(schedules: Int(words[2]) ?? 1, from: UInt64(words[3]) ?? 1)
    exit(try storm.rage() ? 0 : 1)
case ("lines", 3):
    let lines = try ScheduleRun(seed: UInt64(words[2]) ?? 1).run()
    let violations = PresenterChecker.violations(in: lines)
    printLines((lines + violations.map { "\($0)" }).joined(separator: "\n"))
    exit(violations.isEmpty ? 0 : 1)
case ("work", 5):
    // However the schedule ends, the process does.
    _ = alarm(60)
    var random = SeededGenerator(seed: UInt64(words[3]) ?? 1)
    let schedule = Schedule(using: &random)
    guard let plan = schedule.workers.first(where: { $0.name == words[4] }) else { exit(64) }
    do {
        try await StormWorker(words[2], plan).work()
    } catch {
        printLines("\(plan.name): \(error)")
        exit(1)
    }
default:
    print(usage, terminator: "")
    exit(64)
}
