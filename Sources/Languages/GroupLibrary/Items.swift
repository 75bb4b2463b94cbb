package import CGroupInterface
import GroupContainer

extension ItemType {
    var number: Int32 {
        switch self {
        case .file: Int32(GROUP_FILE)
        case .directory: Int32(GROUP_DIRECTORY)
        case .symbolicLink: Int32(GROUP_SYMBOLIC_LINK)
        case .other: Int32(GROUP_OTHER)
        }
    }
}

/// Returns an item's content as C has it.
func content(_ version: Versioned<[UInt8]>) throws(CoordinationError) -> UnsafeMutablePointer<group_content> {
    guard var block = unsafe Block<group_content>(room: version.value.count + 1) else { throw noMemory("read") }
    let data = unsafe block.bytes(version.value)
    return unsafe block.finish(
        group_content(data: data, length: version.value.count, generation: version.generation.rawValue))
}

@c @implementation package func group_content_free(_ content: UnsafeMutablePointer<group_content>?) {
    unsafe release(content)
}

@c @implementation package func group_read(
    _ container: OpaquePointer?, _ path: UnsafePointer<CChar>?, _ options: UnsafePointer<group_options>?,
    _ result: UnsafeMutablePointer<UnsafeMutablePointer<group_content>?>?, _ error: ErrorPointer?
) -> group_status {
    unsafe answering("read", error) {
        let opened = try unsafe OpenedContainer.of(container)
        let options = try unsafe Options(options, "read")
        let path = try unsafe itemPath(path, "read")
        try unsafe set(result) {
            try unsafe content(opened.coordinator(options).readVersion(path, timeout: options.timeout))
        }
    }
}

/// Makes a change of one item, and sets its result.
private func change(
    _ operation: String, _ container: OpaquePointer?, _ path: UnsafePointer<CChar>?,
    _ options: UnsafePointer<group_options>?, _ result: UnsafeMutablePointer<group_result>?, _ error: ErrorPointer?,
    _ body: (BlockingCoordinator, ItemPath, Options) throws -> WriteResult
) -> group_status {
    unsafe answering(operation, error) {
        let opened = try unsafe OpenedContainer.of(container)
        let options = try unsafe Options(options, operation)
        let path = try unsafe itemPath(path, operation)
        unsafe set(result, try body(opened.coordinator(options), path, options))
    }
}

@c @implementation package func group_write(
    _ container: OpaquePointer?, _ path: UnsafePointer<CChar>?, _ data: UnsafeRawPointer?, _ length: Int,
    _ options: UnsafePointer<group_options>?, _ result: UnsafeMutablePointer<group_result>?, _ error: ErrorPointer?
) -> group_status {
    unsafe change("write", container, path, options, result, error) { coordinator, path, options in
        try coordinator.write(
            bytes: unsafe bytes(data, length, "write"), to: path, durability: options.durability,
            if: options.condition, mode: options.mode, timeout: options.timeout)
    }
}

@c @implementation package func group_remove(
    _ container: OpaquePointer?, _ path: UnsafePointer<CChar>?, _ options: UnsafePointer<group_options>?,
    _ result: UnsafeMutablePointer<group_result>?, _ error: ErrorPointer?
) -> group_status {
    unsafe change("remove", container, path, options, result, error) { coordinator, path, options in
        try coordinator.remove(
            path, recursively: options.recursively, durability: options.durability, if: options.condition,
            timeout: options.timeout)
    }
}

@c @implementation package func group_move(
    _ container: OpaquePointer?, _ path: UnsafePointer<CChar>?, _ destination: UnsafePointer<CChar>?,
    _ options: UnsafePointer<group_options>?, _ result: UnsafeMutablePointer<group_result>?, _ error: ErrorPointer?
) -> group_status {
    unsafe change("move", container, path, options, result, error) { coordinator, path, options in
        try coordinator.move(
            path, to: unsafe itemPath(destination, "move"), replacing: options.replacing,
            durability: options.durability, if: options.condition, timeout: options.timeout)
    }
}

@c @implementation package func group_copy(
    _ container: OpaquePointer?, _ path: UnsafePointer<CChar>?, _ destination: UnsafePointer<CChar>?,
    _ options: UnsafePointer<group_options>?, _ result: UnsafeMutablePointer<group_result>?, _ error: ErrorPointer?
) -> group_status {
    unsafe change("copy", container, path, options, result, error) { coordinator, path, options in
        try coordinator.copy(
            path, to: unsafe itemPath(destination, "copy"), recursively: options.recursively,
            replacing: options.replacing, durability: options.durability, timeout: options.timeout)
    }
}

