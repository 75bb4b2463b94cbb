// tools/crash-test starts this, on a file system whose power it cuts.
import Glibc
import GroupContainer
import TestSupport

let usage = """
    usage: crash-worker prepare CONTAINER           make it
           crash-worker run CONTAINER STEP...       carry out the steps; print the number of each when it is acknowledged
           crash-worker inspect CONTAINER ACKNOWLEDGED STEP...
                                                    look at what a power cut left of them when so many were acknowledged:
                                                    print what was found, and each fault; status 1 if there is any
           crash-worker steps                       print the names of all steps

    """

/// Prints a line with one write(2): what was printed stays.
func printLine(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(1, $0.baseAddress, $0.count) }
    if count != bytes.count { exit(74) }
}

func steps(_ words: some Sequence<String>) -> [CrashStep] {
    words.map { word in
        guard let step = CrashStep(rawValue: word) else {
            printLine("there is no step \(word)")
            exit(64)
        }
        return step
    }
}

let words = CommandLine.arguments
do {
    switch (words.dropFirst().first, words.count) {
    case ("steps", 2):
        for step in CrashStep.allCases { printLine("\(step.rawValue) \(step.isDurable ? "durable" : "relaxed")") }
    case ("prepare", 3): try await Performance.prepare(words[2])
    case ("run", 4...):
        let plan = steps(words.dropFirst(3))
        let performance = Performance(try Container(path: words[2]))
        for (index, step) in plan.enumerated() {
            try await performance.perform(step, number: index + 1)
            printLine("\(index + 1)")
        }
    case ("inspect", 5...):
        let outcomes = CrashOutcomes(steps(words.dropFirst(4)), acknowledged: Int(words[3]) ?? 0)
        let (found, faults) = try await Inspection(path: words[2], outcomes: outcomes).run()
        printLine("found \(found)")
        for fault in faults { printLine("fault \(fault)") }
        exit(faults.isEmpty ? 0 : 1)
    default:
        print(usage, terminator: "")
        exit(64)
    }
} catch {
    printLine("fault \(words.dropFirst().first ?? ""): \(error)")
    exit(1)
}
