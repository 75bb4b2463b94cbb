#if !InotifyTools
    import Glibc

    /// The source of events directly from the kernel, for users who cannot accept libinotifytools' license.
    struct InotifySource: ~Copyable {
        private let queue: FileDescriptor
        private var buffer = [UInt8](repeating: 0, count: 65_536)

        var descriptor: Int32 { queue.number }

        /// System calls: inotify_init1(2)
        init() throws(Errno) {
            InotifyNumber.release()
            queue = FileDescriptor(owning: try check { inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK)) })
        }

        /// System calls: read(2)
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
