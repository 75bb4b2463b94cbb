/// The path of an item, relative to the container's root. Bytes, as in the kernel: no Unicode folding. It may be
/// anything; the calls that take it answer one that does not name an item with a typed error, before any I/O.
public struct ItemPath: Hashable, Sendable, ExpressibleByStringLiteral, ExpressibleByStringInterpolation,
    CustomStringConvertible
{
    /// The bytes that the kernel knows it by.
    public let bytes: [UInt8]

    /// From text, as UTF-8.
    public init(_ text: some StringProtocol) { bytes = Array(text.utf8) }

    /// From any bytes.
    public init(bytes: [UInt8]) { self.bytes = bytes }

    /// From a literal.
    public init(stringLiteral text: String) { self.init(text) }

    /// As text; bytes that are not UTF-8, and control characters, as octal.
    public var description: String { printable(bytes) }

    func location(for operation: String) throws(CoordinationError) -> ItemLocation {
        do {
            return try ItemLocation(bytes)
        } catch {
            throw CoordinationError(error, path: bytes, operation: operation)
        }
    }
}
