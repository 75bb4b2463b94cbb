import FoundationEssentials
import GroupBytes
import GroupContainer
import GroupCurl
import GroupDigest
import GroupSystemCalls
import Transfers

/// One attempt at a transfer, on a thread of its own.
///
/// A download's bytes go to `ID.part`. Until the machine restarts, all bytes of that file are valid, also if their
/// writer was killed. After a restart only those are that were synchronized before their number was recorded; the rest
/// is cut off. The validator is recorded durably before the first byte that belongs to it: no two versions of a file
/// are mixed.
struct Attempt {
    let container: Container
    let records: TransferRecords
    let boot: String
    let stall: Int

    private var credentials: Credentials { Credentials(container: container) }

    /// What has come of an attempt.
    enum Outcome {
        case placed
        case sent
        case retry(String, after: Int?)
        case startOver(String)
        case failed(String)
        /// The transfer was cancelled or given up meanwhile, or its record was removed.
        case recordEnded
    }

    /// The bytes between two synchronizations.
    private static let step: UInt64 = 4 << 20
    private static let mostRedirections = 10
    /// The time between two records of the progress.
    private static let period: Int64 = 250_000_000

    func run(_ transfer: Transfer) -> Outcome {
        do {
            return transfer.direction == .download ? try download(transfer) : try upload(transfer)
        } catch let error as CoordinationError {
            return [.lockTimedOut, .presenterUnresponsive, .conflict].contains(error.code)
                ? .retry("\(error)", after: nil) : .failed("\(error)")
        } catch {
            return .failed(Self.reason(error))
        }
    }

    fileprivate static func reason(_ error: any Error) -> String {
        error as? Errno == .noSpace ? "the disk is full" : "\(error)"
    }

    // MARK: Downloads

    private func download(_ transfer: Transfer) throws -> Outcome {
        let directory = try TransferFiles.directory(of: container).open()
        let name = TransferFiles.part(transfer.id)
        let path = ItemPath(transfer.path)
        if transfer.state == .placing, let inode = transfer.inode,
            try TransferFiles.directory(of: container).isInstalled(inode: inode, at: path)
        {
            return .placed
        }
        let part = PartFile(
            try FileDescriptor.open(name, in: directory, [.readingAndWriting, .creating], mode: 0o600))
        var size = try part.file.status().size
        if transfer.boot != boot { size = min(size, transfer.durable) }
        if transfer.tag == nil { size = 0 }
        try part.file.setSize(Int(clamping: size))
        // From here on the bytes that are there are those of this boot.
        let isThere = try records.update(transfer.id) { current in
            if current.state.isOver { return false }
            (current.boot, current.received, current.durable) = (boot, size, min(current.durable, size))
            return true
        }
        guard isThere, var record = records[transfer.id] else { return .recordEnded }
        if size == 0 || size != transfer.total {
            switch try receive(&record, into: part, from: size) {
            case .complete: break
            case .ended(let outcome): return outcome
            }
        }
        if let failure = try check(record, part.file) { return failure }
        try part.file.synchronizeData()
        let inode = try part.file.status().inode
        guard
            try records.update(
                transfer.id, durability: .durable,
                { current in
                    if current.state.isOver { return false }
                    (current.state, current.inode, current.reason) = (.placing, inode, nil)
                    return true
                })
        else { return .recordEnded }
        try TransferFiles.directory(of: container).install(
            name, at: path, purpose: "group-transfer", timeout: .seconds(30))
        return .placed
    }

    /// Returns why the file is not the one that was wanted.
    private func check(_ record: Transfer, _ file: borrowing FileDescriptor) throws -> Outcome? {
        let size = try file.status().size
        if let expected = record.expectedLength, size != expected {
            return .startOver("the file has \(size) bytes, and \(expected) were expected")
        }
        guard let wanted = record.sha256 else { return nil }
        guard let found = try SHA256.digest(of: file).map({ Hexadecimal.encode($0) }) else {
            return .failed("the SHA-256 cannot be computed")
        }
        return found == wanted ? nil : .startOver("the file has the SHA-256 \(found), and \(wanted) was expected")
    }

    private enum Receipt {
        case complete
        case ended(Outcome)
    }

