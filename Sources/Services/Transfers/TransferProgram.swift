package import GroupContainer
import GroupSystemCalls

extension SoleProcess.Work {
    /// The container's transfers.
    package static let transfers = Self("transfers", byte: 6)
}

/// Starting the program that makes the transfers.
enum TransferProgram {
    private static let name = "group-transfer"
    private static let variable = "GROUP_TRANSFER"

    /// Returns the command for a container. Errors: `notFound` where the program is not installed
    static func command(_ given: String?, for container: Container) throws(CoordinationError) -> [[UInt8]] {
        guard
            let program = given.map({ Array($0.utf8) }) ?? environmentValue(variable).map({ Array($0.utf8) }) ?? find()
        else {
            throw CoordinationError(
                .notFound, operation: "transfer", item: name,
                reason: "the program is neither beside this one nor in PATH",
                remedy: .init(.setEnvironment, "install it, or set \(variable) to its path"))
        }
        return [program, Array("run".utf8), container.path.bytes]
    }

    private static func find() -> [UInt8]? {
        var directories: [[UInt8]] = []
        if let own = programPath(), let slash = own.lastIndex(of: UInt8(ascii: "/")) {
            directories.append(Array(own[..<slash]))
        }
        directories += (environmentValue("PATH") ?? "").split(separator: ":").map { Array($0.utf8) }
        return directories.map { $0 + [UInt8(ascii: "/")] + Array(name.utf8) }.first { path in
            (try? FileDescriptor.open(path: path, [.pathOnly]).status())?.isRegularFile == true
        }
    }

    /// Starts the program where it does not run: as a service of the user's systemd, so that it outlives the service of
    /// its caller; where there is none, in a session of its own. A program that finds another one ends.
    static func start(_ words: [[UInt8]], for container: Container) throws(CoordinationError) {
        if try SoleProcess.isThere(for: .transfers, of: container) { return }
        do throws(Errno) {
            if hasUserServices, try runAsService(words) { return }
            try ChildProcess.startDetached(words)
        } catch {
            throw CoordinationError(
                error, operation: "start", item: words.first.map { String(decoding: $0, as: UTF8.self) } ?? name)
        }
    }

    private static var hasUserServices: Bool {
        guard let directory = environmentValue("XDG_RUNTIME_DIR"), directory.hasPrefix("/") else { return false }
        return (try? FileDescriptor.open(path: Array("\(directory)/systemd/private".utf8), [.pathOnly])) != nil
    }

    private static func runAsService(_ words: [[UInt8]]) throws(Errno) -> Bool {
        let start = ["systemd-run", "--user", "--quiet", "--collect", "--"].map { Array($0.utf8) }
        do throws(Errno) {
            return try ChildProcess.start(start + words, input: [], variables: []).wait() == 0
        } catch {
            if error == .noSuchEntry { return false }
            throw error
        }
    }
}
