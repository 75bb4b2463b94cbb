// Imports GroupBytes only: no file, clock or process.

import GroupBytes

/// The reason why bytes from the cluster cannot be read.
package enum ClusterDamage: Error, Equatable {
    /// A newer program wrote these bytes. This program cannot fold them, nor any entry after them.
    case newerVersion(UInt8)
    case malformed(String)

    /// The reason in words.
    package var reason: String {
        switch self {
        case .newerVersion(let version): "version \(version), which only a newer program can read"
        case .malformed(let what): what
        }
    }
}

extension ClusterEntry {
    /// The version of an entry that an older program can read.
    package static let version: UInt8 = 1
    /// The version of an entry with checks.
    package static let versionWithChecks: UInt8 = 2
    /// The version of an entry with the name of a `.groupignore`, which older programs take for a damaged one.
    package static let versionWithIgnoreFile: UInt8 = 3
    package static let mostBytes = 1 << 20
    package static let mostChanges = 1024
    package static let mostAncestors = 256
    package static let longestAuthor = 255

    /// Whether machines can read the entry: its size, its names and its paths are within the limits.
    package var isReadable: Bool { (try? ClusterEntry(bytes: bytes)) == self }

    /// The entry as bytes, its version first.
    package var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.write(neededVersion)
        writer.write(operation)
        writer.write(UInt8(isStrict ? 1 : 0))
        writer.write(counted: author)
        writer.write(UInt16(truncatingIfNeeded: changes.count))
        for change in changes { writer.write(change) }
        return writer.bytes
    }

    /// The lowest version that has all forms of this entry.
    private var neededVersion: UInt8 {
        changes.reduce(Self.version) { version, change in
            guard case .item(let change) = change else { return version }
            if ([change.name] + change.ancestors.map(\.name)).contains(where: { $0.starts(with: FileNames.ignoreFile) })
            {
                return Self.versionWithIgnoreFile
            }
            if case .check = change.action { return max(version, Self.versionWithChecks) }
            return version
        }
    }

    /// Reads an entry from bytes that may be damaged or forged.
    package init(bytes: [UInt8]) throws(ClusterDamage) {
        if bytes.count > Self.mostBytes { throw .malformed("entry too long") }
        var reader = ByteReader(bytes)
        self = try reader.cluster("entry") { reader throws(ClusterDamage) in
            let version: UInt8 = try reader.wholeNumber()
            if !(Self.version...Self.versionWithIgnoreFile).contains(version) { throw .newerVersion(version) }
            let operation = try reader.clusterName()
            if operation == .zero { throw .malformed("no operation") }
            let isStrict = try reader.flag()
            let author = try reader.countedBytes()
            if author.count > Self.longestAuthor { throw .malformed("author") }
            let count: UInt16 = try reader.wholeNumber()
            if count > Self.mostChanges { throw .malformed("too many changes") }
            var changes: [ClusterChange] = []
            for _ in 0..<count { changes.append(try reader.change()) }
            let entry = ClusterEntry(operation, isStrict: isStrict, changes, author: author)
            // A program that knows only that version counts the entry as damaged. All programs must come to the same
            // result.
            if entry.neededVersion > version { throw .malformed("a form that this version of an entry does not have") }
            return entry
        }
    }
}

extension ByteWriter {
    mutating func write(_ name: ClusterName) {
        write(name.high)
        write(name.low)
    }

    mutating func write(_ item: ItemName) {
        write(item.operation)
        write(item.part)
    }

    mutating func write(_ content: ItemContent) {
        write(content.kind.rawValue)
        write(content.mode)
        write(counted: content.digest)
    }

    /// Writes the length in four bytes, then the bytes.
    mutating func write(long bytes: [UInt8]) {
        write(UInt32(truncatingIfNeeded: bytes.count))
        write(raw: bytes)
    }

    fileprivate mutating func write(_ change: ClusterChange) {
        switch change {
        case .item(let change):
            write(UInt8(0))
            write(change.item)
            write(UInt16(truncatingIfNeeded: change.ancestors.count))
            for ancestor in change.ancestors {
                write(ancestor.item)
                write(counted: ancestor.name)
            }
            write(counted: change.name)
            switch change.action {
            case .create(let content):
                write(UInt8(0))
                write(content)
            case .write(let content, let base):
                write(UInt8(1))
                write(content)
                write(base)
            case .move(let base):
                write(UInt8(2))
                write(base)
            case .remove(let base):
                write(UInt8(3))
                write(base)
            case .check(let base):
                write(UInt8(4))
                write(base)
            }
        case .value(let change):
            write(UInt8(1))
            write(counted: change.key)
            write(UInt8(change.base == nil ? 0 : 1))
            if let base = change.base { write(base) }
            switch change.action {
            case .set(let value):
                write(UInt8(0))
                write(long: value)
            case .setNumber(let number):
                write(UInt8(1))
                write(number)
            case .add(let number):
                write(UInt8(2))
                write(number)
            case .remove:
                write(UInt8(3))
            }
        case .message(let channel, let body):
            write(UInt8(2))
            write(counted: channel)
            write(long: body)
        }
    }
}

