/// Bytes that come in pieces, as lines.
package struct LineBuffer: Sendable {
    private var bytes: ArraySlice<UInt8> = []
    /// Up to here there is no newline.
    private var searched = 0
    private let largest: Int

    /// A line that is longer is at fault.
    package init(largest: Int = ProtocolLine.largest) { self.largest = largest }

    package mutating func append(_ piece: some Sequence<UInt8>) { bytes += piece }

    /// More than a line may have has come without a newline.
    package var isTooLong: Bool { searched > largest }

    /// The next line, without its newline. Linear in all bytes together.
    package mutating func next() -> [UInt8]? {
        guard let end = bytes.dropFirst(searched).firstIndex(of: 0x0A) else {
            searched = bytes.count
            return nil
        }
        let line = Array(bytes[..<end])
        bytes = end + 1 == bytes.endIndex ? [] : bytes[(end + 1)...]
        searched = 0
        return line
    }
}
