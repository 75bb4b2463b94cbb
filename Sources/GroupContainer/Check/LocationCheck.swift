import GroupBytes
import GroupSystemCalls

/// The facts about the place where a container should be.
struct LocationFacts: Equatable, Sendable {
    enum Standing: Equatable, Sendable {
        /// `.group` could be opened.
        case container
        /// The path does not exist; the first directory of it that is missing.
        case missing(String)
        /// The path is a directory without `.group`.
        case plainDirectory
        /// The rest of a container whose deletion was interrupted.
        case halfDeleted
        /// The staging directory is missing, or is something else; which of the two.
        case noStaging(String)
        /// This user may not enter the container.
        case forbidden(Barrier)
        /// The file system lacks something that is needed; what.
        case unsupported(String)
        case failed(String)
    }

    /// A directory that this user may not enter.
    struct Barrier: Equatable, Sendable {
        var path: String
        var owner: UInt32
        var group: UInt32
        var mode: UInt32
        var user: UInt32

        /// Whether members of the directory's group may enter it.
        var isForGroup: Bool { mode & 0o050 == 0o050 }
    }

    /// The name that the user gave.
    var name: String
    var path: String
    /// The environment variable that determined the path; nil where the user gave a path.
    var variable: String?
    /// The other places where a container of that identifier exists.
    var elsewhere: [String] = []
    /// The containers with a similar identifier.
    var similar: [String] = []
    var standing: Standing

    var findings: [Finding] {
        switch standing {
        case .container: []
        case .missing(let directory):
            [
                missing(
                    directory == path
                        ? "there is no container at \(path)"
                        : "there is no container at \(path): \(directory) is missing")
            ]
        case .plainDirectory: [missing("\(path) is a directory, but no container: it has no .group in it")]
        case .halfDeleted:
            [
                Finding(
                    .deletionInterrupted, .error, item: path, "a deletion of the container was interrupted",
                    why: "what is left of it is of no use, and nothing can be made in its place",
                    remedy: "finish it: groupctl delete-group --yes \(name)")
            ]
        case .noStaging(let cause):
            [
                Finding(
                    .stagingMissing, .error, item: ".group/staging", cause,
                    why: "nothing can be written: what is new is made there first",
                    remedy: "\(Finding.repair) makes it", mended: "the directory was made")
            ]
        case .forbidden(let barrier):
            [
                Finding(
                    .notPermitted, .error, item: barrier.path,
                    "user \(barrier.user) may not enter it: it has mode \(Self.octal(barrier.mode)), of user \(barrier.owner) and group \(barrier.group)",
                    why: "nothing of the container can be read or followed",
                    remedy: barrier.isForGroup
                        ? "have user \(barrier.user) put into group \(barrier.group), and log in anew"
                        : "ask user \(barrier.owner), who can share what they make with 'groupctl create --unix-group'"
                )
            ]
        case .unsupported(let cause):
            [
                Finding(
                    .fileSystemUnsupported, .error, item: path, cause,
                    why: "members could not see each other: locks would exclude nobody, and changes would not arrive",
                    remedy: "put it on a local file system: ext4, xfs, btrfs, tmpfs")
            ]
        case .failed(let cause):
            [
                Finding(
                    .partDamaged, .error, item: path, cause, why: "the container cannot be opened",
                    remedy: "put back what stood there")
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

    static func octal(_ mode: UInt32) -> String { "0" + String(mode, radix: 8) }
}

extension LocationFacts {
    /// Examines whether a container is at the place that its name means, and if not, why. Error: `invalidArgument` for
    /// a name that cannot be the name of a container.
    static func look(at name: ContainerName) throws(CoordinationError) -> (
        facts: LocationFacts, directory: ContainerDirectories?
    ) {
        let path = try name.location()
        var facts = LocationFacts(name: printable(name.bytes), path: printable(path), standing: .container)
        let isIdentifier = name.identifier != nil
        if isIdentifier { facts.variable = ContainerLocation.homes().first?.variable }
        do {
            return (facts, try ContainerDirectories(path: path, unixGroup: nil, creating: false))
        } catch {
            facts.standing = standing(of: path, code: error.code, cause: error.reason)
        }
        if isIdentifier { facts.lookAround(for: name.bytes) }
        return (facts, nil)
    }

    private static func isHalfDeleted(_ path: [UInt8]) -> Bool {
        guard let root = try? FileDescriptor.open(path: path, [.reading, .directory]) else { return false }
        return ContainerDirectories.hasRest(root)
    }

    /// Returns why a container could not be opened, after the given error.
    static func standing(of path: [UInt8], code: CoordinationError.Code, cause: String) -> Standing {
        // This process cannot open any file, so nothing can be examined.
        if let refusal = CoordinationError.refusalOfOpening { return .failed(refusal) }
        switch code {
        case .unsupportedFileSystem: return .unsupported(cause)
        case .notFound, .notPermitted, .wrongType, .damaged: break
        default: return .failed(cause)
        }
        var checked: [UInt8] = []
        for part in parts(of: path) + [Array("/.group".utf8), Array("/staging".utf8)] {
            checked += part
            do throws(Errno) {
                // Opens the directory itself: that requires permission to enter it.
                _ = try FileDescriptor.open(path: checked, [.placeOnly, .directory])
                if checked.starts(with: path), (try? FileDescriptor.open(path: checked, [.reading, .directory])) == nil
                {
                    throw Errno.accessDenied
                }
            } catch {
                switch error {
                case .accessDenied: return barrier(at: checked, before: part)
                case .noSuchEntry:
                    if part.elementsEqual("/.group".utf8) {
                        return isHalfDeleted(path) ? .halfDeleted : .plainDirectory
                    }
                    return part.elementsEqual("/staging".utf8)
                        ? .noStaging("the directory is missing") : .missing(printable(checked))
                case .notADirectory where part.elementsEqual("/staging".utf8): return .noStaging("it is no directory")
                default: return .failed("\(printable(checked)): \(error)")
                }
            }
        }
        return code == .damaged ? .noStaging(cause) : .failed(cause)
    }

    /// Returns the parts of a path: "/a" and "/b" of "/a/b/". The first part of a relative path has no slash.
    private static func parts(of path: [UInt8]) -> [[UInt8]] {
        let slash = UInt8(ascii: "/")
        return path.split(separator: slash).enumerated().map { number, part in
            (number > 0 || path.first == slash ? [slash] : []) + part
        }
    }

    /// Returns what this user may not enter: the path itself, or else the directory that contains it.
    private static func barrier(at path: [UInt8], before part: [UInt8]) -> Standing {
        for place in [path, Array(path.dropLast(part.count))] where !place.isEmpty {
            guard let status = try? FileDescriptor.open(path: place, .placeOnly).status() else { continue }
            return .forbidden(
                Barrier(
                    path: printable(place), owner: status.owner, group: status.group, mode: status.permissions,
                    user: effectiveUser()))
        }
        return .failed("\(printable(path)): \(Errno.accessDenied)")
    }

    private mutating func lookAround(for name: [UInt8]) {
        for home in ContainerLocation.homes().dropFirst().map(\.path) + ["."] {
            let other = Array("\(home)/".utf8) + name
            if (try? FileDescriptor.open(path: other + Array("/.group".utf8), .placeOnly)) != nil {
                elsewhere.append(printable(other))
            }
        }
        let all = (try? Container.identifiers()) ?? []
        let last = self.name.split(separator: ".").last.map(String.init) ?? self.name
        similar = Array(all.filter { $0.lowercased() == self.name.lowercased() || $0.hasSuffix("." + last) }.prefix(5))
    }
}
