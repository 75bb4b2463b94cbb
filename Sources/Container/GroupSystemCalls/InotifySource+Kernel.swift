#if !InotifyTools
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Reads inotify events from the kernel without libinotifytools, for users who cannot accept its license.
struct InotifySource: ~Copyable {
    static let descriptorLimit: Int32? = nil
    private let queue: FileDescriptor
    private var buffer = [UInt8](repeating: 0, count: 65_536)

    var descriptor: Int32 { queue.number }

    /// Opens an inotify queue, at the reserved descriptor number (see `InotifyNumber`). System calls:
    /// inotify_init1(2)
    init() throws(Errno) {
        InotifyNumber.release()
        queue = FileDescriptor(owning: try check { inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK)) })
    }

    /// Returns the events that are ready. Stops reading once there are `limit` events or more. System calls: read(2)
    mutating func read(atMost limit: Int) throws(Errno) -> [InotifyEvent] {
        var events: [InotifyEvent] = []
        while events.count < limit {
            let count: Int
            do {
                count = try queue.read(into: &buffer)
            } catch {
                guard error == .tryAgain else { throw error }
                return events
            }
            unsafe buffer.withUnsafeBytes { bytes in
                var rest = unsafe bytes.prefix(count)
                while let head = unsafe UnsafeRawBufferPointer(rebasing: rest).baseAddress, unsafe !rest.isEmpty {
                    let length = Int(unsafe head.load(as: inotify_event.self).len)
                    unsafe events.append(InotifyEvent(head))
                    unsafe rest = rest.dropFirst(InotifyEvent.headSize + length)
                }
            }
        }
        return events
    }
}
#endif
