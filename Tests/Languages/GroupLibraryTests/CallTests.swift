import CGroupInterface
import Foundation
import GroupContainer
import GroupLibrary
import GroupSystemCalls
import TestSupport
import Testing

@Suite(.ownThreads) struct `The C library's calls` {
    private let container: LibraryContainer

    init() throws { container = try LibraryContainer() }

    // MARK: Items

    @Test func `an item is written, read with its generation, and written under a condition`() throws {
        #expect(container.write("one", to: "a").status == GROUP_OK)
        let first = container.read("a")
        #expect(first.text == "one" && first.generation > 0)
        let fits = options {
            ($0.condition, $0.generation) = (UInt32(GROUP_IF_GENERATION), first.generation)
        }
        #expect(container.write("two", to: "a", fits).status == GROUP_OK)
        let late = container.write("three", to: "a", fits)
        #expect(late.status == GROUP_CONFLICT && late.message.contains("'a'"))
        #expect(container.read("a").text == "two")
        let missing = container.read("b").called
        #expect(missing.status == GROUP_NOT_FOUND && missing.message.contains(container.temporary.path))
    }

    @Test func `a path and a content need not be text, and an empty content is one`() throws {
        let path: [CChar] = [CChar(bitPattern: 0xFF), 0x61, 0]
        let bytes: [UInt8] = [0, 1, 0xFE, 0]
        #expect(Called { error in group_write(container.handle, path, bytes, 4, nil, nil, error) }.status == 0)
        #expect(Called { error in group_write(container.handle, "empty", nil, 0, nil, nil, error) }.status == 0)
        var items: UnsafeMutablePointer<group_items>?
        #expect(Called { error in group_list(container.handle, nil, &items, error) }.status == 0)
        let list = try #require(items)
        #expect(list.pointee.count == 2 && list.pointee.items[0].length == 0)
        #expect(list.pointee.items[1].length == 4 && list.pointee.items[1].path[0] == CChar(bitPattern: 0xFF))
        group_items_free(list)
        #expect(container.read("empty").text == "")
    }

    @Test func `items are moved, copied and removed, and directories made`() throws {
        #expect(container.write("x", to: "a").status == GROUP_OK)
        let handle = container.handle
        #expect(Called { group_create_directory(handle, "d", nil, nil, $0) }.status == GROUP_OK)
        #expect(Called { group_copy(handle, "a", "d/b", nil, nil, $0) }.status == GROUP_OK)
        #expect(Called { group_move(handle, "a", "d/b", nil, nil, $0) }.status == GROUP_CONFLICT)
        var replacing = options { $0.replacing = true }
        #expect(Called { group_move(handle, "a", "d/b", &replacing, nil, $0) }.status == GROUP_OK)
        #expect(Called { group_remove(handle, "d", nil, nil, $0) }.status == GROUP_NOT_EMPTY)
        var recursively = options { $0.recursively = true }
        var result = group_result()
        #expect(Called { group_remove(handle, "d", &recursively, &result, $0) }.status == GROUP_OK)
        #expect(result.is_changed)
        #expect(container.read("d/b").called.status == GROUP_NOT_FOUND)
    }

