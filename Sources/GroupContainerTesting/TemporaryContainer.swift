public import GroupContainer
import GroupSystemCalls

/// A container for one test, in a fresh directory of its own, which no other test can come across.
///
/// It is deleted, with all that is in its directory, when nothing refers to this value any more: keep it, as a property
/// of a suite or an `XCTestCase`, for as long as the test uses its `container`; or let `withTemporaryContainer` keep
/// it.
public final class TemporaryContainer: Sendable {
    /// The container, of which this process is a member.
    public let container: Container
    /// The fresh directory around it: for a test's other files, and the containers of other identifiers.
    public let directory: String
    /// Where the container is: what a command's GROUP argument is to be.
    public let path: String
    private let name: [UInt8]
    private let place: FileDescriptor

    /// Makes it below `$TMPDIR`, or `/tmp`, unless a place is named: a directory in which containers can be. Errors: as
    /// those of `Container(group:creating:)`.
    public init(group identifier: String = "group.test", in place: String? = nil) throws(CoordinationError) {
        let parent = place ?? environmentValue("TMPDIR").flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
        let name = "group-container-test-\(processIdentifier())-\(String(randomWord(), radix: 36))"
        let directory = "\(parent)/\(name)"
        do throws(Errno) {
            self.place = try FileDescriptor.open(path: Array(parent.utf8), [.reading, .directory])
            try self.place.createDirectory(Array(name.utf8), mode: 0o700)
        } catch {
            throw CoordinationError.temporaryDirectory(directory, error)
        }
        (self.directory, path, self.name) = (directory, "\(directory)/\(identifier)", Array(name.utf8))
        do throws(CoordinationError) {
            container = try Container(group: identifier, below: directory, creating: true)
        } catch {
            // What is never made is never ended.
            try? self.place.removeTree(Array(name.utf8))
            throw error
        }
    }

    deinit { delete() }

    /// For the environment of a process that a test starts: there, the container is the one of its identifier.
    public var environment: [String: String] { ["GROUP_CONTAINERS_HOME": directory] }

    /// Deletes the directory now. A process that has the container open goes on with what is nowhere any more.
    public func delete() {
        // This process may be about to write something into it, as a member.
        for _ in 0..<100 where (try? place.removeTree(name)) == nil {}
    }
}

/// Runs `body` with a container of its own, which is deleted when `body` has ended, however it ends.
public func withTemporaryContainer<Answer>(
    group identifier: String = "group.test", _ body: (TemporaryContainer) async throws -> Answer
) async throws -> Answer {
    let temporary = try TemporaryContainer(group: identifier)
    defer { temporary.delete() }
    return try await body(temporary)
}
