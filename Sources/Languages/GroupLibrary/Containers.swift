package import CGroupInterface
import GroupContainer

/// A container that a C program has opened, and its name in it.
final class OpenedContainer: Sendable {
    let container: Container
    let purpose: String

    init(_ container: Container, purpose: String) {
        self.container = container
        self.purpose = purpose
    }

    /// Returns the coordinator for a call.
    func coordinator(_ options: Options) -> BlockingCoordinator {
        let coordinator = container.coordinator(purpose: purpose).blocking
        return options.cancellation.map { coordinator.ending(with: $0) } ?? coordinator
    }

    static func of(_ handle: OpaquePointer?) throws(CoordinationError) -> OpenedContainer {
        try unsafe Handles.object(handle, as: OpenedContainer.self)
    }
}

private struct OpeningOptions {
    var flags: UInt32 = 0
    var timeout: Duration? = Container.openingTimeout
    var purpose = Self.programName
    var unixGroup: String?

    private static var programName: String {
        let path = CommandLine.arguments.first ?? ""
        return path.split(separator: "/").last.map(String.init) ?? "program"
    }

    init(_ options: UnsafePointer<group_open_options>?) throws(CoordinationError) {
        guard let options = unsafe options else { return }
        unsafe try checkSize(unsafe options.pointee.size, MemoryLayout<group_open_options>.size, "open")
        flags = unsafe options.pointee.flags
        if flags & ~UInt32(GROUP_CREATE | GROUP_ADOPT) != 0 { throw invalid("open", nil, "\(flags) are no flags") }
        timeout = try limit(unsafe options.pointee.timeout, "open")
        if let name = try unsafe text(options.pointee.purpose, "open", "the purpose") { purpose = name }
        unixGroup = try unsafe text(options.pointee.unix_group, "open", "the Unix group")
    }

    var creating: Bool { flags & UInt32(GROUP_CREATE) != 0 }
    var adopting: Bool { flags & UInt32(GROUP_ADOPT) != 0 }
}

@c @implementation package func group_open(
    _ path: UnsafePointer<CChar>?, _ options: UnsafePointer<group_open_options>?,
    _ container: UnsafeMutablePointer<OpaquePointer?>?, _ error: ErrorPointer?
) -> group_status {
    unsafe answering("open", error) {
        let options = try unsafe OpeningOptions(options)
        let path = try unsafe bytes(path, "open", "the path")
        try unsafe set(container) {
            let opened: Container
            if let absolute = AbsolutePath(bytes: path) {
                opened = try Container(
                    path: absolute, creating: options.creating, adopting: options.adopting,
                    unixGroup: options.unixGroup, timeout: options.timeout)
            } else {
                guard let text = String(validating: path, as: UTF8.self) else {
                    throw invalid("open", nil, "a relative path is UTF-8; an absolute one need not be")
                }
                opened = try Container(
                    path: text, creating: options.creating, adopting: options.adopting, unixGroup: options.unixGroup,
                    timeout: options.timeout)
            }
            return unsafe Handles.add(OpenedContainer(opened, purpose: options.purpose))
        }
    }
}

@c @implementation package func group_open_identifier(
    _ identifier: UnsafePointer<CChar>?, _ options: UnsafePointer<group_open_options>?,
    _ container: UnsafeMutablePointer<OpaquePointer?>?, _ error: ErrorPointer?
) -> group_status {
    unsafe answering("open", error) {
        let options = try unsafe OpeningOptions(options)
        if options.adopting { throw invalid("open", nil, "only a container at a path can adopt contents") }
        let identifier = try unsafe name(identifier, "open", "the identifier")
        try unsafe set(container) {
            let opened = try Container(
                group: identifier, creating: options.creating, unixGroup: options.unixGroup, timeout: options.timeout)
            return unsafe Handles.add(OpenedContainer(opened, purpose: options.purpose))
        }
    }
}

@c @implementation package func group_close(_ container: OpaquePointer?) {
    unsafe Handles.remove(container, as: OpenedContainer.self)
}

@c @implementation package func group_container_path(
    _ container: OpaquePointer?, _ path: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ error: ErrorPointer?
) -> group_status {
    unsafe answering("look at", error) {
        let opened = try unsafe OpenedContainer.of(container)
        try unsafe set(path) {
            try unsafe copy(opened.container.path.bytes, "look at")
        }
    }
}

@c @implementation package func group_container_is_read_only(
    _ container: OpaquePointer?, _ isReadOnly: UnsafeMutablePointer<Bool>?, _ error: ErrorPointer?
) -> group_status {
    unsafe answering("look at", error) {
        let opened = try unsafe OpenedContainer.of(container)
        try unsafe set(isReadOnly) { opened.container.isReadOnly }
    }
}

/// The text lives as long as the library.
private nonisolated(unsafe) let versionText =
    try? unsafe copy(Array(GroupContainerVersion.package.utf8), "name the version")

@c @implementation package func group_version() -> UnsafePointer<CChar>? {
    unsafe versionText.map { unsafe UnsafePointer($0) }
}