    private func receive(
        _ record: inout Transfer, into part: PartFile, from start: UInt64
    ) throws -> Receipt {
        var url = record.url
        for _ in 0...Self.mostRedirections {
            let exchange = Exchange()
            var request = Exchange.Request(url: url, stall: stall)
            switch credentials.fields(of: record, for: url) {
            case .fields(let lines): request.fields = lines
            case .failure(let reason, let isPermanent):
                return .ended(isPermanent ? .failed(reason) : .retry(reason, after: nil))
            }
            if start > 0, let tag = record.tag {
                request.fields += ["Range: bytes=\(start)-", "If-Range: \(tag)"]
            }
            let sink = Sink(self, record, part, start)
            exchange.http.onBody = { piece in
                guard let response = exchange.response else { return false }
                return sink.take(piece, response)
            }
            exchange.http.onProgress = { _ in sink.goesOn() }
            let outcome = exchange.http.perform(request)
            // A response that was cut, or came too late, may lack its address: `finish` tries again.
            if case .done = outcome, let response = exchange.response, response.status / 100 == 3,
                response.status != 304
            {
                guard
                    case .redirect = response.decision(
                        offset: start, tag: nil, total: nil, expected: nil, hasHash: false),
                    let target = exchange.http.redirection
                else { return .ended(.failed("the server redirects to nowhere, with status \(response.status)")) }
                if let refusal = TransferAddress.refusal(from: url, to: target) { return .ended(.failed(refusal)) }
                url = target
                continue
            }
            record = sink.record
            return try finish(&record, exchange, outcome, sink)
        }
        return .ended(.failed("the server has redirected more than \(Self.mostRedirections) times"))
    }

    private func finish(
        _ record: inout Transfer, _ exchange: Exchange, _ outcome: Exchange.Outcome, _ sink: Sink
    ) throws -> Receipt {
        // A response without a body has not been decided upon yet.
        if sink.decision == nil, let response = exchange.response, case .done = outcome { sink.decide(response) }
        try sink.record(progress: true)
        record = sink.record
        if let failure = sink.failure { return .ended(failure) }
        switch sink.decision {
        case .startOver(let reason): return .ended(.startOver(reason))
        case .retry(let reason, let after): return .ended(.retry(reason, after: after))
        case .fail(let reason): return .ended(.failed(reason))
        case .redirect: return .ended(.failed("the server redirects to nowhere"))
        case .complete: return .complete
        case .append, .begin, nil: break
        }
        switch outcome {
        case .failed(let reason, let isPermanent):
            return .ended(isPermanent ? .failed(reason) : .retry(reason, after: nil))
        // The reason would be in `sink.failure`: an attempt that ends without one is counted, so that the next one
        // waits.
        case .stopped: return .ended(.retry("the response could not be used", after: nil))
        case .done: break
        }
        guard sink.decision != nil else { return .ended(.retry("the server has sent no response", after: nil)) }
        if let total = record.total, sink.size != total {
            return .ended(.retry("the server has sent \(sink.size) of \(total) bytes", after: nil))
        }
        return .complete
    }

    /// The file of a download's bytes.
    private final class PartFile {
        let file: FileDescriptor
        init(_ file: consuming FileDescriptor) { self.file = file }
    }

    /// Where the body of a download goes.
    private final class Sink {
        private let attempt: Attempt
        private(set) var record: Transfer
        private let part: PartFile
        private(set) var size: UInt64
        private(set) var decision: TransferResponse.Decision?
        private(set) var failure: Outcome?
        private var synchronized: UInt64
        private var lastRecord = monotonicNanoseconds()
        private var lastSize: UInt64
        private let start: UInt64

        init(_ attempt: Attempt, _ record: Transfer, _ part: PartFile, _ start: UInt64) {
            self.attempt = attempt
            self.record = record
            self.part = part
            self.start = start
            size = start
            synchronized = start
            lastSize = start
        }

        func decide(_ response: TransferResponse) {
            let next = response.decision(
                offset: start, tag: record.tag, total: record.total, expected: record.expectedLength,
                hasHash: record.sha256 != nil)
            decision = next
            do {
                switch next {
                case .begin(let total):
                    try part.file.setSize(0)
                    try part.file.seek(to: 0)
                    (size, synchronized, lastSize) = (0, 0, 0)
                    try checkRoom(total)
                    try begin(total, response.strongTag)
                case .append(let total):
                    try checkRoom(total)
                    try part.file.seek(to: Int(clamping: start))
                    record.total = total
                default: break
                }
            } catch {
                fail(error)
            }
        }

        /// Records the validator of the bytes that follow, before they come.
        private func begin(_ total: UInt64?, _ tag: String?) throws {
            let boot = attempt.boot
            let isThere = try attempt.records.update(record.id, durability: .durable) { current in
                if current.state.isOver { return false }
                (current.tag, current.total, current.durable, current.received, current.boot) = (tag, total, 0, 0, boot)
                return true
            }
            if !isThere { failure = .recordEnded }
            (record.tag, record.total, record.durable, record.boot) = (tag, total, 0, boot)
        }

