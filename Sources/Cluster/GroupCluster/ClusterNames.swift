// Imports GroupBytes only: no file, clock or process.

import GroupBytes

/// A name of 128 random bits, of a machine, an operation, or the grant of a lock. No name comes again. A revision of
/// etcd does, after etcd was restored from a backup.
package struct ClusterName: Hashable, Comparable, Sendable {
    package var high: UInt64
    package var low: UInt64

    package init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

    /// Returns a random name. Tests use a generator of their own.
    package static func random(using generator: inout some RandomNumberGenerator) -> ClusterName {
        ClusterName(high: generator.next(), low: generator.next())
    }

    /// Returns a new name.
    package static func fresh() -> ClusterName {
        var generator = SystemRandomNumberGenerator()
        return random(using: &generator)
    }

    /// The name of nothing. The root directory was created by no operation.
    package static let zero = ClusterName(high: 0, low: 0)

    /// The name as 32 hexadecimal digits.
    package var text: String {
        var bytes = ByteWriter(capacity: 16)
        bytes.write(high.byteSwapped)
        bytes.write(low.byteSwapped)
        return Hexadecimal.encode(bytes.bytes)
    }

    package static func < (left: ClusterName, right: ClusterName) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}

/// The name of an item: the operation that created it, and its number among the items of that operation.
package struct ItemName: Hashable, Comparable, Sendable {
    package var operation: ClusterName
    package var part: UInt16

    package init(_ operation: ClusterName, _ part: UInt16) { (self.operation, self.part) = (operation, part) }

    package static let root = ItemName(.zero, 0)

    /// The part of the first conflict copy. Change `i` of an operation gives its copy the part 0x8000 + `i`.
    package static let firstCopy: UInt16 = 0x8000

    package static func < (left: ItemName, right: ItemName) -> Bool {
        (left.operation, left.part) < (right.operation, right.part)
    }
}

/// The last component of a path, as bytes.
package typealias FileName = [UInt8]

/// The rules for file names.
package enum FileNames {
    package static let longest = 255
    /// What the copy of a file is named after whose path is not known any more.
    package static let recovered = Array("recovered".utf8)

    /// The name of the file with the patterns of what is not mirrored.
    package static let ignoreFile = Array(".groupignore".utf8)

    /// Returns whether a name is one of the library's own files. The file with the patterns is not, nor are the names
    /// that editors and conflicts make of its own.
    package static func isReserved(_ name: FileName) -> Bool {
        name.starts(with: ".group".utf8) && !name.starts(with: ignoreFile)
    }

    /// Returns a name that no item of a disk or of the cluster has, for an item whose path another one has taken.
    package static func placeholder(of number: UInt64) -> FileName { placeholders + Array("\(number)".utf8) }

    package static func isPlaceholder(_ name: FileName) -> Bool { name.starts(with: placeholders) }

    private static let placeholders = Array(".group item ".utf8)

    /// Returns whether a name from the cluster can be used: it is not empty, has at most 255 bytes, no slash and no
    /// NUL, is neither `.` nor `..`, and is none of the library's own names.
    package static func isValid(_ name: FileName) -> Bool {
        !name.isEmpty && name.count <= longest && !name.contains(0) && !name.contains(UInt8(ascii: "/"))
            && name != Array(".".utf8) && name != Array("..".utf8) && !isReserved(name)
    }

    /// Returns `name (conflict OPERATION).ext`, with at most 255 bytes; a longer stem is cut between characters. While
    /// `isTaken` returns true, a number is appended to the operation.
    package static func conflict(_ name: FileName, _ operation: ClusterName, isTaken: (FileName) -> Bool) -> FileName {
        let dot = name.lastIndex(of: UInt8(ascii: ".")) ?? 0
        let isExtension = dot > 0 && name.count - dot <= 32
        let stem = isExtension ? name[..<dot] : name[...]
        let ending = isExtension ? name[dot...] : []
        var count = 0
        while true {
            let mark = Array(" (conflict \(operation.text)\(count == 0 ? "" : "-\(count)"))".utf8)
            let result = cut(stem, to: longest - mark.count - ending.count) + mark + ending
            if !isTaken(result) { return result }
            count += 1
        }
    }

    /// Returns the name of the item that a conflict copy with this name is beside; nil for a name of another form.
    /// Where `conflict` has cut the stem, only the rest of it is known.
    package static func original(ofConflict name: FileName) -> FileName? {
        let mark = Array(" (conflict ".utf8)
        for start in name.indices.reversed() where start > 0 && name[start...].starts(with: mark) {
            var rest = name[(start + mark.count)...]
            if ClusterName(text: String(decoding: rest.prefix(32), as: UTF8.self)) == nil { continue }
            rest = rest.dropFirst(32)
            if rest.first == UInt8(ascii: "-") {
                rest = rest.dropFirst().drop { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
            }
            guard rest.popFirst() == UInt8(ascii: ")"), rest.isEmpty || rest.first == UInt8(ascii: ".") else {
                continue
            }
            return Array(name[..<start] + rest)
        }
        return nil
    }

    /// Returns the longest beginning of at most `count` bytes that does not end within a character of UTF-8.
    private static func cut(_ name: ArraySlice<UInt8>, to count: Int) -> FileName {
        if name.count <= count { return Array(name) }
        var end = name.startIndex + count
        while end > name.startIndex, name[end] & 0xC0 == 0x80 { end -= 1 }
        return Array(name[..<end])
    }
}
