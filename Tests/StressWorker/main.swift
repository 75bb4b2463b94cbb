// What tools/stress-writers and tools/bench start.
import GroupContainer
import SystemCalls

let usage = """
    usage: stress-worker lease-cost DIRECTORY ROUNDS   what a lease costs beside a bare lock, as a Markdown table

    """

let words = CommandLine.arguments
do {
    switch (words.dropFirst().first, words.count) {
    case ("lease-cost", 4): try measureLeaseCost(of: words[2], rounds: Int(words[3]) ?? 100)
    default:
        print(usage, terminator: "")
        exitProcess(64)
    }
} catch {
    print("stress-worker: \(error)")
    exitProcess(1)
}
