import CGroupInterface
import GroupLibrary
import GroupSystemCalls
import TestSupport
import Testing

@Suite struct `Bad input to the C library` {
    typealias Failing = (UnsafeMutablePointer<UnsafeMutablePointer<group_error>?>?) -> group_status

    /// Each function, with a handle, and NULL for everything that is a pointer.
    static func calls(with handle: OpaquePointer?) -> [(name: String, call: Failing)] {
        [
            ("group_open", { group_open(nil, nil, nil, $0) }),
            ("group_open_identifier", { group_open_identifier(nil, nil, nil, $0) }),
            ("group_cancellation_create", { group_cancellation_create(nil, $0) }),
            ("group_container_path", { group_container_path(handle, nil, $0) }),
            ("group_container_is_read_only", { group_container_is_read_only(handle, nil, $0) }),
            ("group_read", { group_read(handle, nil, nil, nil, $0) }),
            ("group_write", { group_write(handle, nil, nil, 1, nil, nil, $0) }),
            ("group_remove", { group_remove(handle, nil, nil, nil, $0) }),
            ("group_move", { group_move(handle, nil, nil, nil, nil, $0) }),
            ("group_copy", { group_copy(handle, nil, nil, nil, nil, $0) }),
            ("group_create_directory", { group_create_directory(handle, nil, nil, nil, $0) }),
            ("group_list", { group_list(handle, nil, nil, $0) }),
            ("group_update", { group_update(handle, nil, nil, nil, nil, nil, $0) }),
            ("group_lock", { group_lock(handle, nil, 1, nil, nil, $0) }),
            ("group_unlock", { group_unlock(handle, $0) }),
            ("group_transaction", { group_transaction(handle, nil, 1, nil, nil, nil, nil, $0) }),
            ("group_access_read", { group_access_read(handle, nil, nil, $0) }),
            ("group_access_write", { group_access_write(handle, nil, nil, 1, nil, nil, $0) }),
            ("group_access_remove", { group_access_remove(handle, nil, nil, nil, $0) }),
            ("group_access_move", { group_access_move(handle, nil, nil, nil, nil, $0) }),
            ("group_access_copy", { group_access_copy(handle, nil, nil, nil, nil, $0) }),
            ("group_access_create_directory", { group_access_create_directory(handle, nil, nil, nil, $0) }),
            ("group_follow", { group_follow(handle, nil, nil, $0) }),
            ("group_note_uncoordinated_changes", { group_note_uncoordinated_changes(handle, $0) }),
            ("group_follower_next", { group_follower_next(handle, 0, nil, nil, $0) }),
            ("group_follower_cursor", { group_follower_cursor(handle, nil, $0) }),
            ("group_defaults_open", { group_defaults_open(handle, nil, nil, $0) }),
            ("group_defaults_get", { group_defaults_get(handle, nil, nil, $0) }),
            ("group_defaults_set", { group_defaults_set(handle, nil, nil, nil, nil, $0) }),
            (
                "group_defaults_compare_and_set",
                { group_defaults_compare_and_set(handle, nil, nil, nil, nil, $0) }
            ),
            ("group_defaults_increment", { group_defaults_increment(handle, nil, 1, nil, nil, $0) }),
            ("group_defaults_keys", { group_defaults_keys(handle, nil, $0) }),
            ("group_defaults_follow", { group_defaults_follow(handle, nil, nil, nil, $0) }),
            ("group_key_follower_next", { group_key_follower_next(handle, 0, nil, nil, $0) }),
            ("group_channel_open", { group_channel_open(handle, nil, nil, $0) }),
            ("group_channel_post", { group_channel_post(handle, nil, 1, nil, nil, $0) }),
            ("group_channel_listen", { group_channel_listen(handle, nil, false, nil, $0) }),
            ("group_listener_next", { group_listener_next(handle, 0, nil, nil, $0) }),
            ("group_refresh_begin", { group_refresh_begin(handle, nil, nil, false, nil, nil, nil, $0) }),
            ("group_refresh_last", { group_refresh_last(handle, nil, $0) }),
            ("group_refresh_finish", { group_refresh_finish(handle, nil, 1, nil, nil, nil, $0) }),
            ("group_listener_acknowledge", { group_listener_acknowledge(handle, 1, nil, $0) }),
        ]
    }

    /// Closes and frees what is no handle and no pointer.
    private func release(_ handle: OpaquePointer?) {
        group_close(handle)
        group_cancellation_cancel(handle)
        group_cancellation_close(handle)
        group_follower_close(handle)
        group_key_follower_close(handle)
        group_defaults_close(handle)
        group_channel_close(handle)
        group_listener_close(handle)
        group_refresh_close(handle)
        #expect(group_follower_descriptor(handle) == -1)
        #expect(group_key_follower_descriptor(handle) == -1)
        #expect(group_listener_descriptor(handle) == -1)
        #expect(group_defaults_generation(handle) == 0)
    }

    @Test func `NULL is an invalid argument of each function, and is closed and freed as nothing`() throws {
        for (name, call) in Self.calls(with: nil) {
            #expect(call(nil) == GROUP_INVALID_ARGUMENT, "\(name)")
            let called = Called { call($0) }
            #expect(called.status == GROUP_INVALID_ARGUMENT && !called.message.isEmpty, "\(name)")
        }
        release(nil)
        group_error_free(nil)
        group_free(nil)
        group_content_free(nil)
        group_items_free(nil)
        group_change_free(nil)
        group_value_free(nil)
        group_key_change_free(nil)
        group_message_free(nil)
        group_output_set(nil, nil, 0)
    }

