#if Curl
import CGroupCurl
#endif
package import GroupSystemCalls

#if Curl
/// The SHA-256 of bytes that come piece by piece, computed by OpenSSL. Library calls: EVP_Digest*
@safe package struct SHA256: ~Copyable {
    private let context: OpaquePointer
    private var isRight: Bool

    /// Begins without a byte; nil where the library cannot compute it.
    package init?() {
        guard let context = unsafe EVP_MD_CTX_new() else { return nil }
        unsafe self.context = context
        isRight = unsafe EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    package mutating func add(_ bytes: [UInt8]) {
        if bytes.isEmpty { return }
        isRight = unsafe EVP_DigestUpdate(context, bytes, bytes.count) == 1 && isRight
    }

    /// Returns the 32 bytes of the digest; nil where the library has failed.
    package mutating func finish() -> [UInt8]? {
        var digest = [UInt8](repeating: 0, count: 32)
        var count: UInt32 = 0
        guard isRight, unsafe EVP_DigestFinal_ex(context, &digest, &count) == 1, count == 32 else { return nil }
        return digest
    }
}
#else
/// The SHA-256 of bytes, which cannot be computed: this package was built without the trait `Curl`.
package struct SHA256: ~Copyable {
    package init?() { return nil }
    package mutating func add(_ bytes: [UInt8]) {}
    package mutating func finish() -> [UInt8]? { nil }
}
#endif

extension SHA256 {
    /// Returns the digest of some bytes.
    package static func digest(of bytes: [UInt8]) -> [UInt8]? {
        var digest = SHA256()
        digest?.add(bytes)
        return digest?.finish()
    }

    /// Returns the digest of a file. Each piece of at most 1 MiB is handed to `body`, too.
    package static func digest(
        of file: borrowing FileDescriptor, _ body: ([UInt8]) throws(Errno) -> Void = { _ in }
    ) throws(Errno) -> [UInt8]? {
        var digest = SHA256()
        var offset = 0
        while true {
            // A buffer is zeroed before it is read into: most files need a small one.
            let count = offset == 0 ? 1 << 14 : 1 << 20
            let piece = try file.read(at: offset, count: count)
            if !piece.isEmpty {
                digest?.add(piece)
                try body(piece)
            }
            if piece.count < count { return digest?.finish() }
            offset += piece.count
        }
    }
}
