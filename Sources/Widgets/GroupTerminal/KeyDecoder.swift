// Imports nothing: no file, clock or process.

/// Decodes the bytes of a terminal into keys. The keys do not depend on how the bytes are cut into pieces; only the
/// Escape key depends on time, because other keys begin with the same byte.
package struct KeyDecoder: Hashable, Sendable {
    private var pending: [UInt8] = []
    private var isPasting = false

    private static let escape: UInt8 = 0x1B
    private static let endOfPaste = Array("\u{1B}[201~".utf8)
    /// The longest sequence that is read as one; no key has a longer one.
    private static let longestSequence = 32

    package init() {}

    /// Whether the beginning of a key has come: if nothing more comes for a moment, `timeIsOver` returns the key.
    package var isWaiting: Bool { !pending.isEmpty && !isPasting }

    /// Returns the keys that are now complete.
    package mutating func take(_ bytes: some Sequence<UInt8>) -> [Key] {
        pending += bytes
        return decode(isOver: false)
    }

    /// Returns the keys of the bytes so far, when nothing more has come: an Escape alone is the key.
    package mutating func timeIsOver() -> [Key] { decode(isOver: true) }

    private mutating func decode(isOver: Bool) -> [Key] {
        var keys: [Key] = []
        var rest = pending[...]
        while !rest.isEmpty {
            if isPasting {
                guard skipPasted(&rest) else { break }
                continue
            }
            var after = rest
            guard let key = Self.next(&after, isOver: isOver) else { break }
            rest = after
            keys.append(key)
            if key == .pasted { isPasting = true }
        }
        pending = Array(rest)
        return keys
    }

    /// Skips pasted bytes; returns false if the paste is not over. Only the last bytes are kept, which may be the
    /// beginning of its end.
    private mutating func skipPasted(_ rest: inout ArraySlice<UInt8>) -> Bool {
        let end = Self.endOfPaste
        for start in rest.indices where rest[start...].starts(with: end) {
            rest = rest.dropFirst(start - rest.startIndex + end.count)
            isPasting = false
            return true
        }
        rest = rest.suffix(end.count - 1)
        return false
    }

    /// Returns nil if more bytes are needed.
    private static func next(_ rest: inout ArraySlice<UInt8>, isOver: Bool) -> Key? {
        guard let first = rest.popFirst() else { return nil }
        switch first {
        case escape: return sequence(&rest, isOver: isOver)
        case 0x0D, 0x0A: return .enter
        case 0x09: return .tab
        case 0x08, 0x7F: return .backspace
        case ..<0x20: return .control(Unicode.Scalar(first + 0x40 + (first > 0 && first < 27 ? 0x20 : 0)))
        case ..<0x80: return .character(Unicode.Scalar(first))
        default: return character(first, &rest, isOver: isOver)
        }
    }

    /// Returns the character of a byte sequence in UTF-8.
    private static func character(_ first: UInt8, _ rest: inout ArraySlice<UInt8>, isOver: Bool) -> Key? {
        let length = first < 0xC2 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 1
        let following = rest.prefix(length - 1).prefix { $0 & 0xC0 == 0x80 }
        if following.count < length - 1, following.count == rest.count, !isOver { return nil }
        rest = rest.dropFirst(following.count)
        var decoder = UTF8()
        var bytes = ([first] + following).makeIterator()
        guard case .scalarValue(let scalar) = decoder.decode(&bytes) else { return .unknown }
        return .character(scalar)
    }

    /// Returns the key of the bytes after an Escape (ECMA-48, and the sequences of xterm and the Linux console).
    private static func sequence(_ rest: inout ArraySlice<UInt8>, isOver: Bool) -> Key? {
        guard let introducer = rest.first else { return isOver ? .escape : nil }
        switch introducer {
        case UInt8(ascii: "["):
            rest.removeFirst()
            return controlSequence(&rest, isOver: isOver)
        case UInt8(ascii: "O"):
            rest.removeFirst()
            guard let final = rest.popFirst() else { return isOver ? .unknown : nil }
            return key(final, [])
        case escape: return .escape
        default:
            // A key with Alt has no meaning here, and is not an Escape followed by a key either.
            return next(&rest, isOver: isOver).map { _ in .unknown }
        }
    }

    private static func controlSequence(_ rest: inout ArraySlice<UInt8>, isOver: Bool) -> Key? {
        if rest.first == UInt8(ascii: "[") {
            // The sequence of a function key of the Linux console.
            if rest.count < 2 { return isOver ? .unknown : nil }
            rest = rest.dropFirst(2)
            return .unknown
        }
        let parameters = rest.prefix(longestSequence).prefix { 0x20..<0x40 ~= $0 }
        if parameters.count == longestSequence {
            rest = rest.dropFirst(longestSequence)
            return .unknown
        }
        rest = rest.dropFirst(parameters.count)
        guard let final = rest.first else { return isOver ? .unknown : nil }
        // A byte that cannot end the sequence is left for the next key.
        if !(0x40..<0x7F ~= final) { return .unknown }
        rest.removeFirst()
        if parameters.first == UInt8(ascii: "<") { return mouse(final, parameters.dropFirst()) }
        let numbers = parameters.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
            .map { Int(String(decoding: $0, as: UTF8.self)) ?? 0 }
        return key(final, numbers)
    }

    /// Returns the key of a report about the mouse in xterm's form SGR: the button, the column and the row, from 1; `M`
    /// for a press, and `m` for a release.
    private static func mouse(_ final: UInt8, _ parameters: ArraySlice<UInt8>) -> Key {
        let numbers = parameters.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
            .map { UInt16(String(decoding: $0, as: UTF8.self)) }
        guard final == UInt8(ascii: "M"), numbers.count == 3, let button = numbers[0], let column = numbers[1],
            let row = numbers[2], column > 0, row > 0
        else { return .unknown }
        switch button {
        case 0: return .click(column: Int(column) - 1, row: Int(row) - 1)
        case 64: return .wheel(-1)
        case 65: return .wheel(1)
        default: return .unknown
        }
    }

    private static func key(_ final: UInt8, _ numbers: [Int]) -> Key {
        let isShifted = numbers.count > 1 && numbers[1] == 2
        switch final {
        case UInt8(ascii: "A"): return isShifted ? .shiftUp : .up
        case UInt8(ascii: "B"): return isShifted ? .shiftDown : .down
        // The sequences of rxvt for keys with Shift.
        case UInt8(ascii: "a"): return .shiftUp
        case UInt8(ascii: "b"): return .shiftDown
        case UInt8(ascii: "C"): return .right
        case UInt8(ascii: "D"): return .left
        case UInt8(ascii: "H"): return .home
        case UInt8(ascii: "F"): return .end
        case UInt8(ascii: "M"): return .enter
        case UInt8(ascii: "~"):
            switch numbers.first {
            case 1, 7: return .home
            case 4, 8: return .end
            case 5: return .pageUp
            case 6: return .pageDown
            case 200: return .pasted
            default: return .unknown
            }
        default: return .unknown
        }
    }
}

/// A pressed key.
package enum Key: Hashable, Sendable {
    case character(Unicode.Scalar)
    /// A key with Control, as its letter.
    case control(Unicode.Scalar)
    case up, down, left, right, shiftUp, shiftDown
    case pageUp, pageDown, home, end
    case enter, tab, backspace, escape
    /// A click of the first button of the mouse, on a cell of the screen; both numbers are from 0.
    case click(column: Int, row: Int)
    /// A step of the mouse's wheel: 1 down, or -1 up.
    case wheel(Int)
    /// A pasted text, whose characters are not keys.
    case pasted
    /// A key without a meaning here.
    case unknown
}
