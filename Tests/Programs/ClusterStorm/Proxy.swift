import Foundation
import Glibc
import GroupSystemCalls

/// The way of one machine to one node of etcd: a server of TCP at an address of its own, which hands everything on, and
/// fails as a network does.
final class Proxy: Sendable {
    enum Mode: String, CaseIterable {
        case open
        /// Connections are closed, and new ones are closed at once.
        case cut
        /// Nothing gets through, in neither direction, and comes later.
        case stalled
        /// Requests get through, and answers are lost.
        case deaf
    }

    private struct State {
        var mode = Mode.open
        var connections: [Int32: Bool] = [:]
    }

    let host: String
    private let goal: String
    private let state = Guarded(State())
    /// Wakes the threads that wait for the end of a stall.
    private let changed = NSCondition()

    static let port: UInt16 = 2379

    struct Failed: Error {
        var call: String
        var code: Int32
    }

    init(_ host: String, to goal: String) throws {
        self.host = host
        self.goal = goal
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var yes: Int32 = 1
        unsafe setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        let answer = unsafe Self.withAddress(host) {
            unsafe bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
        if answer != 0 || listen(listener, 64) != 0 { throw Failed(call: "listen at \(host)", code: errno) }
        Thread.detachNewThread { [self] in serve(listener) }
    }

    private static func withAddress<Answer>(_ host: String, _ body: (UnsafePointer<sockaddr>) -> Answer) -> Answer {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        unsafe inet_pton(AF_INET, host, &address.sin_addr)
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0) }
        }
    }

    var mode: Mode { state.withLock { $0.mode } }

    func set(_ mode: Mode) {
        changed.withLock {
            state.withLock { state in
                // What has lost a part of its bytes cannot go on.
                if mode == .cut || state.mode == .deaf {
                    for descriptor in state.connections.keys { shutdown(descriptor, Int32(SHUT_RDWR)) }
                }
                state.mode = mode
            }
            changed.broadcast()
        }
    }

    private func serve(_ listener: Int32) {
        while true {
            let client = accept(listener, nil, nil)
            if client < 0 { continue }
            _ = fcntl(client, F_SETFD, FD_CLOEXEC)
            if mode == .cut {
                close(client)
                continue
            }
            Thread.detachNewThread { [self] in connect(client) }
        }
    }

    private func connect(_ client: Int32) {
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let answer = unsafe Self.withAddress(goal) {
            unsafe Glibc.connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
        if answer != 0 {
            close(client)
            close(server)
            return
        }
        for descriptor in [client, server] {
            var yes: Int32 = 1
            unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        }
        state.withLock { state in
            state.connections[client] = true
            state.connections[server] = true
        }
        let isBack = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [self] in
            pump(from: server, to: client, isAnswer: true)
            isBack.signal()
        }
        pump(from: client, to: server, isAnswer: false)
        isBack.wait()
        state.withLock { state in
            state.connections[client] = nil
            state.connections[server] = nil
            close(client)
            close(server)
        }
    }

    private func pump(from source: Int32, to goal: Int32, isAnswer: Bool) {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        copying: while true {
            let count = unsafe bytes.withUnsafeMutableBytes { unsafe recv(source, $0.baseAddress, $0.count, 0) }
            if count <= 0 { break }
            changed.lock()
            while mode == .stalled { changed.wait() }
            let isLost = isAnswer && mode == .deaf
            changed.unlock()
            if isLost { continue }
            var place = 0
            while place < count {
                let sent = unsafe bytes.withUnsafeBytes { buffer in
                    unsafe send(goal, buffer.baseAddress?.advanced(by: place), count - place, Int32(MSG_NOSIGNAL))
                }
                if sent <= 0 { break copying }
                place += sent
            }
        }
        shutdown(source, Int32(SHUT_RDWR))
        shutdown(goal, Int32(SHUT_RDWR))
    }
}