        private func checkRoom(_ total: UInt64?) throws {
            guard let total, total > size else { return }
            let room = try part.file.freeSpace().bytes
            if room < total - size {
                failure = .failed(
                    "the file has \(total - size) bytes more, and the disk has room for \(room)")
            }
        }

        private func fail(_ error: any Error) {
            failure = .failed(Attempt.reason(error))
            // The record of the failure needs room, too.
            if error as? Errno == .noSpace { try? part.file.setSize(0) }
        }

        func take(_ piece: Span<UInt8>, _ response: TransferResponse) -> Bool {
            if decision == nil { decide(response) }
            if failure != nil { return false }
            switch decision {
            case .append, .begin: break
            // The bodies of redirections and errors are short, and nothing of them is kept.
            default: return true
            }
            if let total = record.total, size + UInt64(piece.count) > total {
                failure = .startOver("the server has sent more than \(total) bytes")
                return false
            }
            do {
                try part.file.writeAll(piece)
                size += UInt64(piece.count)
                if size - synchronized >= Attempt.step {
                    try part.file.synchronizeData()
                    synchronized = size
                }
                try record(progress: false)
            } catch {
                fail(error)
            }
            return failure == nil
        }

        func goesOn() -> Bool {
            do { try record(progress: false) } catch { fail(error) }
            return failure == nil
        }

        /// Records how much there is, and how much is on the disk; a few times a second. Finds out whether it was
        /// cancelled.
        func record(progress isDue: Bool) throws {
            let now = monotonicNanoseconds()
            let time = now - lastRecord
            if !isDue && time < Attempt.period { return }
            let speed = time > 0 ? Double(size - min(size, lastSize)) * 1e9 / Double(time) : 0
            (lastRecord, lastSize) = (now, size)
            let (size, synchronized) = (size, synchronized)
            let isThere = try attempt.records.update(record.id) { current in
                if current.state.isOver { return false }
                current.note(received: size)
                (current.durable, current.bytesPerSecond) = (synchronized, UInt64(speed))
                return true
            }
            if !isThere { failure = .recordEnded }
        }
    }

    // MARK: Uploads

    private func upload(_ transfer: Transfer) throws -> Outcome {
        let directory = try TransferFiles.directory(of: container).open()
        let name = TransferFiles.source(transfer.id)
        var url = transfer.url
        for _ in 0...Self.mostRedirections {
            let file: FileDescriptor
            do throws(Errno) {
                file = try FileDescriptor.open(name, in: directory, [.reading])
            } catch {
                return .failed("the copy of the file cannot be read: \(error)")
            }
            let exchange = Exchange()
            var lastRecord: Int64 = 0
            var isGone = false
            exchange.http.onProgress = { sent in
                let now = monotonicNanoseconds()
                if now - lastRecord < Self.period { return true }
                lastRecord = now
                isGone =
                    (try? records.update(transfer.id) { current in
                        if current.state.isOver { return false }
                        current.received = sent
                        return true
                    }) == false
                return !isGone
            }
            let length = try file.status().size
            var offset = 0
            let source = PartFile(file)
            exchange.http.onSource = { room in
                guard let piece = try? source.file.read(at: offset, count: room) else { return nil }
                offset += piece.count
                return piece
            }
            var request = Exchange.Request(url: url, length: length, stall: stall)
            switch credentials.fields(of: transfer, for: url) {
            case .fields(let lines): request.fields = lines
            case .failure(let reason, let isPermanent):
                return isPermanent ? .failed(reason) : .retry(reason, after: nil)
            }
            let outcome = exchange.http.perform(request)
            if isGone { return .recordEnded }
            switch outcome {
            case .failed(let reason, let isPermanent): return isPermanent ? .failed(reason) : .retry(reason, after: nil)
            case .stopped: return .retry("the file could not be sent", after: nil)
            case .done: break
            }
            guard let response = exchange.response else { return .retry("the server has sent no response", after: nil) }
            if response.status / 100 == 2 {
                try records.update(transfer.id) { current in
                    current.received = length
                    return true
                }
                return .sent
            }
            // Only these keep the method and the body (RFC 9110, 15.4).
            if response.status == 307 || response.status == 308, let target = exchange.http.redirection {
                if let refusal = TransferAddress.refusal(from: url, to: target) { return .failed(refusal) }
                url = target
                continue
            }
            if case .retry(let reason, let after) = response.decision(
                offset: 0, tag: nil, total: nil, expected: nil, hasHash: false)
            {
                return .retry(reason, after: after)
            }
            return .failed("the server has answered with status \(response.status)")
        }
        return .failed("the server has redirected more than \(Self.mostRedirections) times")
    }
}
