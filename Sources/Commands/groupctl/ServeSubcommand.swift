import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupServing
import GroupSystemCalls

/// Serves programs in any language: one on standard input and output, or many on a socket.
func serve(_ run: inout CommandRun) throws -> ExitStatus {
    let container = try run.openContainer()
    let server = Server(container, purpose: run.options.purpose)
    guard let path = run.arguments.value("socket") else {
        if run.hasReaderOfRemarks && StandardOutput.isTerminalForInput {
            run.remark(#"type a request, such as {"id":1,"do":"status"}, and Enter; Ctrl-D ends"#)
        }
        try server.serveStandardStreams()
        return .success
    }
    let signals = TerminationSignals()
    let listener = try listener(at: path)
    defer { listener.removeFile() }
    let failure = Guarded<CoordinationError?>(nil)
    let accept = { @Sendable in
        do throws(CoordinationError) { try server.serve(listener) } catch { failure.withLock { $0 = error } }
        Interruption.raise()
    }
    do throws(Errno) { try WorkThread.start(accept) } catch {
        throw CoordinationError(error, operation: "serve", item: "a thread")
    }
    // The program that has started this waits for the line, and connects then.
    let place = PipeText.lossyString(path)
    try run.output.writeLine(
        run.options.isJSON ? JSONValue.object([("socket", .string(place))]).encoded() : "listening at \(place)")
    try run.output.flush()
    while true {
        let seen = Interruption.latest
        if let number = signals.received { return .signal(number) }
        if let error = failure.withLock({ $0 }) { throw error }
        Interruption.wait(since: seen, atMost: .max)
    }
}

private func listener(at path: [UInt8]) throws(CoordinationError) -> UnixListener {
    do throws(Errno) { return try UnixListener(path: path) } catch {
        var failure = CoordinationError.unwritable(path, operation: "listen at", error)
        switch error {
        case .addressInUse:
            failure.remedy = .ofCommand("another process listens there: end it, or name another path")
        case .busy:
            failure.remedy = .ofCommand("another program has locked the directory (flock): name another directory")
        case .exists: failure.remedy = .ofCommand("a file that is no socket is there: name another path")
        default: break
        }
        throw failure
    }
}