@c @implementation package func group_create_directory(
    _ container: OpaquePointer?, _ path: UnsafePointer<CChar>?, _ options: UnsafePointer<group_options>?,
    _ result: UnsafeMutablePointer<group_result>?, _ error: ErrorPointer?
) -> group_status {
    unsafe change("create directory", container, path, options, result, error) { coordinator, path, options in
        try coordinator.createDirectory(path, durability: options.durability, timeout: options.timeout)
    }
}

/// The new content of an update, as long as its callback runs.
private final class Output {
    var content: [UInt8]?
}

@c @implementation package func group_output_set(
    _ output: OpaquePointer?, _ data: UnsafeRawPointer?, _ length: Int
) {
    guard let output = unsafe output, let content = try? unsafe bytes(data, length, "update") else { return }
    unsafe Unmanaged<Output>.fromOpaque(UnsafeRawPointer(output)).takeUnretainedValue().content = content
}

@c @implementation package func group_update(
    _ container: OpaquePointer?, _ path: UnsafePointer<CChar>?, _ function: group_update_function?,
    _ context: UnsafeMutableRawPointer?, _ options: UnsafePointer<group_options>?,
    _ result: UnsafeMutablePointer<group_result>?, _ error: ErrorPointer?
) -> group_status {
    unsafe change("update", container, path, options, result, error) { coordinator, path, options in
        guard let function = unsafe function else { throw invalid("update", nil, "the function is NULL") }
        return try coordinator.coordinate(
            .writing(path, .forMerging), durability: options.durability, timeout: options.timeout
        ) { access in
            let present = try access.readBytesIfPresent(path)
            let output = Output()
            let status = withExtendedLifetime(output) {
                let place = unsafe OpaquePointer(Unmanaged.passUnretained(output).toOpaque())
                guard let present else { return unsafe function(context, nil, 0, place) }
                // An empty array has no address, and NULL would mean that there is no item.
                return unsafe (present + [0]).withUnsafeBufferPointer {
                    unsafe function(context, $0.baseAddress, present.count, place)
                }
            }
            if status != 0 { throw Outcome.refused }
            guard let content = output.content else { return .unchanged }
            return try access.write(bytes: content, to: path, mode: options.mode)
        }
    }
}

@c @implementation package func group_list(
    _ container: OpaquePointer?, _ path: UnsafePointer<CChar>?,
    _ items: UnsafeMutablePointer<UnsafeMutablePointer<group_items>?>?, _ error: ErrorPointer?
) -> group_status {
    unsafe answering("list", error) {
        let opened = try unsafe OpenedContainer.of(container)
        let directory = try unsafe path.map { (path) throws(CoordinationError) in try unsafe itemPath(path, "list") }
        try unsafe set(items) {
            let found = try opened.container.items(in: directory)
            return try unsafe list(
                found.map {
                    ListedItem(
                        path: $0.path.bytes, length: $0.size, modifiedAt: nanoseconds($0.modifiedAt),
                        type: $0.type.number)
                })
        }
    }
}

/// An item, or a key, of a list.
struct ListedItem {
    var path: [UInt8]
    var length: UInt64 = 0
    var modifiedAt: Int64 = 0
    var type: Int32 = 0
}

func list(_ found: [ListedItem]) throws(CoordinationError) -> UnsafeMutablePointer<group_items> {
    let room = unsafe found.reduce(found.count * MemoryLayout<group_item>.stride) { $0 + $1.path.count + 1 }
    guard var block = unsafe Block<group_items>(room: room) else { throw noMemory("list") }
    let items = unsafe block.array(of: group_item.self, count: found.count)
    for (index, item) in found.enumerated() {
        unsafe items?[index] = unsafe group_item(
            path: block.path(item.path), length: item.length, modified_at: item.modifiedAt, type: item.type)
    }
    return unsafe block.finish(group_items(items: items.map { unsafe UnsafePointer($0) }, count: found.count))
}

@c @implementation package func group_items_free(_ items: UnsafeMutablePointer<group_items>?) { unsafe release(items) }
