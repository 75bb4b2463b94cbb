// Imports nothing: what a response means for a download is decided without a network or a file.

/// The head of a response, and what it means for a download.
package struct TransferResponse: Hashable, Sendable {
    package var status: Int
    /// The fields, with names in lower case.
    package var fields: [String: String]

    package init(status: Int, fields: [String: String] = [:]) { (self.status, self.fields) = (status, fields) }

    /// Takes a line of a head. A response with status 100 or 103 comes before the one that counts.
    package static func take(_ line: String, _ response: inout TransferResponse?) {
        if line.hasPrefix("HTTP/") {
            let status = line.split(separator: " ").dropFirst().first.flatMap { Int($0) }
            response = TransferResponse(status: status ?? 0)
        } else if let colon = line.firstIndex(of: ":") {
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            let end = value.lastIndex { !$0.isWhitespace }
            response?.fields[line[..<colon].lowercased()] = end.map { String(value[...$0]) } ?? ""
        }
    }

    /// The validator, if it is a strong one that a request can repeat: at most 1,024 bytes of printable ASCII.
    package var strongTag: String? {
        fields["etag"].flatMap { tag in
            tag.hasPrefix("\"") && tag.hasSuffix("\"") && (2...1_024).contains(tag.utf8.count)
                && tag.utf8.allSatisfy { 0x20...0x7E ~= $0 } ? tag : nil
        }
    }

    package var length: UInt64? { fields["content-length"].flatMap { UInt64($0) } }

    /// The range and the total of Content-Range (RFC 9110, 14.4), such as `bytes 100-199/200` and `bytes */200`.
    package var contentRange: (bytes: ClosedRange<UInt64>?, total: UInt64?)? {
        guard let words = fields["content-range"]?.split(separator: " "), words.count == 2, words[0] == "bytes" else {
            return nil
        }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let total = UInt64(parts[1])
        if parts[0] == "*" { return (nil, total) }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let start = UInt64(ends[0]), let end = UInt64(ends[1]), start <= end,
            total.map({ end < $0 }) ?? true
        else { return nil }
        return (start...end, total)
    }

    /// What is to be done with a response.
    package enum Decision: Hashable, Sendable {
        /// Appends the body to the bytes that are there.
        case append(total: UInt64?)
        /// Begins from zero with the body.
        case begin(total: UInt64?)
        /// All bytes are there already.
        case complete
        /// Requests the file again, from zero.
        case startOver(String)
        /// Requests the address of the field Location.
        case redirect
        /// Tries again later: after the seconds that the server wants, at least.
        case retry(String, after: Int?)
        /// Gives up.
        case fail(String)
    }

    /// Decides for a download that has `offset` bytes of a file with `total` bytes, as far as it is known, and with the
    /// strong validator `tag`, and was given `expected` as the length and possibly a hash.
    ///
    /// A part is appended only if all that it states agrees with the bytes that are there: the validator, which a
    /// server has to repeat in a 206 (RFC 9110, 15.3.7), the range, and the length.
    package func decision(
        offset: UInt64, tag: String?, total: UInt64?, expected: UInt64?, hasHash: Bool
    ) -> Decision {
        if status == 200 || status == 206, let encoding = fields["content-encoding"],
            encoding.lowercased() != "identity"
        {
            return .fail("the server has sent the file in the encoding '\(encoding.prefix(40))'")
        }
        if status == 200 || status == 206, let text = fields["content-length"], length == nil {
            return .fail("the server states the length '\(text.prefix(40))', which is no number of bytes")
        }
        switch status {
        case 200:
            // Some servers send the rest that was requested with the status of a whole file.
            let isWhole = contentRange?.bytes.map { $0.lowerBound == 0 && contentRange?.total == $0.upperBound + 1 }
            if isWhole == false || tag != nil && strongTag == tag && total != nil && length.map({ $0 != total }) == true
            {
                let reason = "the server has sent a part of the file as the whole"
                return offset == 0 ? .fail(reason) : .startOver(reason)
            }
            if let expected, let length, length != expected {
                return .fail("the server has a file of \(length) bytes, and \(expected) were expected")
            }
            return .begin(total: length ?? expected)
        case 206:
            if offset == 0 { return .fail("the server has sent a part of the file where the whole was requested") }
            guard let tag, strongTag == tag else {
                return .startOver("the server has sent a part of another version of the file")
            }
            guard let range = contentRange, let bytes = range.bytes, bytes.lowerBound == offset else {
                return .startOver("the server has sent another part of the file than byte \(offset) and later ones")
            }
            if let length, length != bytes.upperBound - bytes.lowerBound + 1 {
                return .startOver(
                    "the server has sent \(length) bytes as the part \(bytes.lowerBound)-\(bytes.upperBound)")
            }
            if let total, let now = range.total, now != total {
                return .startOver("the file has \(now) bytes now, and had \(total)")
            }
            if let expected, let now = range.total, now != expected {
                return .fail("the server has a file of \(now) bytes, and \(expected) were expected")
            }
            return .append(total: range.total ?? total)
        case 416:
            // Without a validator in the response, only the length and the hash say that these are the same bytes.
            if let now = contentRange?.total, now == offset, expected == now, hasHash { return .complete }
            return .startOver("the server has no byte \(offset) of the file")
        case 301, 302, 303, 307, 308: return .redirect
        case 408, 425, 429, 500, 502, 503, 504:
            return .retry(
                "the server has answered with status \(status)", after: fields["retry-after"].flatMap { Int($0) })
        default: return .fail("the server has answered with status \(status)")
        }
    }
}
