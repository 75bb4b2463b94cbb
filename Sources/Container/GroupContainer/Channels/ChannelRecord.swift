// Imports GroupBytes only: no file, clock or process.

import GroupBytes

/// A record of a channel's log: a message, or what a listener did. Its bytes are the body of the record. The log counts
/// the records of messages, and the sequence number of such a record is the message's number; all others are control
/// records.
struct ChannelRecord: Equatable, Sendable {
    /// The content of the record.
    enum Step: Equatable, Sendable {
        /// A message; nil is a signal, which has no content.
        case post([UInt8]?)
        /// A message whose position was decided elsewhere, with its number there.
        case relayedPost(number: UInt64, [UInt8]?)
        /// The order of this channel's messages is decided elsewhere, after the one with that number there; nil: no
        /// longer.
        case relayed(after: UInt64?)
        /// A process listens under a name. A new listener begins here, or with the oldest message that is kept.
        case listen(String, fromOldest: Bool)
        /// The listener has acknowledged all messages up to a number.
        case acknowledge(String, upTo: UInt64)
        /// The listener is removed.
        case remove(String)
        /// A message as it was when the log was compacted.
        case carriedPost(number: UInt64, [UInt8]?)
        /// The body of a message that only a newer version understands, as it was when the log was compacted.
        case carriedUnknown(number: UInt64, [UInt8])
        /// A listener as it was when the log was compacted, with the time when it first listened.
        case carriedListener(String, acknowledged: UInt64, since: Int64)
    }

    /// The process that wrote the record; for a carried message or listener, the process that wrote it originally.
    var processIdentifier: Int32
    /// Nanoseconds since 1970.
    var time: Int64
    var purpose: String
    var step: Step

    private static let kind: UInt8 = 1

    private enum StepKind {
        static let signal: UInt8 = 1
        static let message: UInt8 = 2
        static let listen: UInt8 = 3
        static let acknowledge: UInt8 = 4
        static let remove: UInt8 = 5
        static let carriedSignal: UInt8 = 6
        static let carriedMessage: UInt8 = 7
        static let carriedUnknown: UInt8 = 8
        static let carriedListener: UInt8 = 9
        static let relayedSignal: UInt8 = 10
        static let relayedMessage: UInt8 = 11
        static let relayed: UInt8 = 12
        static let notRelayed: UInt8 = 13
    }

    /// The most bytes of a record besides a message's content and the purpose.
    static let overhead = 64

    /// Whether the log does not count the record.
    var isControl: Bool {
        switch step {
        case .post, .relayedPost: false
        case .listen, .acknowledge, .remove, .carriedPost, .carriedUnknown, .carriedListener, .relayed: true
        }
    }

    func encoded() -> [UInt8] {
        var writer = ByteWriter(capacity: purpose.utf8.count + Self.overhead + contentCount)
        writer.write(Self.kind)
        writer.write(UInt8(0))
        writer.write(processIdentifier)
        writer.write(text: purpose)
        writer.write(time)
        switch step {
        case .post(let content):
            writer.write(content == nil ? StepKind.signal : StepKind.message)
            writer.write(raw: content ?? [])
        case .relayedPost(let number, let content):
            writer.write(content == nil ? StepKind.relayedSignal : StepKind.relayedMessage)
            writer.write(number)
            writer.write(raw: content ?? [])
        case .relayed(let number):
            writer.write(number == nil ? StepKind.notRelayed : StepKind.relayed)
            if let number { writer.write(number) }
        case .listen(let name, let fromOldest):
            writer.write(StepKind.listen)
            writer.write(text: name)
            writer.write(UInt8(fromOldest ? 1 : 0))
        case .acknowledge(let name, let number):
            writer.write(StepKind.acknowledge)
            writer.write(text: name)
            writer.write(number)
        case .remove(let name):
            writer.write(StepKind.remove)
            writer.write(text: name)
        case .carriedPost(let number, let content):
            writer.write(content == nil ? StepKind.carriedSignal : StepKind.carriedMessage)
            writer.write(number)
            writer.write(raw: content ?? [])
        case .carriedUnknown(let number, let body):
            writer.write(StepKind.carriedUnknown)
            writer.write(number)
            writer.write(raw: body)
        case .carriedListener(let name, let acknowledged, let since):
            writer.write(StepKind.carriedListener)
            writer.write(text: name)
            writer.write(acknowledged)
            writer.write(since)
        }
        return writer.bytes
    }

    private var contentCount: Int {
        switch step {
        case .post(let content), .carriedPost(_, let content), .relayedPost(_, let content): content?.count ?? 0
        case .carriedUnknown(_, let body): body.count
        case .listen, .acknowledge, .remove, .carriedListener, .relayed: 0
        }
    }

    init(processIdentifier: Int32, time: Int64, purpose: String, step: Step) {
        self.processIdentifier = processIdentifier
        self.time = time
        self.purpose = purpose
        self.step = step
    }

    /// Decodes a record. Throws where the bytes are no record, or one that only a newer version understands; the caller
    /// keeps the bytes in both cases.
    init(decoding bytes: [UInt8]) throws(ByteReader.TooShort) {
        var reader = ByteReader(bytes)
        guard try reader.number(UInt8.self) == Self.kind else { throw ByteReader.TooShort() }
        _ = try reader.number(UInt8.self)
        processIdentifier = try reader.number()
        purpose = try reader.countedText()
        time = try reader.number()
        step = try Step(from: &reader)
        if reader.remaining > 0 { throw ByteReader.TooShort() }
    }
}

extension ChannelRecord.Step {
    fileprivate init(from reader: inout ByteReader) throws(ByteReader.TooShort) {
        switch try reader.number(UInt8.self) {
        case ChannelRecord.StepKind.signal: self = .post(nil)
        case ChannelRecord.StepKind.message: self = .post(try reader.raw(reader.remaining))
        case ChannelRecord.StepKind.relayedSignal: self = .relayedPost(number: try reader.number(), nil)
        case ChannelRecord.StepKind.relayedMessage:
            let number: UInt64 = try reader.number()
            self = .relayedPost(number: number, try reader.raw(reader.remaining))
        case ChannelRecord.StepKind.relayed: self = .relayed(after: try reader.number() as UInt64)
        case ChannelRecord.StepKind.notRelayed: self = .relayed(after: nil)
        case ChannelRecord.StepKind.listen:
            let name = try reader.countedText()
            let origin: UInt8 = try reader.number()
            if origin > 1 { throw ByteReader.TooShort() }
            self = .listen(name, fromOldest: origin == 1)
        case ChannelRecord.StepKind.acknowledge:
            let name = try reader.countedText()
            self = .acknowledge(name, upTo: try reader.number())
        case ChannelRecord.StepKind.remove: self = .remove(try reader.countedText())
        case ChannelRecord.StepKind.carriedSignal: self = .carriedPost(number: try reader.number(), nil)
        case ChannelRecord.StepKind.carriedMessage:
            let number: UInt64 = try reader.number()
            self = .carriedPost(number: number, try reader.raw(reader.remaining))
        case ChannelRecord.StepKind.carriedUnknown:
            let number: UInt64 = try reader.number()
            self = .carriedUnknown(number: number, try reader.raw(reader.remaining))
        case ChannelRecord.StepKind.carriedListener:
            let name = try reader.countedText()
            let acknowledged: UInt64 = try reader.number()
            self = .carriedListener(name, acknowledged: acknowledged, since: try reader.number())
        default: throw ByteReader.TooShort()
        }
    }
}
