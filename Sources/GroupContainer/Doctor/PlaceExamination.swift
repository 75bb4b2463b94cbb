import GroupSystemCalls

extension PlaceFacts {
    /// Looks whether a container stands where its name says, and if not, what is in its way. Errors: `invalidArgument`
    /// for what names no container.
    static func look(named name: [UInt8]) throws(CoordinationError) -> (facts: PlaceFacts, directory: GroupDirectory?) {
        let path = try Container.location(named: name)
        var facts = PlaceFacts(name: printable(name), path: printable(path), standing: .container)
        let isIdentifier = !name.contains(UInt8(ascii: "/"))
        if isIdentifier { facts.variable = ContainerPlace.homes().first?.variable }
        do {
            return (facts, try GroupDirectory(path: path, unixGroup: nil, creating: false))
        } catch {
            facts.standing = standing(of: path, code: error.code, cause: error.cause)
        }
        if isIdentifier { facts.lookAround(for: name) }
        return (facts, nil)
    }

    private static func isHalfDeleted(_ path: [UInt8]) -> Bool {
        guard let root = try? FileDescriptor.open(path: path, [.reading, .directory]) else { return false }
        return GroupDirectory.hasRest(root)
    }

    /// What is in the way of who could not open the container for that reason.
    static func standing(of path: [UInt8], code: CoordinationError.Code, cause: String) -> Standing {
        // Then nothing can be looked at.
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
                // Entering it is what reading it takes.
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

    /// "/a", "/b" of "/a/b/"; of a relative path the first without its slash.
    private static func parts(of path: [UInt8]) -> [[UInt8]] {
        let slash = UInt8(ascii: "/")
        return path.split(separator: slash).enumerated().map { number, part in
            (number > 0 || path.first == slash ? [slash] : []) + part
        }
    }

    /// What may not be read itself, or the directory that it lies in.
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
        for home in ContainerPlace.homes().dropFirst().map(\.path) + ["."] {
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
