public import Extensions

/// The result of a request. There is exactly one.
public enum ExtensionResult: Sendable {
    /// The extension has done it, and returned these items.
    case completed([ExtensionItem])
    /// The extension, or its user, has given it up.
    case cancelled(ExtensionError)
    /// The extension has failed, or was ended.
    case failed(ExtensionFailure)
}

/// The reason why a request has no result of its extension.
public struct ExtensionFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// What has happened.
    public enum Reason: Hashable, Sendable {
        /// The extension could not be started: the program, or another file that it needs, and why.
        case notStarted(file: String, cause: String)
        /// A signal ended the process before it had sent a result.
        case signalled(Int32)
        /// The process exited with this status before it had sent a result.
        case exited(status: Int32)
        /// The process closed its output before it had sent a result, and did not exit.
        case outputClosed
        /// There was no result by the deadline.
        case deadline(Duration)
        /// A line of the output is no message: its beginning, and its fault.
        case wrongOutput(line: String, fault: String)
        /// The process wrote more than a host reads of it.
        case tooMuchOutput(String)
        /// The host, or its task, cancelled the request.
        case cancelledByHost
        /// A system call of the host failed.
        case hostFault(String)
    }

    /// What has happened.
    public var reason: Reason
    /// The last lines that the extension wrote for people, to its standard error or as `log` messages, at most ten.
    public var lastLines: [String]

    /// Creates a failure.
    public init(_ reason: Reason, lastLines: [String] = []) { (self.reason, self.lastLines) = (reason, lastLines) }

    /// A sentence for people, and below it `lastLines`.
    public var description: String {
        ([sentence] + lastLines.map { "  " + $0 }).joined(separator: "\n")
    }

    private var sentence: String {
        switch reason {
        case .notStarted(let file, let cause): "the extension could not be started: '\(file)': \(cause)"
        case .signalled(let number): "the extension was ended by signal \(number)"
        case .exited(let status): "the extension exited with status \(status), without a result"
        case .outputClosed: "the extension closed its output, without a result"
        case .deadline(let time): "the extension had no result within \(time)"
        case .wrongOutput(let line, let fault): "the extension sent an invalid message: '\(line)': \(fault)"
        case .tooMuchOutput(let what): "the extension wrote too much: \(what)"
        case .cancelledByHost: "the request was cancelled"
        case .hostFault(let cause): "the host could not run the extension: \(cause)"
        }
    }
}
