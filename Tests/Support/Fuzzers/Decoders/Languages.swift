import CGroupInterface
import Glibc
import GroupCommandLine
import GroupContainer
import GroupLibrary
@testable import GroupServing
import GroupSystemCalls

extension Decoder {
    static let languages = [serveLines, libraryCalls]

    private typealias Shared = Result<(ScratchDirectory, Container), any Error>

    /// Containers that all inputs share: making one takes longer than a thousand requests.
    private static let served = shared(), called = shared()

    private static func shared() -> Shared {
        Result {
            let scratch = try ScratchDirectory()
            return (scratch, try Container(path: String(decoding: scratch.path, as: UTF8.self) + "/c", creating: true))
        }
    }

    private static func lines(_ lines: String...) -> [UInt8] { [UInt8](lines.joined(separator: "\n") + "\n") }

    /// What a client of `groupctl serve` sends. Each line has an answer, each line that is sent is JSON with an id, and
    /// nothing is held afterwards.
    private static let serveLines = Decoder(
        "serve-lines",
        [
            "items": lines(
                #"{"id":1,"do":"write","path":"a","text":"1","durable":false}"#, #"{"id":2,"do":"read","path":"a"}"#,
                #"{"id":3,"do":"move","path":"a","to":"b","replacing":true,"durable":false}"#,
                #"{"id":4,"do":"remove","path":"b","recursively":true,"durable":false}"#, #"{"id":5,"do":"list"}"#),
            "locks": lines(
                #"{"id":1,"do":"lock","writing":["a"],"reading":["b"],"timeout":10}"#,
                #"{"id":2,"do":"write","path":"a","bytes":"AA==","lock":1,"durable":false}"#,
                #"{"id":3,"do":"unlock","lock":1}"#, #"{"id":4,"do":"cancel","request":1}"#),
            "transaction": lines(
                #"{"id":"t","do":"transaction","durable":false,"changes":[{"do":"write","path":"a","text":"1"}]}"#,
                #"{"id":"u","do":"transaction","changes":[{"do":"check","path":"z","ifGeneration":"absent"}]}"#),
            "keys": lines(
                #"{"id":1,"do":"set","key":"k","value":{"a":[1,null]}}"#, #"{"id":2,"do":"get","key":"k"}"#,
                #"{"id":3,"do":"increment","key":"n","by":-7}"#, #"{"id":4,"do":"keys","suite":"standard"}"#),
            "streams": lines(
                #"{"id":1,"do":"follow","since":"start","include":["a*"],"settle":1,"settleMax":2}"#,
                #"{"id":2,"do":"followKeys","keys":["k"]}"#, #"{"id":3,"do":"listen","channel":"c","name":"l"}"#,
                #"{"id":4,"do":"post","channel":"c","text":"1"}"#, #"{"id":5,"do":"acknowledge","listen":3,"number":1}"#
            ),
            "refresh": lines(
                #"{"id":1,"do":"refresh","widget":"w","interests":["a","defaults:s:k"],"timeout":10}"#,
                #"{"id":2,"do":"finish","refresh":1,"text":"1"}"#, #"{"id":3,"do":"hello","purpose":"p"}"#),
        ]
    ) { bytes in
        let (_, container) = try served.get()
        let input = try FileDescriptor.inMemory()
        try input.writeAll(bytes)
        let copy = try FileDescriptor.open(path: [UInt8]("/proc/self/fd/\(input.number)"), .reading)
        let output = try FileDescriptor.inMemory()
        let connection = Connection(container, purpose: "fuzzer", writer: LineWriter(output.number))
        try connection.serve(input: copy.number, output: output.number)
        let sent = try FileDescriptor.open(path: [UInt8]("/proc/self/fd/\(output.number)"), .reading).readAll()
        let values = try sent.split(separator: 0x0A).map { line throws -> JSONValue in
            do { return try JSONReader.value(of: Array(line), deepest: 1_000) } catch {
                throw Broken("a line is not JSON: \(error): \(line)")
            }
        }
        let blank: Set<UInt8> = [0x20, 0x0D, 0x09]
        let requests = bytes.split(separator: 0x0A).filter { !$0.allSatisfy(blank.contains) }
        let answers = values.filter { $0.has("ok") || $0.has("error") }
        try expect(answers.count >= requests.count, "\(requests.count) lines have \(answers.count) answers")
        // Other threads end them, after the requests that are to be done under them.
        var locks = try container.status().members.flatMap(\.locks)
        for _ in 0..<5_000 where !locks.isEmpty {
            pause(nanoseconds: 1_000_000)
            locks = try container.status().members.flatMap(\.locks)
        }
        try expect(locks.isEmpty, "locks are held: \(locks)")
        return answers.contains { $0.has("ok") }
    }

    /// Calls of the C library: of three bytes each, the first chooses the function, the others its arguments. Each
    /// returns a status that has a name, whatever the arguments are.
    private static let libraryCalls = Decoder(
        "library-calls",
        [
            "each": (0..<24).flatMap { [UInt8($0), 0, 1] },
            "twice": (0..<24).flatMap { [UInt8($0), 1, 0, UInt8($0), 2, 2] },
        ]
    ) { bytes in
        let (scratch, _) = try called.get()
        var calls = LibraryCalls(path: scratch.path + [UInt8]("/c"), text: bytes)
        defer { calls.end() }
        for start in stride(from: 0, to: min(bytes.count - 2, 300), by: 3) where start + 2 < bytes.count {
            let status = calls.call(bytes[start], bytes[start + 1], bytes[start + 2])
            try expect(unsafe group_status_name(status) != nil, "the status \(status) has no name")
        }
        return bytes.count >= 3
    }
}

extension JSONValue {
    fileprivate func has(_ name: String) -> Bool {
        guard case .object(let members) = self else { return false }
        return members.contains { $0.0 == name }
    }
}

/// Handles that calls have made, and those that no call has.
@safe private struct LibraryCalls {
    private var handles: [OpaquePointer?] = unsafe [nil, OpaquePointer(bitPattern: 3), OpaquePointer(bitPattern: ~0)]
    private let path: [CChar]
    private let text: [CChar]

    init(path: [UInt8], text: [UInt8]) {
        self.path = path.map { CChar(bitPattern: $0) } + [0]
        // A text of the input, also with bytes that are not UTF-8.
        self.text = text.filter { $0 != 0 }.prefix(64).map { CChar(bitPattern: $0) } + [0]
    }

    /// Closes all handles, as any kind.
    func end() {
        for index in unsafe handles.indices {
            let handle = unsafe handles[index]
            unsafe group_unlock(handle, nil)
            unsafe group_follower_close(handle)
            unsafe group_key_follower_close(handle)
            unsafe group_listener_close(handle)
            unsafe group_refresh_close(handle)
            unsafe group_channel_close(handle)
            unsafe group_defaults_close(handle)
            unsafe group_cancellation_close(handle)
            unsafe group_close(handle)
        }
    }

    private func handle(_ byte: UInt8) -> OpaquePointer? { unsafe handles[Int(byte) % handles.count] }

    private mutating func making(
        _ call: (UnsafeMutablePointer<OpaquePointer?>) -> group_status
    ) -> group_status {
        var made: OpaquePointer?
        let status = unsafe call(&made)
        if unsafe made != nil { unsafe handles.append(made) }
        return status
    }

    mutating func call(_ function: UInt8, _ first: UInt8, _ second: UInt8) -> group_status {
        let (given, path) = unsafe (handle(first), path)
        var options = unsafe group_options(
            size: second == 99 ? 1 : MemoryLayout<group_options>.size, timeout: 1, cancellation: nil,
            durability: UInt32(second & 3), condition: UInt32(second >> 6), generation: UInt64(first), mode: -1,
            recursively: second & 4 != 0, replacing: second & 8 != 0)
        let chosen: [CChar] = second & 16 == 0 ? text : [CChar(0x61), 0]
        switch function % 24 {
        case 0: return unsafe making { unsafe group_open(path, nil, $0, nil) }
        case 1: return unsafe making { unsafe group_defaults_open(given, second & 1 == 0 ? nil : chosen, $0, nil) }
        case 2: return unsafe making { unsafe group_channel_open(given, chosen, $0, nil) }
        case 3: return unsafe making { unsafe group_follow(given, nil, $0, nil) }
        case 4: return unsafe making { unsafe group_channel_listen(given, chosen, second & 1 == 0, $0, nil) }
        case 5: return unsafe making { unsafe group_cancellation_create($0, nil) }
        case 6:
            return unsafe making { unsafe group_defaults_follow(given, nil, second & 1 == 0 ? nil : chosen, $0, nil) }
        case 7:
            return unsafe making { place in
                unsafe chosen.withUnsafeBufferPointer { chosen in
                    var intent = unsafe group_intent(path: chosen.baseAddress, is_writing: second & 1 == 0)
                    return unsafe group_lock(given, &intent, second & 2 == 0 ? 1 : 0, &options, place, nil)
                }
            }
        case 8:
            var content: UnsafeMutablePointer<group_content>?
            let status = unsafe group_read(given, chosen, &options, &content, nil)
            unsafe group_content_free(content)
            return status
        case 9: return unsafe group_write(given, chosen, text, text.count, &options, nil, nil)
        case 10: return unsafe group_remove(given, chosen, &options, nil, nil)
        case 11: return unsafe group_move(given, chosen, text, &options, nil, nil)
        case 12: return unsafe group_copy(given, chosen, text, &options, nil, nil)
        case 13: return unsafe group_create_directory(given, chosen, &options, nil, nil)
        case 14:
            var items: UnsafeMutablePointer<group_items>?
            let status = unsafe group_list(given, second & 1 == 0 ? nil : chosen, &items, nil)
            unsafe group_items_free(items)
            return status
        case 15:
            var value: UnsafeMutablePointer<group_value>?
            let status = unsafe group_defaults_get(given, chosen, &value, nil)
            unsafe group_value_free(value)
            return status
        case 16:
            return unsafe text.withUnsafeBufferPointer { text in
                var value = unsafe group_value(
                    type: Int32(second % 12), integer: Int64(first), real: .nan,
                    text: text.baseAddress, length: text.count - 1, generation: 0)
                return unsafe group_defaults_set(given, chosen, &value, &options, nil, nil)
            }
        case 17: return unsafe group_defaults_increment(given, chosen, Int64(first) << 56, &options, nil, nil)
        case 18: return unsafe group_channel_post(given, text, text.count, &options, nil, nil)
        case 19:
            var change: UnsafeMutablePointer<group_change>?
            let status = unsafe group_follower_next(given, 0, handle(second), &change, nil)
            unsafe group_change_free(change)
            return status
        case 20:
            var change: UnsafeMutablePointer<group_key_change>?
            let status = unsafe group_key_follower_next(given, 0, handle(second), &change, nil)
            unsafe group_key_change_free(change)
            return status
        case 21:
            var message: UnsafeMutablePointer<group_message>?
            let status = unsafe group_listener_next(given, 0, handle(second), &message, nil)
            unsafe group_message_free(message)
            return status
        case 22: return unsafe group_unlock(given, nil)
        default:
            unsafe group_follower_close(given)
            return unsafe group_listener_acknowledge(given, UInt64(second), &options, nil)
        }
    }
}
