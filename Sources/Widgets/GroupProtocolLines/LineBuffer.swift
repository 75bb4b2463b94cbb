/// Splits bytes that come in pieces into lines.
package struct LineBuffer: Sendable {
    private var bytes: ArraySlice<UInt8> = []
    /// The number of bytes that were searched without finding a newline.
    private var searched = 0
    private let largest: Int
    private let mark: UInt8

    /// Creates a buffer. A longer line than `largest` bytes is at fault. `mark` ends a line, in place of a newline.
    package init(largest: Int = ProtocolLine.largest, endedBy mark: UInt8 = 0x0A) {
        self.largest = largest
        self.mark = mark
    }

    package mutating func append(_ piece: some Sequence<UInt8>) { bytes += piece }

    /// Whether more bytes than a line may have came without a newline.
    package var isTooLong: Bool { searched > largest }

    /// The bytes after the last newline.
    package var rest: [UInt8] { Array(bytes) }

    /// Takes the bytes after the last newline, as if a newline followed.
    package mutating func takeRest() -> [UInt8] {
        let rest = rest
        bytes = []
        searched = 0
        return rest
    }

    /// Returns the next line, without its newline; nil if there is none yet. The time is linear in all bytes together.
    package mutating func next() -> [UInt8]? {
        guard let end = bytes.dropFirst(searched).firstIndex(of: mark) else {
            searched = bytes.count
            return nil
        }
        let line = Array(bytes[..<end])
        bytes = end + 1 == bytes.endIndex ? [] : bytes[(end + 1)...]
        searched = 0
        return line
    }
}