    @Test func `a closed handle, one of another kind and a made-up one are invalid arguments`() throws {
        let container = try LibraryContainer()
        var (cancellation, follower): (OpaquePointer?, OpaquePointer?) = (nil, nil)
        #expect(group_cancellation_create(&cancellation, nil) == GROUP_OK)
        #expect(group_follow(container.handle, nil, &follower, nil) == GROUP_OK)
        group_follower_close(follower)
        let made = OpaquePointer(bitPattern: UInt.max)
        for handle in [cancellation, follower, made] {
            for (name, call) in Self.calls(with: handle) {
                #expect(call(nil) == GROUP_INVALID_ARGUMENT, "\(name)")
            }
        }
        for handle in [follower, made] { release(handle) }
        group_cancellation_close(cancellation)
        #expect(container.write("1", to: "a").status == GROUP_OK, "the container was not closed")
    }

    @Test func `what is no option, path, text or length is an invalid argument, and changes nothing`() throws {
        let container = try LibraryContainer()
        func refused(_ change: (inout group_options) -> Void) -> Bool {
            container.write("1", to: "a", options(change)).status == GROUP_INVALID_ARGUMENT
        }
        #expect(refused { $0.size = 0 } && refused { $0.size = 1 << 20 })
        #expect(refused { $0.timeout = -2 } && refused { $0.timeout = .min })
        #expect(refused { $0.durability = 2 } && refused { $0.condition = 3 })
        #expect(refused { $0.mode = 0o10000 } && refused { $0.mode = -2 })
        #expect(refused { $0.cancellation = OpaquePointer(bitPattern: 12_345) })
        #expect(Called { group_write(container.handle, "a", "1", -1, nil, nil, $0) }.status == GROUP_INVALID_ARGUMENT)
        let notText: [CChar] = [CChar(bitPattern: 0xFF), 0]
        var handle: OpaquePointer?
        #expect(group_defaults_open(container.handle, notText, &handle, nil) == GROUP_INVALID_ARGUMENT)
        #expect(group_channel_open(container.handle, notText, &handle, nil) == GROUP_INVALID_ARGUMENT)
        #expect(group_open(notText, nil, &handle, nil) == GROUP_INVALID_ARGUMENT)
        #expect(group_open_identifier("../x", nil, &handle, nil) == GROUP_INVALID_ARGUMENT)
        for path in ["", "../x", "/etc/passwd", "a/../../x", ".group/format", "a//b"] {
            let status = container.write("1", to: path).status
            #expect(status == GROUP_INVALID_ARGUMENT || status == GROUP_OUTSIDE_CONTAINER, "\(path): \(name(status))")
        }
        #expect(container.read("a").called.status == GROUP_NOT_FOUND)
    }

    @Test func `the access of a transaction is its thread's alone`() throws {
        let container = try LibraryContainer()
        let elsewhere: group_transaction_function = { context, access in
            let number = UInt(bitPattern: access)
            let status = onAnotherThread {
                group_access_write(OpaquePointer(bitPattern: number), "a", "1", 1, nil, nil, nil)
            }
            return status == GROUP_INVALID_ARGUMENT ? 0 : 1
        }
        let status = "a".withCString { path in
            var intent = group_intent(path: path, is_writing: true)
            return group_transaction(container.handle, &intent, 1, elsewhere, nil, nil, nil, nil)
        }
        #expect(status == GROUP_OK)
    }

    @Test(arguments: ["", "./a", "/a", "a/", "../a", "a/./b", "[a"])
    func `a pattern that can match no item is refused`(text: String) throws {
        let container = try LibraryContainer()
        let called = text.withCString { pattern in
            let patterns: [UnsafePointer<CChar>?] = [pattern, nil]
            return patterns.withUnsafeBufferPointer { patterns in
                var options = group_follow_options()
                options.size = MemoryLayout<group_follow_options>.size
                options.including = patterns.baseAddress
                var follower: OpaquePointer?
                return Called { group_follow(container.handle, &options, &follower, $0) }
            }
        }
        #expect(
            called.status == GROUP_INVALID_ARGUMENT && called.message.hasPrefix("cannot follow"), "\(called.message)")
    }

    @Test func `each status has a name, and no other number has one`() {
        for status in [GROUP_OK, GROUP_NOTHING, GROUP_REFUSED] + Array(GROUP_INVALID_ARGUMENT...GROUP_UNKNOWN) {
            #expect(group_status_name(group_status(status)) != nil, "\(status)")
        }
        #expect(group_status_name(-1) == nil && group_status_name(41) == nil && group_status_name(3) == nil)
        #expect(String(cString: group_version()).split(separator: ".").count == 3)
    }
}

/// Runs work on another thread, and returns its answer.
private func onAnotherThread(_ work: @escaping @Sendable () -> group_status) -> group_status {
    let answer = Guarded<group_status>(-1)
    let isDone = Event()
    try? WorkThread.start {
        let status = work()
        answer.withLock { $0 = status }
        isDone.happen()
    }
    _ = isDone.await()
    return answer.withLock { $0 }
}
