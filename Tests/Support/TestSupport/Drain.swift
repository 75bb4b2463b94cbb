import CTestDefaults
import Foundation
import Glibc
import GroupSystemCalls

/// What arrives from a pipe or a terminal, read on the thread of events: at once, so that no writer waits for the test,
/// or only while a test waits, so that a writer stops when the pipe is full.
final class Drain: Sendable {
    private struct State {
        /// -1 once its end was reached, or it was closed.
        var descriptor: Int32
        /// There while it is read.
        var watch: EventThread.Watch?
        /// How many have called `resume`, and not `pause` yet.
        var readers = 0
        var bytes: [UInt8] = []
        /// How many newlines are in the bytes.
        var newlines = 0
        /// Where the line begins that is returned next.
        var nextLine = 0

        var isAtEnd: Bool { descriptor < 0 }
    }
    private let state: Awaited<State>

    /// Takes the reading end over. Unless it is read at once, it is read between `resume` and `pause`, and until
    /// `nextLine` has its line.
    init(owning descriptor: Int32, atOnce: Bool = true) {
        state = Awaited(State(descriptor: descriptor))
        if atOnce { resume() }
    }

    /// Has it be read until `pause`.
    func resume() {
        state.withState { now in
            now.readers += 1
            watch(&now)
        }
    }

    /// To be called with the lock, so that no event comes before the watch is known.
    private func watch(_ now: inout State) {
        if now.watch != nil || now.isAtEnd { return }
        let descriptor = now.descriptor
        now.watch = EventThread.shared.watch(descriptor) { [state] _ in Self.read(into: state, from: descriptor) }
    }

    func pause() {
        state.withState { now in
            now.readers -= 1
            if now.readers == 0 { Self.endWatch(&now) }
        }
    }

    private static func endWatch(_ state: inout State) {
        if let watch = state.watch.take() { EventThread.shared.end(watch, of: state.descriptor) }
    }

    deinit { close() }

    /// Stops reading: the writer gets EPIPE from now on.
    func close() { state.change { Self.close(&$0) } }

    private static func close(_ state: inout State) {
        if state.isAtEnd { return }
        endWatch(&state)
        _ = Glibc.close(state.descriptor)
        state.descriptor = -1
    }

    /// Reads once, on the thread of events.
    private static func read(into state: Awaited<State>, from descriptor: Int32) {
        state.change { state in
            guard state.descriptor == descriptor, state.watch != nil, isReadable(descriptor) else { return }
            var count = 0
            let chunk = unsafe [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, filled in
                count = unsafe Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                filled = max(0, count)
            }
            if count > 0 {
                state.bytes += chunk
                state.newlines += newlines(in: chunk)
                if state.readers == 0 { endWatch(&state) }
            } else if count == 0 || errno != EINTR {
                close(&state)
            }
        }
    }

    // The loops of this file are the C library's: those of a debug build take up to a hundred times as long, for each
    // byte of all output of all tests.

    private static func newlines(in bytes: [UInt8]) -> Int {
        var (count, start) = (0, 0)
        while let newline = newline(in: bytes, from: start) { (count, start) = (count + 1, newline + 1) }
        return count
    }

    private static func newline(in bytes: [UInt8], from start: Int) -> Int? {
        unsafe bytes.withUnsafeBytes { bytes in
            guard start < bytes.count, let base = bytes.baseAddress,
                let found = unsafe memchr(base + start, 10, bytes.count - start)
            else { return nil }
            return unsafe UnsafeRawPointer(found) - base
        }
    }

    /// Returns where a text begins that is not before `start`.
    private static func place(of text: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
        unsafe bytes.withUnsafeBytes { bytes in
            unsafe text.withUnsafeBytes { text in
                guard start < bytes.count, let base = bytes.baseAddress, let wanted = text.baseAddress,
                    let found = unsafe ctest_find(base + start, bytes.count - start, wanted, text.count)
                else { return nil }
                return unsafe found - base
            }
        }
    }

    // MARK: What is there

    /// All bytes until now.
    var bytes: [UInt8] { state.withState { $0.bytes } }

    /// Everything until now.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The number on the last whole line.
    var lastNumber: Int { state.withState { Self.lastNumber(in: $0.bytes) } }

    private static func lastNumber(in bytes: [UInt8]) -> Int {
        guard var place = bytes.lastIndex(of: 10) else { return 0 }
        var (number, unit) = (0, 1)
        while place > 0, (48...57).contains(bytes[place - 1]) {
            place -= 1
            number += Int(bytes[place] - 48) * unit
            unit *= 10
        }
        return number
    }

    // MARK: Waits of threads

    func waitForNumber(_ number: Int) throws {
        try wait("for \(number)") { Self.lastNumber(in: $0.bytes) >= number ? () : nil }
    }

    func waitForLines(_ count: Int) throws { try wait("for \(count) lines") { $0.newlines >= count ? () : nil } }

    /// The closure is called without a lock: it may wait for another process.
    func waitForText(_ isThere: (String) -> Bool) throws {
        let deadline = Date.after(patience)
        var seen = -1
        while let (bytes, isLast) = state.wait(
            until: deadline, for: { $0.isAtEnd || $0.bytes.count != seen ? ($0.bytes, $0.isAtEnd) : nil })
        {
            if isThere(String(decoding: bytes, as: UTF8.self)) { return }
            if isLast { throw waitedInVain("for a text", isOver: true) }
            seen = bytes.count
        }
        throw waitedInVain("for a text", isOver: false)
    }

    func waitForText(_ expected: String) throws {
        let text = Array(expected.utf8)
        var start = 0
        try wait("for '\(expected)'") { state in
            if Self.place(of: text, in: state.bytes, from: start) != nil { return () }
            start = max(0, state.bytes.count - text.count + 1)
            return nil
        }
    }

    /// Waits until the last writer is gone.
    func waitForEnd(within bound: Duration) throws {
        try wait("for its end", within: bound) { $0.isAtEnd ? () : nil }
    }

    private func wait(_ what: String, within bound: Duration = patience, until find: (inout State) -> Void?) throws {
        var isOver = false
        let found: Void?? = state.wait(until: .after(bound)) { state in
            if let found = find(&state) { return found }
            isOver = state.isAtEnd
            return isOver ? .some(nil) : nil
        }
        if case .some(.some) = found { return }
        throw waitedInVain(what, isOver: isOver)
    }

    private func waitedInVain(_ what: String, isOver: Bool) -> WaitedInVain {
        let text = String(decoding: bytes.suffix(500), as: UTF8.self)
        return WaitedInVain(
            description: "waited in vain \(what); it \(isOver ? "ended and " : "")printed \(text)")
    }

    // MARK: Waits in tasks

    /// Returns the next line as soon as it is there, at the end also one without its newline; `.some(nil)` at the end,
    /// and nil at the deadline.
    func nextLine(until deadline: Date) async -> String?? {
        await state.wait(until: deadline) { state in
            let end = Self.newline(in: state.bytes, from: state.nextLine)
            if end == nil && !state.isAtEnd {
                watch(&state)
                return nil
            }
            let line = state.bytes[state.nextLine..<(end ?? state.bytes.count)]
            if end == nil && line.isEmpty { return .some(nil) }
            state.nextLine = end.map { $0 + 1 } ?? state.bytes.count
            return String(decoding: line, as: UTF8.self)
        }
    }

    /// Waits until the last writer is gone. Returns false at the deadline.
    func end(until deadline: Date) async -> Bool {
        await state.wait(until: deadline) { $0.isAtEnd ? () : nil } != nil
    }
}
