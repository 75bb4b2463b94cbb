package import CGroupInterface
import GroupContainer
import Widgets

@c @implementation package func group_refresh_begin(
    _ container: OpaquePointer?, _ kind: UnsafePointer<CChar>?, _ interests: UnsafePointer<UnsafePointer<CChar>?>?,
    _ isReload: Bool, _ options: UnsafePointer<group_options>?, _ refresh: UnsafeMutablePointer<OpaquePointer?>?,
    _ isNeeded: UnsafeMutablePointer<Bool>?, _ error: ErrorPointer?
) -> group_status {
    unsafe answering("refresh", error) {
        let opened = try unsafe OpenedContainer.of(container)
        let options = try unsafe Options(options, "refresh")
        let kind = try unsafe name(kind, "refresh", "the kind")
        let texts = try unsafe list(interests, "refresh", "the interests") ?? []
        let interests = try texts.map { bytes throws(CoordinationError) in
            guard let text = String(validating: bytes, as: UTF8.self), let interest = WidgetInterest(text: text) else {
                throw invalid("refresh", kind, "an interest is a pattern, metadata:PATTERN or defaults:SUITE:KEY")
            }
            return interest
        }
        guard let isNeeded = unsafe isNeeded else {
            throw invalid("refresh", kind, "the place for the answer is NULL")
        }
        try unsafe set(refresh) {
            let begun = try HeldRefresh(
                ofKind: kind, in: opened.container, interests: interests, isReload: isReload, timeout: options.timeout,
                orUntil: options.cancellation)
            unsafe isNeeded.pointee = begun.isNeeded
            return begun.isNeeded ? unsafe Handles.add(begun) : nil
        }
    }
}

@c @implementation package func group_refresh_last(
    _ refresh: OpaquePointer?, _ snapshot: UnsafeMutablePointer<UnsafeMutablePointer<group_content>?>?,
    _ error: ErrorPointer?
) -> group_status {
    unsafe answering("refresh", error) {
        let begun = try unsafe Handles.object(refresh, as: HeldRefresh.self)
        try unsafe set(snapshot) {
            guard let last = begun.lastSnapshot else { throw Outcome.nothing }
            return try unsafe content(Versioned(value: last, generation: Generation(rawValue: 0)))
        }
    }
}

@c @implementation package func group_refresh_finish(
    _ refresh: OpaquePointer?, _ data: UnsafeRawPointer?, _ length: Int, _ deliver: group_deliver_function?,
    _ context: UnsafeMutableRawPointer?, _ isNew: UnsafeMutablePointer<Bool>?, _ error: ErrorPointer?
) -> group_status {
    unsafe answering("refresh", error) {
        let begun = try unsafe Handles.object(refresh, as: HeldRefresh.self)
        let snapshot = try unsafe bytes(data, length, "refresh")
        let result = try begun.finish(rendered: snapshot) { snapshot in
            guard let deliver = unsafe deliver else { return }
            let status = unsafe (snapshot + [0]).withUnsafeBufferPointer {
                unsafe deliver(context, $0.baseAddress, snapshot.count)
            }
            if status != 0 { throw Outcome.refused }
        }
        unsafe Handles.remove(refresh, as: HeldRefresh.self)
        unsafe isNew?.pointee = result == .newData
    }
}

@c @implementation package func group_refresh_close(_ refresh: OpaquePointer?) {
    unsafe Handles.remove(refresh, as: HeldRefresh.self)
}
