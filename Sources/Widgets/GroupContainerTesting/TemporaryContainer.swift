public import GroupContainer
import GroupSystemCalls

/// A container for one test, in a new directory of its own that no other test uses.
///
/// The directory is deleted, with everything in it, when the last reference to this value ends. Keep the value, as a
/// property of a suite or an `XCTestCase`, for as long as the test uses its `container`; or use
/// `withTemporaryContainer`.
public final class TemporaryContainer: Sendable {
    /// The container, of which this process is a member.
    public let container: Container
    /// The new directory around the container, for a test's other files, and containers of other identifiers.
    public let directory: String
    /// The path of the container, for a command's GROUP argument.
    public let path: String
    private let name: [UInt8]
    private let place: FileDescriptor

    /// Creates the container below `place`, a directory in which containers can be; by default `$TMPDIR`, or `/tmp`.
    /// Errors: as those of `Container(group:creating:)`.
    public init(group identifier: String = "group.test", in place: String? = nil) throws(CoordinationError) {
        let parent = place ?? environmentValue("TMPDIR").flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
        let name = "group-container-test-\(processIdentifier())-\(String(randomWord(), radix: 36))"
        let directory = "\(parent)/\(name)"
        do throws(Errno) {
            self.place = try FileDescriptor.open(path: Array(parent.utf8), [.reading, .directory])
            try self.place.createDirectory(Array(name.utf8), mode: 0o700)
        } catch {
            var failure = CoordinationError(error, operation: "make the temporary directory", item: directory)
            if error == .noSuchEntry {
                failure.remedy = CoordinationError.Remedy(.makeDirectory, "create the directory around it first")
            }
            throw failure
        }
        self.directory = directory
        path = "\(directory)/\(identifier)"
        self.name = Array(name.utf8)
        do throws(CoordinationError) {
            container = try Container(group: identifier, below: directory, creating: true)
        } catch {
            // `deinit` does not run where `init` throws.
            try? self.place.removeTree(Array(name.utf8))
            throw error
        }
    }

    deinit { delete() }

    /// Variables for a process that a test starts, with which it finds the container by its identifier.
    public var environment: [String: String] { ["GROUP_CONTAINERS_HOME": directory] }

    /// Deletes the directory now. A process that has the container open keeps the deleted files.
    public func delete() {
        // This process, as a member, may be about to write into the directory.
        for _ in 0..<100 where (try? place.removeTree(name)) == nil {}
    }
}

/// Runs `body` with a container of its own, which is deleted when `body` has returned or thrown.
public func withTemporaryContainer<Answer>(
    group identifier: String = "group.test", _ body: (TemporaryContainer) async throws -> Answer
) async throws -> Answer {
    let temporary = try TemporaryContainer(group: identifier)
    defer { temporary.delete() }
    return try await body(temporary)
}
