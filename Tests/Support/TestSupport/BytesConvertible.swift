/// A word or an input of a command: text, or bytes that need not be UTF-8.
package protocol BytesConvertible {
    var commandBytes: [UInt8] { get }
}

extension String: BytesConvertible {
    package var commandBytes: [UInt8] { Array(utf8) }
}

extension [UInt8]: BytesConvertible {
    package var commandBytes: [UInt8] { self }
}