    @Test func `an update makes the new content under the lock, and changes nothing where it is refused`() throws {
        let handle = container.handle
        let append: group_update_function = { context, data, length, output in
            if context != nil { return 1 }
            var text = data == nil ? [] : Array(UnsafeBufferPointer(start: data, count: length))
            text.append(UInt8(ascii: "+"))
            group_output_set(output, text, text.count)
            return 0
        }
        for _ in 0..<3 { #expect(Called { group_update(handle, "a", append, nil, nil, nil, $0) }.status == 0) }
        var mark = 0
        #expect(Called { group_update(handle, "a", append, &mark, nil, nil, $0) }.status == GROUP_REFUSED)
        #expect(container.read("a").text == "+++")
        let nothing: group_update_function = { _, _, _, _ in 0 }
        var result = group_result(generation: 7, is_changed: true)
        #expect(Called { group_update(handle, "b", nothing, nil, nil, &result, $0) }.status == GROUP_OK)
        #expect(!result.is_changed && container.read("b").called.status == GROUP_NOT_FOUND)
    }

    // MARK: Locks

    /// Calls a function with two items, which are locked exclusively.
    private func withIntents<Answer>(_ body: (UnsafePointer<group_intent>) -> Answer) -> Answer {
        "a".withCString { first in
            "b".withCString { second in
                let intents = [
                    group_intent(path: first, is_writing: true), group_intent(path: second, is_writing: true),
                ]
                return body(intents)
            }
        }
    }

    @Test func `locks are held until they are unlocked, and name their holder`() throws {
        let handle = container.handle
        var access: OpaquePointer?
        #expect(withIntents { items in Called { group_lock(handle, items, 2, nil, &access, $0) } }.status == 0)
        let held = access
        #expect(Called { group_access_write(held, "a", "1", 1, nil, nil, $0) }.status == GROUP_OK)
        #expect(Called { group_access_write(held, "c", "1", 1, nil, nil, $0) }.status == GROUP_INVALID_ARGUMENT)
        let file = FileManager.default.contents(atPath: container.temporary.path + "/a")
        #expect(file == Data("1".utf8), "a change under held locks is visible at once")
        let tries = options { $0.timeout = 0 }
        let other = try RunningProcess(["library-member", "hold", container.temporary.path, "b"])
        #expect(try eventually { try container.temporary.groupctl("status").text.contains("in C") })
        #expect(Called { group_unlock(held, $0) }.status == GROUP_OK)
        #expect(Called { group_unlock(held, $0) }.status == GROUP_INVALID_ARGUMENT)
        try other.waitForText("held")
        let refused = container.write("2", to: "b", tries)
        #expect(refused.status == GROUP_LOCK_TIMED_OUT && refused.holders == [other.identifier])
        other.closeInput()
        #expect(try other.finish().status == 0)
        #expect(container.write("2", to: "b", tries).status == GROUP_OK)
    }

    @Test func `a transaction is whole or nothing, and its access ends with it`() throws {
        let handle = container.handle
        struct Answer {
            var refuses = false
            var access: OpaquePointer?
            var elsewhere: group_status = 0
        }
        let both: group_transaction_function = { context, access in
            guard let answer = context?.assumingMemoryBound(to: Answer.self) else { return 1 }
            answer.pointee.access = access
            for path in ["a", "b"] where group_access_write(access, path, "x", 1, nil, nil, nil) != 0 { return 1 }
            return answer.pointee.refuses ? 1 : 0
        }
        var answer = Answer(refuses: true)
        #expect(
            withIntents { items in
                Called { group_transaction(handle, items, 2, both, &answer, nil, nil, $0) }
            }.status == GROUP_REFUSED)
        #expect(container.read("a").called.status == GROUP_NOT_FOUND)
        answer.refuses = false
        var result = group_result()
        #expect(
            withIntents { items in
                Called { group_transaction(handle, items, 2, both, &answer, nil, &result, $0) }
            }.status == GROUP_OK)
        #expect(container.read("b").text == "x" && result.generation > 0)
        let ended = answer.access
        #expect(Called { group_access_write(ended, "a", "y", 1, nil, nil, $0) }.status == GROUP_INVALID_ARGUMENT)
    }

    @Test func `a cancellation ends a wait for a lock`() throws {
        let handle = container.handle
        let holder = try RunningProcess(["library-member", "hold", container.temporary.path, "a"])
        try holder.waitForText("held")
        var cancellation: OpaquePointer?
        #expect(Called { group_cancellation_create(&cancellation, $0) }.status == GROUP_OK)
        let token = UInt(bitPattern: cancellation)
        let number = UInt(bitPattern: handle)
        let outcome = Guarded<group_status?>(nil)
        let isDone = Event()
        try WorkThread.start {
            var waits = options {
                ($0.timeout, $0.cancellation) = (-1, OpaquePointer(bitPattern: token))
            }
            let status = group_write(OpaquePointer(bitPattern: number), "a", "1", 1, &waits, nil, nil)
            outcome.withLock { $0 = status }
            isDone.happen()
        }
        #expect(try eventually { try container.temporary.groupctl("status").text.contains("waits") })
        group_cancellation_cancel(OpaquePointer(bitPattern: token))
        _ = isDone.await()
        #expect(outcome.withLock { $0 } == group_status(GROUP_CANCELLED))
        group_cancellation_close(OpaquePointer(bitPattern: token))
        holder.closeInput()
        #expect(try holder.finish().status == 0)
    }

    // MARK: Keys, messages and changes

    @Test func `each kind of value is set and read as it was`() throws {
        var suite: OpaquePointer?
        #expect(Called { group_defaults_open(container.handle, nil, &suite, $0) }.status == GROUP_OK)
        let defaults = suite
        defer { group_defaults_close(defaults) }
        let swift = try GroupDefaults(Container(path: container.temporary.path))
        func set(_ type: Int, integer: Int64 = 0, real: Double = 0, _ text: String = "") -> Called {
            text.withCString { bytes in
                var value = group_value(
                    type: Int32(type), integer: integer, real: real, text: bytes,
                    length: text.utf8.count, generation: 0)
                return Called { group_defaults_set(defaults, "k", &value, nil, nil, $0) }
            }
        }
        func isRead(_ type: Int, integer: Int64 = 0, real: Double = 0, _ text: String = "") -> Bool {
            var value: UnsafeMutablePointer<group_value>?
            if group_defaults_get(defaults, "k", &value, nil) != 0 { return false }
            guard let value = value else { return false }
            defer { group_value_free(value) }
            let read = value.pointee
            return read.type == type && read.integer == integer && read.real == real
                && String(cString: read.text) == text && read.length == text.utf8.count && read.generation > 0
        }
        var none: UnsafeMutablePointer<group_value>?
        #expect(group_defaults_get(defaults, "k", &none, nil) == GROUP_NOTHING)
        #expect(group_defaults_generation(defaults) == 0)
        #expect(set(GROUP_BOOL, integer: 1).status == 0 && isRead(GROUP_BOOL, integer: 1) && swift.bool(forKey: "k"))
        #expect(set(GROUP_INTEGER, integer: .min).status == 0 && isRead(GROUP_INTEGER, integer: .min))
        #expect(set(GROUP_DOUBLE, real: 1.5).status == 0 && isRead(GROUP_DOUBLE, real: 1.5))
        #expect(set(GROUP_STRING, "ü").status == 0 && isRead(GROUP_STRING, "ü") && swift.string(forKey: "k") == "ü")
        #expect(set(GROUP_DATA, "d").status == 0 && isRead(GROUP_DATA, "d") && swift.data(forKey: "k")?.count == 1)
        #expect(set(GROUP_DATE, real: 7.25).status == 0 && isRead(GROUP_DATE, real: 7.25))
        #expect(set(GROUP_URL, "a:b").status == 0 && isRead(GROUP_URL, "a:b"))
        #expect(set(GROUP_JSON, #"{"a":[1,null]}"#).status == 0 && isRead(GROUP_JSON, #"{"a":[1,null]}"#))
        let last = group_defaults_generation(defaults)
        #expect(last > 0 && last == group_defaults_generation(defaults))
        #expect(set(GROUP_JSON, "{").status == GROUP_INVALID_CONTENT)
        #expect(set(99).status == GROUP_INVALID_ARGUMENT && isRead(GROUP_JSON, #"{"a":[1,null]}"#))
        try swift.set(["x": [1, 2]], forKey: "k")
        #expect(group_defaults_generation(defaults) > last)
        #expect(isRead(GROUP_JSON, #"{"x":[1,2]}"#), "a dictionary of Swift is JSON here")
        #expect(Called { group_defaults_set(defaults, "k", nil, nil, nil, $0) }.status == GROUP_OK)
        #expect(swift.value(forKey: "k") == nil)
    }

    @Test func `a number is incremented, and compared and set`() throws {
        var suite: OpaquePointer?
        #expect(Called { group_defaults_open(container.handle, "s", &suite, $0) }.status == GROUP_OK)
        let defaults = suite
        defer { group_defaults_close(defaults) }
        var sum: Int64 = 0
        for _ in 0..<3 {
            #expect(Called { group_defaults_increment(defaults, "n", 5, nil, &sum, $0) }.status == GROUP_OK)
        }
        #expect(sum == 15)
        var (present, new) = (group_value(), group_value())
        (present.type, present.integer, new.type, new.integer) = (
            Int32(GROUP_INTEGER), 14, Int32(GROUP_INTEGER), 1
        )
        func compare() -> group_status {
            group_defaults_compare_and_set(defaults, "n", &present, &new, nil, nil)
        }
        #expect(compare() == GROUP_NOTHING)
        present.integer = 15
        #expect(compare() == GROUP_OK && compare() == GROUP_NOTHING)
    }

    @Test func `a listener gets messages, and those that it has not acknowledged again`() throws {
        var (channel, listener): (OpaquePointer?, OpaquePointer?) = (nil, nil)
        #expect(Called { group_channel_open(container.handle, "c", &channel, $0) }.status == GROUP_OK)
        func listen() -> Called {
            Called { group_channel_listen(channel, "l", false, &listener, $0) }
        }
        func next() -> (number: UInt64, text: String?)? {
            var message: UnsafeMutablePointer<group_message>?
            guard group_listener_next(listener, 0, nil, &message, nil) == GROUP_OK,
                let message = message
            else { return nil }
            defer { group_message_free(message) }
            let data = message.pointee.data
            return (message.pointee.number, data.map { String(cString: $0) })
        }
        #expect(listen().status == GROUP_OK && listen().status == GROUP_CONFLICT)
        var number: UInt64 = 0
        #expect(Called { group_channel_post(channel, "hi", 2, nil, &number, $0) }.status == GROUP_OK)
        #expect(Called { group_channel_post(channel, nil, 0, nil, nil, $0) }.status == GROUP_OK)
        #expect(group_listener_descriptor(listener) >= 0)
        var (first, second) = (next(), next())
        #expect(first?.text == "hi" && first?.number == number && second?.number == number + 1 && second?.text == nil)
        #expect(next() == nil)
        #expect(Called { group_listener_acknowledge(listener, number, nil, $0) }.status == GROUP_OK)
        group_listener_close(listener)
        #expect(listen().status == GROUP_OK)
        (first, second) = (next(), next())
        #expect(first?.number == number + 1 && second == nil)
        group_listener_close(listener)
        group_channel_close(channel)
    }

    @Test func `a follower goes on from its cursor, and has keys' followers beside it`() throws {
        var follower: OpaquePointer?
        #expect(Called { group_follow(container.handle, nil, &follower, $0) }.status == GROUP_OK)
        #expect(container.write("1", to: "a").status == GROUP_OK)
        func next() -> (kind: Int32, path: String, purpose: String)? {
            var change: UnsafeMutablePointer<group_change>?
            guard group_follower_next(follower, 0, nil, &change, nil) == GROUP_OK, let change = change
            else { return nil }
            defer { group_change_free(change) }
            return (
                change.pointee.kind, String(cString: change.pointee.path),
                change.pointee.author_purpose.map { String(cString: $0) } ?? ""
            )
        }
        let first = next()
        #expect(first?.kind == Int32(GROUP_CREATED) && first?.path == "a" && first?.purpose == "in a test")
        var text: UnsafeMutablePointer<CChar>?
        #expect(Called { group_follower_cursor(follower, &text, $0) }.status == GROUP_OK)
        let cursor = String(cString: try #require(text))
        group_free(text)
        group_follower_close(follower)
        #expect(container.write("2", to: "a").status == GROUP_OK)
        #expect(container.write("2", to: "b.txt").status == GROUP_OK)
        let status = cursor.withCString { cursor in
            "*.txt".withCString { pattern in
                let patterns: [UnsafePointer<CChar>?] = [pattern, nil]
                return patterns.withUnsafeBufferPointer { patterns in
                    var options = group_follow_options()
                    options.size = MemoryLayout<group_follow_options>.size
                    (options.since, options.including) = (cursor, patterns.baseAddress)
                    return group_follow(container.handle, &options, &follower, nil)
                }
            }
        }
        #expect(status == GROUP_OK)
        #expect(next()?.path == "b.txt" && next() == nil)
        group_follower_close(follower)
    }

    // MARK: Refreshes

    /// Begins a refresh of the widget `w`. Returns nil where none is needed.
    private func begin(_ interest: String = "notes/**") throws -> OpaquePointer? {
        var refresh: OpaquePointer?
        var isNeeded = false
        let called = interest.withCString { interest in
            let interests: [UnsafePointer<CChar>?] = [interest, nil]
            return Called { error in
                group_refresh_begin(container.handle, "w", interests, false, nil, &refresh, &isNeeded, error)
            }
        }
        #expect(called.status == GROUP_OK && isNeeded == (refresh != nil), "\(called.message)")
        return refresh
    }

    /// Ends a refresh. Returns whether the snapshot was new, and was delivered.
    private func finish(_ refresh: OpaquePointer?, _ text: String) -> (status: group_status, isNew: Bool, shown: Int) {
        var (isNew, shown) = (false, 0)
        let deliver: group_deliver_function = { context, data, length in
            context?.assumingMemoryBound(to: Int.self).pointee += 1
            return length == 6 ? 1 : 0
        }
        let status = group_refresh_finish(refresh, text, text.utf8.count, deliver, &shown, &isNew, nil)
        return (status, isNew, shown)
    }

    @Test func `a widget is drawn anew only if something that concerns it has changed`() throws {
        let first = try begin()
        #expect(first != nil, "nothing was drawn yet")
        #expect(finish(first, "a") == (group_status(GROUP_OK), true, 1))
        #expect(group_refresh_finish(first, "a", 1, nil, nil, nil, nil) == GROUP_INVALID_ARGUMENT)
        #expect(try begin() == nil)
        #expect(container.write("1", to: "other").status == GROUP_OK)
        #expect(try begin() == nil)
        #expect(container.write("1", to: "notes/a").status == GROUP_OK)
        let second = try begin()
        var last: UnsafeMutablePointer<group_content>?
        #expect(group_refresh_last(second, &last, nil) == GROUP_OK && last?.pointee.length == 1)
        group_content_free(last)
        #expect(finish(second, "a") == (group_status(GROUP_OK), false, 0), "what is drawn is the same")
        #expect(try begin() == nil)
    }

    @Test func `a refresh that is not finished, or not delivered, has failed`() throws {
        #expect(finish(try begin(), "a").isNew)
        #expect(container.write("1", to: "notes/a").status == GROUP_OK)
        group_refresh_close(try begin())
        let refresh = try begin()
        #expect(refresh != nil)
        #expect(finish(refresh, "six by") == (group_status(GROUP_REFUSED), false, 1))
        group_refresh_close(refresh)
        #expect(finish(try begin(), "b") == (group_status(GROUP_OK), true, 1))
    }

    @Test func `what is no interest or kind is an invalid argument`() throws {
        var refresh: OpaquePointer?
        var isNeeded = false
        for (kind, interest) in [("w", "defaults:"), ("a/b", "x"), ("", "x"), ("w", "/x")] {
            let status = interest.withCString { interest in
                let interests: [UnsafePointer<CChar>?] = [interest, nil]
                return group_refresh_begin(container.handle, kind, interests, false, nil, &refresh, &isNeeded, nil)
            }
            #expect(status == GROUP_INVALID_ARGUMENT, "\(kind) \(interest): \(name(status))")
        }
    }
}
