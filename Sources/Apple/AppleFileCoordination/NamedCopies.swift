import Foundation
import GroupContainer
import GroupSystemCalls

/// The private copies of a request for uploading, each under the name of its item: a program that sends a file on sends
/// its name and extension, too.
///
/// GroupContainer makes a copy as `.group/staging/<operation>`. At the end of the access it removes what has that name,
/// and the repair of a dead member removes what begins with that member's nonce: the name of each operation does. So
/// the copy is put into a directory that takes its name: `<operation>.named` is created, `<operation>` is renamed to
/// `<operation>.named/<name>`, and `<operation>.named` to `<operation>`. The files of a process that is killed in
/// between begin with the nonce, too.
struct NamedCopies: Sendable {
    private var urls: [AccessIntent: URL] = [:]

    /// Creates a value without copies.
    init() {}

    /// Names the copies of a request, for which this is called once. Errors: those of the file system.
    init(_ intents: [AccessIntent], in access: Access) throws {
        // All are found before the first one is renamed: the copy of an item can be a part of that of its directory.
        var copies: [AccessIntent: [UInt8]] = [:]
        for intent in intents {
            do {
                if let copy = try access.copy(for: intent) { copies[intent] = copy.bytes }
            } catch let error as CoordinationError where error.code == .notFound {
                // An item that does not exist has no copy.
            }
        }
        var named: [[UInt8]: [UInt8]] = [:]
        for (intent, copy) in copies where named[copy] == nil && !copies.values.contains(where: copy.isInside) {
            let item = access.presentPath(of: intent.path)
            let name = Array(item.bytes[((item.bytes.lastIndex(of: Self.slash) ?? -1) + 1)...])
            do throws(Errno) {
                try Self.give(name, toCopyAt: copy)
            } catch {
                throw CoordinationError(error, operation: "read", item: item.description)
            }
            named[copy] = copy + [Self.slash] + name
        }
        for (intent, copy) in copies {
            guard let whole = named.first(where: { copy == $0.key || copy.isInside($0.key) }) else { continue }
            let path = whole.value + copy[whole.key.count...]
            urls[intent] = URL(fileURLWithPath: String(decoding: path, as: UTF8.self))
        }
    }

    /// Returns the URL of a copy; nil for an intent that wants none, and for an item that does not exist.
    func url(for intent: AccessIntent) -> URL? { urls[intent] }

    private static let slash = UInt8(ascii: "/")

    private static func give(_ name: [UInt8], toCopyAt copy: [UInt8]) throws(Errno) {
        guard let end = copy.lastIndex(of: slash) else { throw .invalid }
        let operation = Array(copy[(end + 1)...])
        let staging = try FileDescriptor.open(path: Array(copy[..<end]), [.pathOnly, .directory])
        let directory = operation + Array(".named".utf8)
        try staging.createDirectory(directory, mode: 0o700)
        do throws(Errno) {
            // Whichever member repairs this one has to be able to empty it.
            try staging.setMode(of: directory, try staging.status().permissions)
            try move(operation, to: directory + [slash] + name, in: staging)
            try staging.rename(directory, to: operation, in: staging, replacing: false)
        } catch {
            try? staging.removeTree(directory)
            throw error
        }
    }

    /// Renames a copy. Another parent for a directory takes write permission on the directory itself, which the copy of
    /// a directory without it gets for that moment.
    private static func move(
        _ copy: [UInt8], to path: [UInt8], in staging: borrowing FileDescriptor
    ) throws(Errno) {
        do throws(Errno) {
            return try staging.rename(copy, to: path, in: staging, replacing: false)
        } catch {
            if error != .accessDenied { throw error }
        }
        let mode = try staging.status(of: copy).permissions
        try staging.setMode(of: copy, mode | 0o200)
        try staging.rename(copy, to: path, in: staging, replacing: false)
        try staging.setMode(of: path, mode)
    }
}

extension [UInt8] {
    /// Returns whether this path leads to something in a directory.
    fileprivate func isInside(_ directory: [UInt8]) -> Bool {
        count > directory.count + 1 && self[directory.count] == UInt8(ascii: "/") && starts(with: directory)
    }
}
