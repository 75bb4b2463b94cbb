import GroupBytes
import GroupSystemCalls

/// The facts about the path where a container should be.
struct LocationFacts: Equatable, Sendable {
    enum Situation: Equatable, Sendable {
        /// `.group` could be opened.
        case container
        /// The path does not exist; the first directory of it that is missing.
        case missing(String)
        /// The path is a directory without `.group`.
        case plainDirectory
        /// The rest of a container whose deletion was interrupted, and the directory in it that this user may not
        /// empty.
        case halfDeleted(RemovalObstacle?)
        /// The staging directory is missing, or is something else; which of the two.
        case noStaging(String)
        /// This user may not enter the container.
        case forbidden(PathObstacle.Barrier)
        /// The file system lacks something that is needed; what.
        case unsupported(String)
        case failed(String)
    }

    /// The name that the user gave.
    var name: String
    var path: String
    /// The environment variable that determined the path; nil where the user gave a path.
    var variable: String?
    /// The other paths where a container of that identifier exists.
    var elsewhere: [String] = []
    /// The containers with a similar identifier.
    var similar: [String] = []
    var situation: Situation

    var findings: [Finding] {
        switch situation {
        case .container: []
        case .missing(let directory):
            [
                missing(
                    directory == path
                        ? "there is no container at \(path)"
                        : "there is no container at \(path): \(directory) is missing")
            ]
        case .plainDirectory: [missing("\(path) is a directory, but no container: it has no .group in it")]
        case .halfDeleted(let obstacle):
            [
                Finding(
                    .deletionInterrupted, .error, item: path, "a deletion of the container was interrupted",
                    why: "what is left of it is of no use, and nothing can be made in its place",
                    remedy: (obstacle.map { "have user \($0.owner), or root, remove '\(printable($0.path))'; then " }
                        ?? "")
                        + "finish it: groupctl delete-group --yes \(name)")
            ]
        case .noStaging(let cause):
            [
                Finding(
                    .partDamaged, .error, item: ".group/staging", cause,
                    why: "nothing can be written: what is new is made there first",
                    remedy: "\(Finding.repair) makes it", repaired: "the directory was made")
            ]
        case .forbidden(let barrier):
            [
                Finding(
                    .notPermitted, .error, item: barrier.path,
                    "user \(barrier.user) may not enter it: it has mode \(PathObstacle.octal(barrier.mode)), of user \(barrier.owner) and group \(barrier.group)",
                    why: "nothing of the container can be read or followed",
                    remedy: barrier.isOwn
                        ? "give yourself permission: chmod u+rwx \(barrier.path)"
                        : barrier.isForGroup
                            ? "have user \(barrier.user) put into group \(barrier.group), and log in anew"
                            : "ask user \(barrier.owner) to share the container with a group: 'groupctl create --unix-group'"
                )
            ]
        case .unsupported(let cause):
            [
                Finding(
                    .fileSystemUnsupported, .error, item: path, cause,
                    why:
                        "members could not see each other: locks would not exclude each other, and changes would not arrive",
                    remedy: "put it on a local file system: ext4, xfs, btrfs, tmpfs")
            ]
        case .failed(let cause):
            [
                Finding(
                    .partDamaged, .error, item: path, cause, why: "the container cannot be opened",
                    remedy: "put back the file or directory that was there")
            ]
        }
    }

    private func missing(_ what: String) -> Finding {
        var detail = what
        if let variable { detail += "; '\(name)' is looked for there because of \(variable)" }
        let remedy: String =
            if !elsewhere.isEmpty {
                "one of that name stands at \(elsewhere.joined(separator: " and at ")): name it by that path, or set GROUP_CONTAINERS_HOME to the same for all processes"
            } else if !similar.isEmpty {
                "there is \(similar.joined(separator: ", ")); or make it with 'groupctl create'"
            } else {
                "check the name: every process must use the same; or make it with 'groupctl create'"
            }
        return Finding(
            .containerMissing, .error, item: path, detail,
            why: "a process that uses another name or path shares another container, and nothing of it arrives here",
            remedy: remedy)
    }
}

extension LocationFacts {
    /// Examines whether a container is at the path that its name means, and if not, why. Error: `invalidArgument` for
    /// a name that cannot be the name of a container.
    static func look(at name: ContainerName) throws(CoordinationError) -> (
        facts: LocationFacts, directory: ContainerDirectories?
    ) {
        let path = try name.location()
        var facts = LocationFacts(name: printable(name.bytes), path: printable(path), situation: .container)
        let isIdentifier = name.identifier != nil
        if isIdentifier { facts.variable = ContainerLocation.homes().first?.variable }
        do {
            return (facts, try ContainerDirectories(path: path, unixGroup: nil, creating: false))
        } catch {
            facts.situation = situation(of: path, code: error.code, cause: error.reason)
        }
        if isIdentifier { facts.lookAround(for: name.bytes) }
        return (facts, nil)
    }

    private static func isHalfDeleted(_ path: [UInt8]) -> Bool {
        guard let root = try? FileDescriptor.open(path: path, [.reading, .directory]) else { return false }
        return ContainerDirectories.hasRest(root)
    }

    /// Returns the first directory in a container that this user may not empty.
    private static func obstacleToDeletion(of path: [UInt8]) -> RemovalObstacle? {
        guard let root = try? FileDescriptor.open(path: path, [.reading, .directory]),
            let names = try? root.entryNames()
        else { return nil }
        for name in names {
            if let obstacle = root.removalObstacle(in: name, limit: MembersFacts.examined) { return obstacle }
        }
        return nil
    }

    /// Returns why a container could not be opened, after the given error.
    static func situation(of path: [UInt8], code: CoordinationError.Code, cause: String) -> Situation {
        // This process cannot open any file, so nothing can be examined.
        if let refusal = CoordinationError.refusalOfOpening { return .failed(refusal) }
        switch code {
        case .unsupportedFileSystem: return .unsupported(cause)
        case .notFound, .notPermitted, .wrongType, .damaged: break
        default: return .failed(cause)
        }
        guard let obstacle = PathObstacle.first(to: path) else {
            return code == .damaged ? .noStaging(cause) : .failed(cause)
        }
        let isStaging = obstacle.part.elementsEqual("/staging".utf8)
        switch obstacle.reason {
        case .accessDenied:
            return obstacle.barrier.map(Situation.forbidden) ?? .failed(obstacle.description)
        case .noSuchEntry:
            if obstacle.part.elementsEqual("/.group".utf8) {
                return isHalfDeleted(path) ? .halfDeleted(obstacleToDeletion(of: path)) : .plainDirectory
            }
            if let link = OpeningErrors.danglingLink(on: path) { return .missing("the target of \(printable(link))") }
            return isStaging ? .noStaging("the directory is missing") : .missing(printable(obstacle.prefix))
        case .notADirectory where isStaging: return .noStaging("it is no directory")
        default: return .failed(obstacle.description)
        }
    }

    private mutating func lookAround(for name: [UInt8]) {
        for home in ContainerLocation.homes().dropFirst().map(\.path) + ["."] {
            let other = Array("\(home)/".utf8) + name
            if (try? FileDescriptor.open(path: other + Array("/.group".utf8), .pathOnly)) != nil {
                elsewhere.append(printable(other))
            }
        }
        let all = (try? ContainerLocation.identifiers()) ?? []
        let last = self.name.split(separator: ".").last.map(String.init) ?? self.name
        similar = Array(all.filter { $0.lowercased() == self.name.lowercased() || $0.hasSuffix("." + last) }.prefix(5))
    }
}