extension ByteReader {
    /// Runs `read`, and throws if `read` leaves a byte.
    mutating func cluster<Result>(_ what: String, _ read: (inout ByteReader) throws(ClusterDamage) -> Result)
        throws(ClusterDamage) -> Result
    {
        let result = try read(&self)
        if remaining > 0 { throw .malformed("bytes behind the \(what)") }
        return result
    }

    mutating func wholeNumber<Number: FixedWidthInteger & BitwiseCopyable>() throws(ClusterDamage) -> Number {
        do { return try number(Number.self) } catch { throw .malformed("too short") }
    }

    /// Reads a number that machines only count up. No real count comes near the limit of its type, so there is always
    /// room to add to it.
    mutating func count() throws(ClusterDamage) -> UInt64 {
        let count: UInt64 = try wholeNumber()
        if count > 1 << 62 { throw .malformed("a count that is too large") }
        return count
    }

    mutating func bytes(_ count: Int) throws(ClusterDamage) -> [UInt8] {
        do { return try raw(count) } catch { throw .malformed("too short") }
    }

    mutating func countedBytes() throws(ClusterDamage) -> [UInt8] {
        let count: UInt16 = try wholeNumber()
        return try bytes(Int(count))
    }

    mutating func longBytes() throws(ClusterDamage) -> [UInt8] {
        let count: UInt32 = try wholeNumber()
        return try bytes(Int(count))
    }

    mutating func flag() throws(ClusterDamage) -> Bool {
        let value: UInt8 = try wholeNumber()
        if value > 1 { throw .malformed("flag \(value)") }
        return value == 1
    }

    mutating func clusterName() throws(ClusterDamage) -> ClusterName {
        ClusterName(high: try wholeNumber(), low: try wholeNumber())
    }

    mutating func itemName() throws(ClusterDamage) -> ItemName { ItemName(try clusterName(), try wholeNumber()) }

    mutating func fileName() throws(ClusterDamage) -> FileName {
        let name = try countedBytes()
        if !FileNames.isValid(name) { throw .malformed("file name \(printable(name))") }
        return name
    }

    /// Reads the name of an item of this machine's disk, which may be a placeholder.
    mutating func localName() throws(ClusterDamage) -> FileName {
        let name = try countedBytes()
        if !FileNames.isValid(name), !FileNames.isPlaceholder(name) {
            throw .malformed("file name \(printable(name))")
        }
        return name
    }

    mutating func content() throws(ClusterDamage) -> ItemContent {
        guard let kind = ItemContent.Kind(rawValue: try wholeNumber()) else { throw .malformed("kind of item") }
        let mode: UInt16 = try wholeNumber()
        if mode > 0o777 { throw .malformed("mode") }
        let digest = try countedBytes()
        let isTarget = kind == .link && (1..<4096).contains(digest.count) && !digest.contains(0)
        if !isTarget && (kind == .link || digest.count > 64 || (kind == .directory && !digest.isEmpty)) {
            throw .malformed("content")
        }
        return ItemContent(kind, mode: mode, digest)
    }

    fileprivate mutating func change() throws(ClusterDamage) -> ClusterChange {
        let form: UInt8 = try wholeNumber()
        switch form {
        case 0: return .item(try itemChange())
        case 1: return .value(try valueChange())
        case 2: return .message(channel: try countedBytes(), body: try longBytes())
        default: throw .malformed("change \(form)")
        }
    }

    private mutating func itemChange() throws(ClusterDamage) -> ItemChange {
        let item = try itemName()
        if item.operation == .zero { throw .malformed("item") }
        let count: UInt16 = try wholeNumber()
        if count > ClusterEntry.mostAncestors { throw .malformed("too deep") }
        var ancestors: [Ancestor] = []
        // An item within itself, or the root within an item, would make a circle of the tree.
        var above: Set<ItemName> = [item]
        for _ in 0..<count {
            let ancestor = Ancestor(try itemName(), try fileName())
            if ancestor.item.operation == .zero || !above.insert(ancestor.item).inserted {
                throw .malformed("ancestor")
            }
            ancestors.append(ancestor)
        }
        let name = try fileName()
        let form: UInt8 = try wholeNumber()
        let action: ItemChange.Action
        switch form {
        case 0:
            // The fold gives these names to the conflict copies that it makes.
            if item.part >= ItemName.firstCopy { throw .malformed("item") }
            action = .create(try content())
        case 1: action = .write(try content(), base: try clusterName())
        case 2: action = .move(base: try clusterName())
        case 3: action = .remove(base: try clusterName())
        case 4: action = .check(base: try clusterName())
        default: throw .malformed("action \(form)")
        }
        return ItemChange(item, in: ancestors, name, action)
    }

    private mutating func valueChange() throws(ClusterDamage) -> ValueChange {
        let key = try countedBytes()
        let base: ClusterName? = try flag() ? try clusterName() : nil
        let form: UInt8 = try wholeNumber()
        let action: ValueChange.Action
        switch form {
        case 0: action = .set(try longBytes())
        case 1: action = .setNumber(try wholeNumber())
        case 2: action = .add(try wholeNumber())
        case 3: action = .remove
        default: throw .malformed("action \(form)")
        }
        return ValueChange(key, action, base: base)
    }
}
