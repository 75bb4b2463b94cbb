import Extensions
import FoundationEssentials
import GroupContainer
import GroupProtocolLines
import GroupSystemCalls

/// What a request needs: the extension, its input, and where its messages go.
struct ExtensionTask: Sendable {
    let manifest: ExtensionManifest
    let items: [ExtensionItem]
    let deadline: Duration
    let log: @Sendable (String) -> Void
    let open: @Sendable (URL) -> Void
    /// Called with the process's identifier when it was started.
    var started: @Sendable (Int32) -> Void = { _ in }

    /// Runs the extension, blocking, and returns when nothing of its process group is left. The calling thread must not
    /// end before: the kernel would kill the process.
    func run(orUntil cancellation: Cancellation) -> ExtensionResult {
        let until = Deadline(after: deadline)
        do {
            let poller = try Poller()
            return try cancellation.during(end: { poller.wake() }) { () throws -> ExtensionResult in
                if cancellation.isCancelled { return .failed(ExtensionFailure(.cancelledByHost)) }
                var process = try ExtensionProcess(self, poller, until)
                started(process.identifier)
                return process.serve(orUntil: cancellation)
            }
        } catch let failure as ExtensionFailure {
            return .failed(failure)
        } catch {
            return .failed(ExtensionFailure(.hostFault("\(error)")))
        }
    }

    /// The first line of the input, and the files that the process inherits as its descriptors 3, 4, …, each opened
    /// once more, so that no other process shares its offset. Errors: `notStarted`
    func request() throws(ExtensionFailure) -> (line: [UInt8], files: [AttachedFile]) {
        var files: [AttachedFile] = []
        var lines: [ItemLine] = []
        do throws(AttachmentError) {
            for item in items {
                lines.append(
                    try ItemLine(item) { file throws(AttachmentError) in
                        files.append(try AttachedFile(reopening: file.descriptor))
                        return Int32(2 + files.count)
                    })
            }
        } catch {
            throw notStarted("\(error)")
        }
        let message = ExtensionHostMessage.begin(
            ExtensionHostMessage.Request(
                point: manifest.point, extension: manifest.identifier, items: lines, deadline: deadline / .seconds(1)))
        guard let line = ProtocolLine.encoded(message) else {
            throw notStarted("the items contain a value that JSON cannot hold")
        }
        if line.count > ProtocolLine.largest {
            throw notStarted(
                "the items need \(line.count) bytes, and a message has at most \(ProtocolLine.largest); attach large contents as files"
            )
        }
        return (line, files)
    }

    /// The variables of the process besides those of this one. Errors: `notStarted` where the container is not there.
    func variables() throws(ExtensionFailure) -> [(name: String, value: [UInt8])] {
        [
            // Empty where there is none: that of this process is not the extension's.
            ("GROUP_CONTAINER", try container()),
            ("EXTENSION_POINT", Array(manifest.point.rawValue.utf8)),
            ("EXTENSION_IDENTIFIER", Array(manifest.identifier.utf8)),
        ]
    }

    private func container() throws(ExtensionFailure) -> [UInt8] {
        guard let group = manifest.group else { return [] }
        let path: [UInt8]
        do throws(CoordinationError) {
            path = try (group.contains("/") ? .path(Array(group.utf8)) : ContainerName.identifier(group)).location()
        } catch {
            throw ExtensionFailure(.notStarted(file: group, cause: "\(error)"))
        }
        do throws(Errno) {
            _ = try FileDescriptor.open(path: path + Array("/.group".utf8), [.pathOnly, .directory])
        } catch {
            let file = String(decoding: path, as: UTF8.self)
            throw ExtensionFailure(
                .notStarted(
                    file: file,
                    cause: "the container of its group is not there (\(error)): start its app once, which creates it"))
        }
        return path
    }

    func notStarted(_ cause: String) -> ExtensionFailure {
        ExtensionFailure(.notStarted(file: manifest.executable, cause: cause))
    }
}
