import Extensions
import GroupContainer
import GroupPasteboard

/// Sets content whose parts all have one byte.
func setPasteboard(_ words: [String], times: Int) throws {
    guard let byte = UInt8(words[3]), let size = Int(words[4]) else { throw NoNumber() }
    let pasteboard = try GroupPasteboard(in: Container(path: words[2]))
    for _ in 0..<times { printLine("\(try pasteboard.blocking.set(items(byte, size)))") }
}

struct NoNumber: Error {}

private func items(_ byte: UInt8, _ size: Int) -> [PasteboardItem] {
    let small = Attachment(.bytes([UInt8](repeating: byte, count: 10)), type: .bytes)
    return [
        PasteboardItem([.text(String(byte)), small]),
        PasteboardItem([Attachment(.bytes([UInt8](repeating: byte, count: size)), type: .plainText, name: "large")]),
    ]
}

func followPasteboard(in container: Container) async throws {
    for try await count in try GroupPasteboard(in: container).changeCounts() { printLine("\(count)") }
}
