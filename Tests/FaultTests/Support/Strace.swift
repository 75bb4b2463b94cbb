import GroupContainer
import SystemCalls
import Testing

/// Faults at system calls, made by strace(1): it stands between a command and the kernel.
enum Strace {
    static let isMissing: Comment = "strace is not installed: faults cannot be put into system calls"
    static var isThere: Bool { Executables.strace != nil }

    /// One call of a command, as strace counts it: the first `read` of a thread is ("read", 1).
    struct Call: Hashable, Sendable, CustomStringConvertible {
        var name: String
        var number: Int
        var description: String { "\(name) \(number)" }
    }

    /// The calls that a command's main thread makes from the first one that concerns the container on.
    static func calls(of command: [String], input: String, in container: TestContainer) throws -> [Call] {
        let trace = "\(container.path).trace"
        let run = try RunningProcess([try program(), "-f", "-o", trace] + command, input: input)
        try #require(run.finish().status == 0)
        let file = try FileDescriptor.open(path: Array(trace.utf8), .reading)
        let lines = String(decoding: try file.readAll(), as: UTF8.self).split(separator: "\n")
        let here = try FileDescriptor.open(path: Array("/".utf8), [.reading, .folder])
        try here.unlink(Array(trace.dropFirst().utf8))

        let main = lines.first?.prefix { $0 != " " } ?? ""
        var counts: [String: Int] = [:]
        var calls: [Call] = []
        var concernsIt = false
        for line in lines where line.hasPrefix("\(main) ") {
            guard let open = line.firstIndex(of: "("), !line.contains("<... ") else { continue }
            let name = String(line[line.index(line.startIndex, offsetBy: main.count)..<open].drop { $0 == " " })
            counts[name, default: 0] += 1
            // The command line has the path, too.
            if name != "execve" && line.contains(container.path) { concernsIt = true }
            if concernsIt { calls.append(Call(name: name, number: counts[name] ?? 0)) }
        }
        return calls
    }

    /// Runs a command with a fault (`signal=SIGKILL`, `error=EIO`) at one of its calls.
    static func run(_ command: [String], input: String = "", fault: String, at call: Call) throws -> (
        status: Int32, text: String
    ) {
        try start(command, input: input, fault: fault, at: call).finish()
    }

    static func start(
        _ command: [String], input: String = "", fault: String, at call: Call, andAllLater: Bool = false
    ) throws -> RunningProcess {
        let injection = "inject=\(call.name):\(fault):when=\(call.number)\(andAllLater ? "+" : "")"
        return try RunningProcess(
            [try program(), "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(call.name)", "-e", injection] + command,
            input: input)
    }

    private static func program() throws -> String { try #require(Executables.strace) }
}
