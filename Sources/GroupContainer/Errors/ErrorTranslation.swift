import GroupSystemCalls

extension CoordinationError {
    /// Translates a system error; the only place that does so.
    init(_ errno: Errno, item: String?, operation: String) {
        if [.notPermitted, .noSystemCall].contains(errno), let cause = Self.refusalOfOpening {
            self.init(
                .notPermitted, item: item, operation: operation, cause: cause,
                advice: "it takes Linux 5.6, and a filter that lets openat2 pass: a newer container runtime has one")
            return
        }
        if errno == .crossesDevices {
            self.init(
                .unsupportedFileSystem, item: item, operation: operation, cause: Self.otherFileSystem,
                advice: Self.aroundOtherFileSystem(operation))
            return
        }
        let (code, advice): (Code, String?) =
            switch errno {
            case .noSuchEntry: (.notFound, "groupctl list shows what is there")
            case .accessDenied, .notPermitted: (.notPermitted, "ask its owner")
            case .readOnly: (.notPermitted, "the file system is mounted read-only")
            case .noSpace, .quotaExceeded: (.noSpace, "nothing was changed; make room and try again")
            case .tooManyLinks: (.outsideContainer, "a symbolic link stands in its way")
            case .notADirectory, .isADirectory, .noSuchDevice: (.wrongType, nil)
            case .exists: (.conflict, "something stands there already; say that it may be replaced")
            case .notEmpty: (.notEmpty, "say that it goes with everything in it (groupctl: -r), or remove that first")
            case .nameTooLong: (.invalidArgument, nil)
            case .tooLarge: (.inputOutput, "nothing was changed; raise the limit of file sizes, ulimit -f")
            case .tooManyFiles: (.limitReached, "raise the limit of open files: ulimit -n")
            case .tryAgain: (.limitReached, "no thread can be started: raise the limit of processes, ulimit -u")
            default: (.inputOutput, nil)
            }
        // One of the container's own files has another type.
        let isOwn = item?.hasPrefix(".group/") ?? false
        if isOwn, let item, errno == .tooManyLinks || code == .wrongType {
            self = .damaged(
                item, operation: operation, errno == .tooManyLinks ? "a symbolic link stands there" : Self.cause(errno))
            return
        }
        self.init(
            code, item: item, operation: operation, cause: Self.cause(errno),
            advice: isOwn && code == .notFound ? nil : advice)
    }

    private static func cause(_ errno: Errno) -> String {
        errno == .noSuchDevice ? "it is not a regular file" : errno.description
    }

    /// The cause where a filter or an old kernel refuses every call of openat2; nil otherwise.
    static var refusalOfOpening: String? {
        switch FileDescriptor.refusalOfOpening {
        case Errno.notPermitted?: "a filter (seccomp) does not permit the system call openat2"
        case nil: nil
        default: "there is no system call openat2: the kernel is too old, or a filter (seccomp) hides it"
        }
    }

    /// Only a rename fails with this error: a path that was checked does not leave the container.
    private static let otherFileSystem =
        "it is on another file system than the container's own files (a mount, a btrfs subvolume, a lower layer of an overlay), and nothing is renamed from one to the other"

    private static func aroundOtherFileSystem(_ operation: String) -> String {
        switch operation {
        case "move": "copy it, and remove the original with rm: a copy and a removal are two changes"
        case "remove": "remove it with rm, without coordination: followers are told all the same"
        default: "change it there without coordination, or keep it on the container's own file system"
        }
    }

    static func mountPoint(_ item: String, _ operation: String) -> CoordinationError {
        CoordinationError(
            .unsupportedFileSystem, item: item, operation: operation, cause: "a file system is mounted there",
            advice: "unmount it first")
    }

    init(_ fault: ItemLocation.Fault, path: [UInt8], operation: String) {
        let (code, cause): (Code, String) =
            switch fault {
            case .empty: (.invalidArgument, "the path is empty")
            case .absolute: (.outsideContainer, "the path is absolute; items are named relative to the container")
            case .leadsOut: (.outsideContainer, "the path leads out of the container")
            case .reserved: (.outsideContainer, "'.group' is a container's own directory")
            case .malformed: (.invalidArgument, "the path has an empty component or a '.'")
            case .nulByte: (.invalidArgument, "the path has a NUL byte")
            case .componentTooLong: (.invalidArgument, "a component is longer than 255 bytes")
            case .tooLong: (.invalidArgument, "the path is longer than 4095 bytes")
            }
        self.init(
            code, item: printable(path), operation: operation, cause: cause,
            advice: fault == .malformed ? Self.simpler(path) : nil)
    }

