import CGroupInterface
import TestSupport
import Testing

/// The outcome of a call of the C library.
struct Called {
    var status: group_status
    /// The message of the error; empty where there is none.
    var message = ""
    var holders: [Int32] = []

    /// Calls a function, and frees its error.
    init(_ function: (UnsafeMutablePointer<UnsafeMutablePointer<group_error>?>) -> group_status) {
        var error: UnsafeMutablePointer<group_error>?
        status = function(&error)
        guard let error = error else { return }
        if let text = error.pointee.message { message = String(cString: text) }
        for index in 0..<(error.pointee.holder_count) {
            holders.append(error.pointee.holders[index].process)
        }
        group_error_free(error)
    }
}

/// A container that the C library has opened.
final class LibraryContainer {
    let temporary: TemporaryContainer
    let handle: OpaquePointer?

    init(purpose: String = "in a test") throws {
        let temporary = try TemporaryContainer()
        self.temporary = temporary
        var handle: OpaquePointer?
        var options = group_open_options()
        options.size = MemoryLayout<group_open_options>.size
        options.timeout = 30_000
        let called = purpose.withCString { purpose in
            options.purpose = purpose
            return Called { error in group_open(temporary.path, &options, &handle, error) }
        }
        if called.status != 0 { throw TemporaryContainer.Failed(description: called.message) }
        self.handle = handle
    }

    deinit { group_close(handle) }

    func write(_ text: String, to path: String, _ options: group_options? = nil) -> Called {
        Called { error in
            guard var options = options else {
                return group_write(handle, path, text, text.utf8.count, nil, nil, error)
            }
            return group_write(handle, path, text, text.utf8.count, &options, nil, error)
        }
    }

    func read(_ path: String) -> (text: String?, generation: UInt64, called: Called) {
        var content: UnsafeMutablePointer<group_content>?
        let called = Called { error in group_read(handle, path, nil, &content, error) }
        guard let content = content, let data = content.pointee.data else { return (nil, 0, called) }
        defer { group_content_free(content) }
        let text = String(
            decoding: UnsafeBufferPointer(start: data, count: content.pointee.length), as: UTF8.self)
        return (text, content.pointee.generation, called)
    }
}

/// Returns `GROUP_OPTIONS`, changed.
func options(_ change: (inout group_options) -> Void) -> group_options {
    var options = group_options(
        size: MemoryLayout<group_options>.size, timeout: 10_000, cancellation: nil,
        durability: UInt32(GROUP_DURABLE), condition: UInt32(GROUP_ALWAYS), generation: 0, mode: -1,
        recursively: false, replacing: false)
    change(&options)
    return options
}

/// Returns the name of a status.
func name(_ status: group_status) -> String {
    group_status_name(status).map { String(cString: $0) } ?? "\(status)"
}
