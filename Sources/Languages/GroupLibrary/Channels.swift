package import CGroupInterface
import GroupContainer

/// A channel that a C program has opened.
private final class OpenedChannel: Sendable {
    let channel: GroupChannel
    init(_ channel: GroupChannel) { self.channel = channel }
}

/// A listener that a C program has opened.
private final class OpenedListener: Sendable {
    let listener: GroupListener
    let follower: PolledFollower<GroupMessage>

    init(_ listener: GroupListener) throws(CoordinationError) {
        self.listener = listener
        follower = try PolledFollower(listener)
    }
}

@c @implementation package func group_channel_open(
    _ container: OpaquePointer?, _ channelName: UnsafePointer<CChar>?,
    _ channel: UnsafeMutablePointer<OpaquePointer?>?, _ error: ErrorPointer?
) -> group_status {
    unsafe answering("open", error) {
        let opened = try unsafe OpenedContainer.of(container)
        let name = try unsafe name(channelName, "open", "the channel")
        try unsafe set(channel) {
            unsafe Handles.add(
                OpenedChannel(try GroupChannel(opened.container, name: name, purpose: opened.purpose)))
        }
    }
}

@c @implementation package func group_channel_close(_ channel: OpaquePointer?) {
    unsafe Handles.remove(channel, as: OpenedChannel.self)
}

@c @implementation package func group_channel_post(
    _ channel: OpaquePointer?, _ data: UnsafeRawPointer?, _ length: Int, _ options: UnsafePointer<group_options>?,
    _ number: UnsafeMutablePointer<UInt64>?, _ error: ErrorPointer?
) -> group_status {
    unsafe answering("post", error) {
        let opened = try unsafe Handles.object(channel, as: OpenedChannel.self)
        let options = try unsafe Options(options, "post", durability: .relaxed)
        let content = try unsafe bytes(data, length, "post")
        let new =
            unsafe data == nil
            ? try opened.channel.signal(durability: options.durability)
            : try opened.channel.post(bytes: content, durability: options.durability)
        unsafe number?.pointee = new
    }
}

@c @implementation package func group_channel_listen(
    _ channel: OpaquePointer?, _ listenerName: UnsafePointer<CChar>?, _ fromStart: Bool,
    _ listener: UnsafeMutablePointer<OpaquePointer?>?, _ error: ErrorPointer?
) -> group_status {
    unsafe answering("listen", error) {
        let opened = try unsafe Handles.object(channel, as: OpenedChannel.self)
        let name = try unsafe name(listenerName, "listen", "the name")
        try unsafe set(listener) {
            let listener = try opened.channel.listener(named: name, since: fromStart ? .start : .now)
            return unsafe Handles.add(try OpenedListener(listener))
        }
    }
}

@c @implementation package func group_listener_descriptor(_ listener: OpaquePointer?) -> Int32 {
    (try? unsafe Handles.object(listener, as: OpenedListener.self).follower.fileDescriptor) ?? -1
}

@c @implementation package func group_listener_next(
    _ listener: OpaquePointer?, _ timeout: Int64, _ cancellation: OpaquePointer?,
    _ message: UnsafeMutablePointer<UnsafeMutablePointer<group_message>?>?, _ error: ErrorPointer?
) -> group_status {
    unsafe next(
        { () throws(CoordinationError) in try unsafe Handles.object(listener, as: OpenedListener.self).follower },
        timeout, cancellation, message, error
    ) { (message: GroupMessage) throws(CoordinationError) in try unsafe describe(message) }
}

private func describe(_ message: GroupMessage) throws(CoordinationError) -> UnsafeMutablePointer<group_message> {
    let room = (message.bytes?.count ?? 0) + message.author.purpose.utf8.count + 2
    guard var block = unsafe Block<group_message>(room: room) else { throw noMemory("listen") }
    return unsafe block.finish(
        unsafe group_message(
            number: message.number, data: block.bytes(message.bytes),
            length: message.bytes?.count ?? 0, time: nanoseconds(message.time),
            author_process: message.author.processIdentifier, author_purpose: block.text(message.author.purpose)))
}

@c @implementation package func group_message_free(_ message: UnsafeMutablePointer<group_message>?) {
    unsafe release(message)
}

@c @implementation package func group_listener_acknowledge(
    _ listener: OpaquePointer?, _ number: UInt64, _ options: UnsafePointer<group_options>?, _ error: ErrorPointer?
) -> group_status {
    unsafe answering("acknowledge", error) {
        let opened = try unsafe Handles.object(listener, as: OpenedListener.self)
        let options = try unsafe Options(options, "acknowledge", durability: .relaxed)
        try opened.listener.acknowledge(upTo: number, durability: options.durability)
    }
}

@c @implementation package func group_listener_close(_ listener: OpaquePointer?) {
    unsafe Handles.remove(listener, as: OpenedListener.self)
}
