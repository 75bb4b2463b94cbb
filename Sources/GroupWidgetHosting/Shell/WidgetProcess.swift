import GroupSystemCalls

/// A widget's process, and the pipes to and from it. Nothing here waits for it: not for it to read, not for its end.
final class WidgetProcess {
    let run: WidgetRun
    let process: SupervisedProcess
    /// What it was started from, as it was then.
    let program: FileIdentity?
    let input: PipeSide
    private(set) var output: PipeSide?
    private(set) var errors: PipeSide?
    private var lines = LineBuffer()
    private var complaints = LineBuffer(largest: 65_536)
    /// Of its standard error.
    var errorLimit = ErrorStreamLimit()
    private var outbox: ArraySlice<UInt8> = []
    private var chunk = [UInt8](repeating: 0, count: 65_536)

    /// More than it may leave unread: what it is told is short, and one thing at a time.
    private static let largestOutbox = 65_536

    var identifier: Int32 { process.identifier }

    /// `inForeground`: it shares our process group and our standard error, so that it can be debugged at a terminal.
    init(
        _ run: WidgetRun, _ manifest: WidgetManifest, variables: [(name: String, value: [UInt8])], inForeground: Bool
    ) throws(Errno) {
        self.run = run
        program = FileIdentity(program: manifest.executable)
        let toIt = try FileDescriptor.pipe()
        let fromIt = try FileDescriptor.pipe()
        let itsErrors = try FileDescriptor.pipe()
        input = try PipeSide(toIt.writing.duplicate())
        output = try PipeSide(fromIt.reading.duplicate())
        errors = inForeground ? nil : try PipeSide(itsErrors.reading.duplicate())
        process = try SupervisedProcess(
            [Array(manifest.executable.utf8)] + manifest.arguments.map { Array($0.utf8) }, variables: variables,
            input: toIt.reading, output: fromIt.writing, errors: inForeground ? -1 : itsErrors.writing.number,
            leadsGroup: !inForeground)
    }

    /// A line. False: it has not read what it was told before.
    func say(_ line: [UInt8]) -> Bool {
        if outbox.count + line.count > Self.largestOutbox { return false }
        outbox += line + [0x0A]
        return true
    }

    /// Writes what there is room for. True: the rest waits for room. What nobody reads any more is dropped: its end is
    /// told elsewhere.
    func flush() -> Bool {
        while !outbox.isEmpty {
            do throws(Errno) {
                outbox = outbox.dropFirst(try input.descriptor.writeSome(outbox))
            } catch {
                if error == .tryAgain { return true }
                outbox = []
            }
        }
        return false
    }

    /// What has come on standard output; at most 64 KiB, so that others have their turn.
    func read() -> [(event: ProcessEvent, line: [UInt8])] {
        guard let count = Self.take(&chunk, from: output) else { return [] }
        if count == 0 {
            output = nil
            return [(.outputEnded, [])]
        }
        lines.append(chunk[..<count])
        var events: [(event: ProcessEvent, line: [UInt8])] = []
        while let line = lines.next() {
            if let message = ProtocolLine.decoded(WidgetMessage.self, from: line) {
                events.append((.said(message), line))
            } else {
                let cause = ProtocolLine.fault(WidgetMessage.self, in: line)
                events.append((.spoilt("'\(String(decoding: line.prefix(60), as: UTF8.self))': \(cause)"), line))
            }
        }
        if lines.isTooLong { events.append((.spoilt("a line of more than \(ProtocolLine.largest) bytes"), [])) }
        return events
    }

    /// What has come on standard error: for the log.
    func readErrors(at now: Int64) -> [String] {
        guard let count = Self.take(&chunk, from: errors) else { return [] }
        if count == 0 {
            errors = nil
            return []
        }
        errorLimit.note(count, at: now)
        complaints.append(chunk[..<count])
        var found: [String] = []
        while let line = complaints.next() { found.append(String(decoding: line, as: UTF8.self)) }
        // One that never ends a line is no longer listened to.
        if complaints.isTooLong { errors = nil }
        return found
    }

    /// Nil: nothing is there now. 0: nothing comes any more.
    private static func take(_ chunk: inout [UInt8], from side: PipeSide?) -> Int? {
        guard let side else { return nil }
        do throws(Errno) {
            return try side.descriptor.read(into: &chunk)
        } catch {
            return error == .tryAgain ? nil : 0
        }
    }
}

/// Our end of a pipe. Neither reading nor writing waits.
final class PipeSide: Sendable {
    let descriptor: FileDescriptor

    var number: Int32 { descriptor.number }

    init(_ descriptor: consuming FileDescriptor) throws(Errno) {
        try descriptor.setNonBlocking()
        self.descriptor = descriptor
    }
}