    private static func simpler(_ path: [UInt8]) -> String? {
        if path.starts(with: "./".utf8) { return "leave out './': items are named relative to the container" }
        return path.last == UInt8(ascii: "/") ? "leave out the '/' at the end" : nil
    }

    static func damaged(_ file: String, operation: String, _ cause: String) -> CoordinationError {
        CoordinationError(
            .damaged, item: file, operation: operation, cause: cause,
            advice: "nothing was changed; groupctl doctor says what can be done"
        )
    }
}

/// Runs a body that makes system calls, and translates its error with the item and the operation.
func translating<Answer: ~Copyable>(
    _ item: String?, _ operation: String, _ body: () throws(Errno) -> Answer
) throws(CoordinationError) -> Answer {
    do {
        return try body()
    } catch {
        throw CoordinationError(error, item: item, operation: operation)
    }
}

/// Returns the result of `body`, or nil where it throws `notFound`.
func ifPresent<Answer>(_ body: () throws(CoordinationError) -> Answer) throws(CoordinationError) -> Answer? {
    do {
        return try body()
    } catch {
        if error.code == .notFound { return nil }
        throw error
    }
}

/// Returns a name as text. In a name with control characters or invalid UTF-8, all bytes but printable ASCII are octal.
func printable(_ bytes: [UInt8]) -> String {
    if let text = String(validating: bytes, as: UTF8.self), !bytes.contains(where: { $0 < 0x20 || $0 == 0x7f }) {
        return text
    }
    return bytes.map { byte in
        if (0x20..<0x7f).contains(byte) { return String(UnicodeScalar(byte)) }
        let digits = String(byte, radix: 8)
        return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
    }.joined()
}

extension CoordinationError {
    /// Returns the error for a cursor file that another follower uses: each would overwrite the other's cursor.
    package static func cursorFileInUse(_ path: [UInt8], by process: Int32?) -> CoordinationError {
        let who = process.map { "process \($0), \(programName(ofProcess: $0))," } ?? "another process"
        return CoordinationError(
            .conflict, item: printable(path), operation: "keep the cursor in", cause: "\(who) keeps its own there",
            advice: "end that one, or give each follower a file of its own")
    }
}

extension CoordinationError {
    /// Returns the error for a widget's kind that is not a plain name.
    package static func malformedWidgetKind(_ kind: String) -> CoordinationError {
        CoordinationError(
            .invalidArgument, item: printable(Array(kind.utf8)), operation: "refresh",
            cause: "a widget's kind has letters, digits, '.', '-' and '_', and does not begin with '.'")
    }

    /// Returns the error for a widget's interest that can match nothing.
    package static func malformedInterest(_ interest: String, _ cause: String) -> CoordinationError {
        CoordinationError(
            .invalidArgument, item: printable(Array(interest.utf8)), operation: "heed the interest", cause: cause)
    }

    /// Returns the error for a widget's record in the container that does not decode.
    package static func damagedWidgetRecord(_ file: String, putAsideAs other: String) -> CoordinationError {
        CoordinationError(
            .damaged, item: file, operation: "refresh", cause: "it is not what a refresh writes",
            advice: "it was put aside as '\(other)'; the next refresh begins anew")
    }

    /// Returns the error for a widget's record that a newer version wrote.
    package static func newerWidgetRecord(_ file: String, _ version: Int) -> CoordinationError {
        CoordinationError(
            .newerFormat, item: file, operation: "refresh", cause: "it has version \(version)",
            advice: "refresh with a newer version of this package")
    }

    /// Returns the error for a widget's record that cannot be encoded.
    package static func unencodableWidgetRecord(_ file: String) -> CoordinationError {
        CoordinationError(.invalidContent, item: file, operation: "refresh", cause: "it does not encode")
    }
}
