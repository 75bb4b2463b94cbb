import GroupLocking
import GroupSystemCalls

/// Notices that `Container.status()` may return something else: for an event loop, by a descriptor. While nothing
/// happens, it makes no system call. For one thread.
///
/// Members note their changes at the status's wake word of the member table. The end of a process that was killed is
/// noticed by inotify: the kernel closes its files.
package struct StatusWatch: ~Copyable {
    private let container: OpenContainer
    private let bell: Bell
    private let ends: PathWatch
    private let poller: Poller

    /// Can be read from the beginning, and when the status may have changed.
    package var descriptor: Int32 { poller.descriptor }

    /// Begins to watch. Error: `limitReached` where there may be no further descriptor, thread or inotify instance.
    /// System calls: epoll_create1(2), eventfd(2), inotify_init1(2), clone(2)
    package init(_ container: Container) throws(CoordinationError) {
        let parts: (bell: Bell, ends: PathWatch, poller: Poller)
        let what = "the status of \(container.path)"
        do throws(Errno) {
            parts = (try Bell(), try PathWatch.ofClosing(), try Poller())
            parts.ends.watch([container.opened.directory.path + Array("/.group/members".utf8)])
            try parts.poller.add(parts.bell.descriptor)
            try parts.poller.add(parts.ends.descriptor)
            try parts.bell.start()
        } catch {
            // The kernel says the same of open files and of inotify instances.
            if error == .tooManyFiles, (try? container.opened.directory.root.checkRoom(forFiles: 2)) != nil {
                throw CoordinationError(
                    .limitReached, operation: "watch", item: what, reason: "this user has too many inotify instances",
                    remedy: .init(
                        .raiseInotifyInstances, "end other watchers, or raise the limit fs.inotify.max_user_instances"),
                    cause: error)
            }
            throw CoordinationError(error, operation: "watch", item: what)
        }
        self.container = container.opened
        bell = parts.bell
        ends = parts.ends
        poller = parts.poller
    }

    deinit { bell.end() }

    /// Makes the descriptor wait for the next change; to be called before the status is read. Returns true if a process
    /// may have been killed: the kernel closes its files a moment before it ends its locks, so the status is to be read
    /// once more soon. Error: `notFound` if the container was removed or moved. System calls: read(2), and nine that
    /// look for the container
    package func begin() throws(CoordinationError) -> Bool {
        let wait = container.memberTable.watchStatus()
        bell.arm(.init(waiter: StatusWaiter(wait: wait), due: nil, look: { wait.isOver }))
        let hasEnded = ends.drain()
        try container.checkIsThere("watch")
        return hasEnded
    }
}

/// The status's wake word.
private struct StatusWaiter: FeedWaiter {
    let wait: MemberTable.StatusWait

    func wait(atMost limit: Int64?, since seen: Interruption, unless hasMore: () -> Bool) {
        if !hasMore() { wait.wait(atMost: limit, since: seen) }
    }

    func wait(until moment: Int64?, unless hasMore: @escaping @Sendable () -> Bool) async {}
}
