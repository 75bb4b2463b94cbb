import GroupBytes
import GroupSystemCalls

/// The location of a container, by the name that its user gives it.
enum ContainerLocation {
    /// Returns the path of a group identifier's container. An identifier has letters, digits, `.`, `-` and `_`, at most
    /// 255 bytes, and begins with a letter or digit. Its directory is `$GROUP_CONTAINERS_HOME/<identifier>`, else
    /// `$XDG_DATA_HOME/group-containers/<identifier>`, else `~/.local/share/group-containers/<identifier>`. With `home`
    /// it is in that directory.
    static func path(ofGroup identifier: String, in home: String? = nil) throws(CoordinationError) -> [UInt8] {
        func isPlain(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: false
            }
        }
        let bytes = Array(identifier.utf8)
        guard let first = bytes.first, isPlain(first), bytes.count <= 255,
            bytes.allSatisfy({
                isPlain($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
            })
        else {
            throw CoordinationError(
                .invalidArgument, operation: "open", item: printable(bytes),
                reason: "a group identifier has letters, digits, '.', '-' and '_', and begins with a letter or digit",
                remedy: .init(.nameByPath, "open a container at a path with `Container(path:)`"))
        }
        let directory = if let home { home } else { try Self.home() }
        return Array((directory + "/" + identifier).utf8)
    }

    /// Checks that the other users of a Unix group find the container by its identifier: they do only where all look
    /// for it in one place. Errors: `invalidArgument`
    static func checkIsFoundByOthers(_ unixGroup: String) throws(CoordinationError) {
        if homes().first?.variable == "GROUP_CONTAINERS_HOME" { return }
        throw CoordinationError(
            .invalidArgument, operation: "create", item: unixGroup,
            reason: "other users do not find the container by its identifier: each user has a home for identifiers",
            remedy: .init(
                .setEnvironment,
                "name the container by its path, or set GROUP_CONTAINERS_HOME to one directory for all users"))
    }

    /// Returns the identifiers of this user's containers, sorted. Errors: `notPermitted`
    static func identifiers() throws(CoordinationError) -> [String] {
        let home = try home()
        return try translating("list", item: home) { () throws(Errno) in
            do throws(Errno) {
                let directory = try FileDescriptor.open(path: Array(home.utf8), [.reading, .directory])
                let names = try directory.entryNames().filter { name in
                    let format = name + Array("/.group/format".utf8)
                    return (try? FileDescriptor.open(format, in: directory, .pathOnly)) != nil
                }
                return names.map(printable).sorted()
            } catch {
                if error == .noSuchEntry { return [] }
                throw error
            }
        }
    }

    /// Returns the directory that holds the containers of group identifiers.
    static func home() throws(CoordinationError) -> String {
        if let home = homes().first { return home.path }
        let relative = ["XDG_DATA_HOME", "HOME"].first { environmentValue($0)?.isEmpty == false }
        if let relative, let value = environmentValue(relative) {
            throw CoordinationError(
                .invalidArgument, operation: "open",
                reason: "\(relative) is '\(printable(Array(value.utf8)))', which is no absolute path",
                remedy: .init(
                    .setEnvironment,
                    "set \(relative) or GROUP_CONTAINERS_HOME to an absolute path, or name the container by its path"))
        }
        throw CoordinationError(
            .invalidArgument, operation: "open",
            reason: "neither GROUP_CONTAINERS_HOME nor XDG_DATA_HOME nor HOME is set",
            remedy: .init(.setEnvironment, "set one of them, or name the container by its path"))
    }

    /// Returns `./NAME` where a directory of that name, in the working directory, is a container: probably the one that
    /// the user meant.
    static func here(_ identifier: String) -> String? {
        let path = Array("./\(identifier)".utf8)
        let group = try? FileDescriptor.open(path: path + Array("/.group".utf8), [.pathOnly, .directory])
        return group == nil ? nil : printable(path)
    }

    /// Returns an error about the container of an identifier, with a remedy if the working directory has a container of
    /// that name.
    static func hinting(_ error: CoordinationError, _ identifier: String?) -> CoordinationError {
        guard error.code == .notFound, let identifier, let here = here(identifier) else { return error }
        var error = error
        error.remedy = .init(
            .nameByPath, "open the container at \(here) by that path: a name without a '/' is a group identifier")
        return error
    }

    /// Returns the directories that the environment names for group containers, each with its variable; the first one
    /// counts.
    static func homes() -> [(variable: String, path: String)] {
        var homes: [(variable: String, path: String)] = []
        if let home = environmentValue("GROUP_CONTAINERS_HOME"), !home.isEmpty {
            homes.append(("GROUP_CONTAINERS_HOME", home))
        }
        if let data = environmentValue("XDG_DATA_HOME"), data.hasPrefix("/") {
            homes.append(("XDG_DATA_HOME", data + "/group-containers"))
        }
        if let home = environmentValue("HOME"), home.hasPrefix("/") {
            homes.append(("HOME", home + "/.local/share/group-containers"))
        }
        return homes
    }
}
