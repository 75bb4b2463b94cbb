/// What the writers of a storm write: each file shows whether it is whole.
enum StormContent {
    static func bytes(_ name: String, _ number: Int) -> [UInt8] {
        Array("\(name) \(number)\n".utf8) + filling(number) + Array("\n\(name) \(number)\n".utf8)
    }

    private static func filling(_ number: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(97 + number % 26), count: number % 7 * 1_000 + number % 31)
    }

    /// Returns the writer and its number; nil if the content is not whole.
    static func author(of content: [UInt8]) -> (name: String, number: Int)? {
        let words = String(decoding: content.prefix { $0 != 10 }, as: UTF8.self).split(separator: " ")
        guard words.count == 2, let number = Int(words[1]), content == bytes(String(words[0]), number) else {
            return nil
        }
        return (String(words[0]), number)
    }
}
