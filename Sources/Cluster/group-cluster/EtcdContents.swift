import Dispatch
import GroupBytes
import GroupCluster
import GroupDigest
import GroupEtcd
import GroupSystemCalls

/// The transfer of contents to etcd and from it.
extension EtcdLink {
    /// The time after which an upload pauses for other jobs of its thread, in seconds.
    private static let partOfUpload = 0.5

    /// Removes the marks of all uploads but that of `operation`. Their entries are not to be committed any more, so
    /// their contents may be removed.
    func removeMarks(except operation: ClusterName?, _ client: EtcdClient) {
        for old in marked.withLock({ $0 }) where old != operation {
            let failure = Self.failure { () throws(EtcdFailure) in
                _ = try client.transaction(then: [.delete(keys.upload(old))])
            }
            if failure == nil { marked.withLock { _ = $0.remove(old) } }
        }
    }

    /// Uploads the contents of an entry. Returns nil if the time of one part is over: the next call resumes the upload.
    /// Small contents are not uploaded, but returned, to be put in the transaction of the entry. Errors: those of
    /// `EtcdClient`; `unreachable` without a session; `malformed` for a content that is gone or cannot be read
    func upload(_ digests: [[UInt8]], by operation: ClusterName, _ client: EtcdClient) throws(EtcdFailure)
        -> (puts: [EtcdOperation], isUploaded: Bool)?
    {
        if digests.isEmpty { return ([], false) }
        var puts: [EtcdOperation] = []
        var size = 0
        for digest in digests {
            guard let length = contents.size(of: digest) else { throw .malformed("a content is not here any more") }
            size += Int(clamping: length)
        }
        let isSmall = size <= ClusterKeys.smallContents && digests.count <= ClusterKeys.mostSmallContents
        // The pieces that an earlier attempt has uploaded. While the mark is there, no machine removes them.
        var present: Set<[UInt8]> = []
        let lease = session.withLock { $0 }
        if !isSmall {
            if lease == 0 { throw .unreachable("there is no session yet") }
            if let begun = uploading.withLock({ $0 }), begun.operation == operation {
                present = begun.present
            } else {
                let mark = Array(machine.text.utf8)
                marked.withLock { _ = $0.insert(operation) }
                _ = try client.transaction(then: [.put(keys.upload(operation), mark, lease: lease)])
                var range = EtcdRange.prefix(keys.contents(of: operation))
                (range.keysOnly, range.limit) = (true, 256)
                try client.forEach(in: range) { present.insert($0.key) }
            }
        }
        // The progress is kept only from one part to the next. After a failure, the next attempt lists the pieces in
        // etcd again.
        uploading.withLock { $0 = nil }
        let end = DispatchTime.now() + Self.partOfUpload
        var hasSent = false
        for digest in digests {
            var index = 0
            var failure: EtcdFailure?
            var isPart = false
            let length = contents.size(of: digest) ?? 0
            do throws(Errno) {
                let file = try contents.open(digest)
                while true {
                    let key = keys.piece(index, of: digest, by: operation)
                    if present.contains(key) {
                        index += 1
                        if UInt64(index * ClusterKeys.pieceSize) >= length { break }
                        continue
                    }
                    // Each part sends at least one piece, so that every upload ends.
                    if hasSent && end <= .now() {
                        isPart = true
                        break
                    }
                    let piece = try file.read(at: index * ClusterKeys.pieceSize, count: ClusterKeys.pieceSize)
                    if piece.isEmpty && index > 0 { break }
                    let put = EtcdOperation.put(key, piece)
                    if isSmall {
                        puts.append(put)
                    } else {
                        hasSent = true
                        failure = Self.failure { () throws(EtcdFailure) in
                            let result = try client.transaction(if: [.present(keys.upload(operation))], then: [put])
                            if !result.succeeded { throw .noAnswer(Self.sessionEnded) }
                        }
                        if failure == nil { present.insert(key) }
                    }
                    if failure != nil || piece.count < ClusterKeys.pieceSize { break }
                    index += 1
                }
            } catch {
                throw .malformed("a content cannot be read: \(error)")
            }
            if let failure { throw failure }
            if isPart {
                uploading.withLock { $0 = (operation, present) }
                return nil
            }
        }
        return (puts, !isSmall)
    }

    private static let sessionEnded = "the session ended during an upload"

    func loadContents() {
        let client = EtcdClient(configuration)
        while let job = contentJobs.next() {
            guard case .load(let digest, let operation) = job else { return }
            let result: LinkEvent.ContentResult
            do throws(EtcdFailure) {
                result = try load(digest, by: operation, client)
            } catch {
                result = .failed(error)
            }
            post(.content(digest: digest, by: operation, result))
        }
    }

    private func load(
        _ digest: [UInt8], by operation: ClusterName, _ client: EtcdClient
    ) throws(EtcdFailure) -> LinkEvent.ContentResult {
        if contents.size(of: digest) != nil { return .here }
        var range = EtcdRange.prefix(keys.pieces(of: digest, by: operation))
        if let free = contents.freeSpace, free < LocalDisk.largestFile {
            // The pieces are counted first, so that a content for which there is no room is not loaded in vain.
            range.countOnly = true
            let pieces = try client.range(range).count
            range.countOnly = false
            if pieces > free / UInt64(ClusterKeys.pieceSize) + 1 { return .noRoom(.noSpace) }
        }
        range.limit = 4
        var failure: EtcdFailure?
        var (count, size) = (0, 0)
        let isRight: Bool
        do throws(Errno) {
            // The file is not synced: the item that is made of it is, and after a power cut the content is loaded
            // again.
            let found = try contents.write(wanted: digest, isDurable: false) { append throws(Errno) in
                var notStored: Errno?
                failure = Self.failure { () throws(EtcdFailure) in
                    try client.forEach(in: range) { keyValue throws(EtcdFailure) in
                        size += keyValue.value.count
                        if size > LocalDisk.largestFile { throw .malformed("a content is larger than 64 MiB") }
                        do throws(Errno) { try append(keyValue.value) } catch {
                            notStored = error
                            throw .malformed("a content cannot be stored: \(error)")
                        }
                        count += 1
                    }
                }
                if let notStored { throw notStored }
            }
            isRight = found != nil
        } catch {
            if FullDisk.isFull(error) { return .noRoom(error) }
            throw .malformed("a content cannot be stored: \(error)")
        }
        if let failure { throw failure }
        if count == 0 { return .missing }
        if !isRight { throw .malformed("a content has another SHA-256 than its name") }
        return .here
    }
}
