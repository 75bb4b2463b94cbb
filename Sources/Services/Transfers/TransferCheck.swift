import FoundationEssentials
import GroupContainer

/// Checks of a record, which any member of the container can have written: its identifier names files, its address and
/// its fields become a request, its numbers are computed with.
extension Transfer {
    /// Whether every part of the record is one that this package writes. Other records count as absent.
    var isSound: Bool {
        Self.isIdentifier(id) && TransferAddress.scheme(of: url) != nil && isNamed
            && sha256.map { $0.utf8.count == 64 && $0.utf8.allSatisfy(Transfers.isHexadecimal) } ?? true
            && fields.count <= Field.most && fields.allSatisfy { $0.fault == nil }
            && [queuedAt, deadline].allSatisfy { Self.times.contains($0.timeIntervalSince1970) }
            && tag.map { TransferResponse(status: 200, fields: ["etag": $0]).strongTag == $0 } ?? true
            && [failures, restarts].allSatisfy { (0...Self.mostAttempts).contains($0) } && nextAttempt >= 0
            && [received, mostReceived ?? 0, durable, bytesPerSecond, messageAfter ?? 0]
                .allSatisfy { $0 <= UInt64(Int64.max) }
    }

    /// Whether a download has a path that an item can have; the path of an upload's source is for people only.
    private var isNamed: Bool {
        path.utf8.count <= Self.longestText
            && (direction == .upload || (try? ItemPath(path).checkedText(for: "download")) == path)
    }

    /// The seconds since 1970 that are a time of a transfer: up to the year 2200, so that nanoseconds do not overflow.
    static let times = 0.0...7_258_118_400.0
    private static let longestText = 8_192
    private static let mostAttempts = 1_000_000

    /// Whether a text is an identifier as `Transfers` makes them: 16 hexadecimal digits.
    private static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count == 16 && text.utf8.allSatisfy(Transfers.isHexadecimal)
    }
}
