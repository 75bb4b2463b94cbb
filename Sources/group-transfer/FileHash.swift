import CGroupCurl
import GroupBytes
import GroupSystemCalls

/// Returns the SHA-256 of a file in hexadecimal digits; nil where the library cannot compute it. Library calls: EVP_Digest*
func sha256(of file: borrowing FileDescriptor) throws(Errno) -> String? {
    guard let context = unsafe EVP_MD_CTX_new() else { return nil }
    defer { unsafe EVP_MD_CTX_free(context) }
    guard unsafe EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else { return nil }
    var place = 0
    while true {
        let piece = try file.read(at: place, count: 1 << 20)
        if piece.isEmpty { break }
        guard unsafe EVP_DigestUpdate(context, piece, piece.count) == 1 else { return nil }
        place += piece.count
    }
    var digest = [UInt8](repeating: 0, count: 32)
    var count: UInt32 = 0
    guard unsafe EVP_DigestFinal_ex(context, &digest, &count) == 1, count == 32 else { return nil }
    let digits = Array("0123456789abcdef".utf8)
    return String(
        decoding: digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
}
