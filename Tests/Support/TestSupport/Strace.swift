import GroupSystemCalls

/// Faults at system calls, made by strace(1), which stands between a command and the kernel.
package enum Strace {
    /// Whether strace is installed, may trace, and can inject faults.
    package static let isThere = succeeds([
        "strace", "-o", "/dev/null", "-e", "inject=fsync:signal=KILL:when=2", "true",
    ])

    /// One call of a command, as strace counts it: the first `read` of a thread is ("read", 1).
    package struct Call: Hashable, Sendable, CustomStringConvertible {
        package var name: String
        package var number: Int
        /// The arguments of a call that was seen, as strace prints them.
        package var arguments = ""
        package var description: String { "\(name) \(number)" }

        package init(name: String, number: Int, arguments: String = "") {
            self.name = name
            self.number = number
            self.arguments = arguments
        }
    }

    package enum Fault: Hashable, Sendable {
        /// Killed before the call does anything.
        case kill
        /// Stopped once the call has done its work.
        case stop
        /// The call does nothing and returns this error, `EIO` for example.
        case error(String)

        fileprivate var text: String {
            switch self {
            case .kill: "signal=SIGKILL"
            case .stop: "signal=SIGSTOP"
            case .error(let name): "error=\(name)"
            }
        }
    }

    /// The calls that a command's main thread makes from the first one that concerns the container on.
    package static func calls(
        of command: [String], input: String, in container: TemporaryContainer
    ) throws -> [Call] {
        let trace = "\(container.directory)/trace"
        let run = try RunningProcess(["strace", "-f", "-o", trace] + command, input: input).finish()
        guard run.status == 0 else { throw TemporaryContainer.Failed(description: "\(command): \(run.text)") }
        let file = try FileDescriptor.open(path: Array(trace.utf8), .reading)
        let lines = String(decoding: try file.readAll(), as: UTF8.self).split(separator: "\n")

        let main = lines.first?.prefix { $0 != " " } ?? ""
        var counts: [String: Int] = [:]
        var calls: [Call] = []
        var concernsIt = false
        for line in lines where line.hasPrefix("\(main) ") {
            guard let open = line.firstIndex(of: "("), !line.contains("<... ") else { continue }
            let name = String(line[line.index(line.startIndex, offsetBy: main.count)..<open].drop { $0 == " " })
            // A call that is newer than strace has no name there, and no fault can be put at it.
            if name.hasPrefix("syscall_") { continue }
            counts[name, default: 0] += 1
            // The command line contains the path, too.
            if name != "execve" && line.contains(container.path) { concernsIt = true }
            let call = Call(name: name, number: counts[name] ?? 0, arguments: String(line[open...]))
            if concernsIt { calls.append(call) }
        }
        return calls
    }

    /// Runs a command with a fault at one of its calls.
    package static func run(_ command: [String], input: String = "", fault: Fault, at call: Call) throws -> (
        status: Int32, text: String
    ) {
        try start(command, input: input, fault: fault, at: call).finish()
    }

    package static func start(
        _ command: [String], input: String = "", fault: Fault, at call: Call, andAllLater: Bool = false
    ) throws -> TracedProcess {
        let injection = "inject=\(call.name):\(fault.text):when=\(call.number)\(andAllLater ? "+" : "")"
        var options = ["-e", "trace=\(call.name)", "-e", injection]
        // The coverage of a stopped process is not measured: it could be stopped while it locks the file of all
        // measured processes (tools/coverage).
        if fault == .stop { options += ["-E", "LLVM_PROFILE_FILE=/dev/null"] }
        return try TracedProcess(options + command, input: input)
    }
}
