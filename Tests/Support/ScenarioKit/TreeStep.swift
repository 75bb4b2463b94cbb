/// One change of a tree of files, made without coordination: what a program does with one system call, or the few of
/// `write`. The names are those of the scenario files.
package enum TreeStep: Equatable, Sendable {
    package typealias Path = [UInt8]

    /// Makes a new empty file.
    case create(Path)
    /// Makes or truncates a file, and writes it.
    case write(Path, [UInt8])
    case append(Path, [UInt8])
    /// Writes over a file from its beginning, in place.
    case rewrite(Path, [UInt8])
    case truncate(Path, Int)
    case mkdir(Path)
    case rm(Path)
    case rmdir(Path)
    case mv(Path, Path)
    case exchange(Path, Path)
    case ln(Path, Path)
    /// Makes a symbolic link: its target, then its place.
    case symlink(Path, Path)
    case chmod(UInt32, Path)
    case chown(UInt32, Path)
    /// Sets the dates to the present.
    case touch(Path)
    /// Sets the dates to some second since 1970.
    case date(Int, Path)
    case xattr(Path, [UInt8])
    case fifo(Path)
    case socket(Path)
    /// `mkdir -p`, `rm -r`, `cp` and `cp -r`: several of the above, in the order of the names' bytes.
    case mkdirs(Path)
    case rmtree(Path)
    case copy(Path, Path)
    case copytree(Path, Path)

    /// Nil if the words are no step, or not the right number of words.
    package init?(_ words: [[UInt8]]) {
        guard let name = words.first.map({ String(decoding: $0, as: UTF8.self) }) else { return nil }
        let values = Array(words.dropFirst())
        switch values.count {
        case 1:
            guard let step = Self.ofOne[name]?(values[0]) else { return nil }
            self = step
        case 2:
            guard let step = Self.ofTwo[name]?(values[0], values[1]) else { return nil }
            self = step
        default: return nil
        }
    }

    private static let ofOne: [String: @Sendable (Path) -> TreeStep] = [
        "create": { .create($0) }, "mkdir": { .mkdir($0) }, "rm": { .rm($0) }, "rmdir": { .rmdir($0) },
        "touch": { .touch($0) }, "fifo": { .fifo($0) }, "socket": { .socket($0) }, "mkdirs": { .mkdirs($0) },
        "rmtree": { .rmtree($0) },
    ]

    private static let ofTwo: [String: @Sendable (Path, Path) -> TreeStep?] = [
        "write": { .write($0, $1) }, "append": { .append($0, $1) }, "rewrite": { .rewrite($0, $1) },
        "truncate": { path, size in Int(text(size)).map { .truncate(path, $0) } },
        "mv": { .mv($0, $1) }, "exchange": { .exchange($0, $1) }, "ln": { .ln($0, $1) },
        "symlink": { .symlink($0, $1) }, "xattr": { .xattr($0, $1) },
        "chmod": { mode, path in UInt32(text(mode), radix: 8).map { .chmod($0, path) } },
        "chown": { owner, path in UInt32(text(owner)).map { .chown($0, path) } },
        "date": { seconds, path in Int(text(seconds)).map { .date($0, path) } },
        "copy": { .copy($0, $1) }, "copytree": { .copytree($0, $1) },
    ]

    /// The names of all steps, for the error about an unknown one.
    package static var names: [String] { (Array(ofOne.keys) + Array(ofTwo.keys)).sorted() }

    private static func text(_ word: [UInt8]) -> String { String(decoding: word, as: UTF8.self) }

    /// The step as a scenario's file has it.
    package var words: [[UInt8]] {
        let number = { (value: Int) in Array("\(value)".utf8) }
        let (name, values): (String, [[UInt8]]) =
            switch self {
            case .create(let path): ("create", [path])
            case .write(let path, let text): ("write", [path, text])
            case .append(let path, let text): ("append", [path, text])
            case .rewrite(let path, let text): ("rewrite", [path, text])
            case .truncate(let path, let size): ("truncate", [path, number(size)])
            case .mkdir(let path): ("mkdir", [path])
            case .rm(let path): ("rm", [path])
            case .rmdir(let path): ("rmdir", [path])
            case .mv(let from, let to): ("mv", [from, to])
            case .exchange(let one, let other): ("exchange", [one, other])
            case .ln(let from, let to): ("ln", [from, to])
            case .symlink(let target, let path): ("symlink", [target, path])
            case .chmod(let mode, let path): ("chmod", [Array(String(mode, radix: 8).utf8), path])
            case .chown(let owner, let path): ("chown", [number(Int(owner)), path])
            case .touch(let path): ("touch", [path])
            case .date(let seconds, let path): ("date", [number(seconds), path])
            case .xattr(let path, let value): ("xattr", [path, value])
            case .fifo(let path): ("fifo", [path])
            case .socket(let path): ("socket", [path])
            case .mkdirs(let path): ("mkdirs", [path])
            case .rmtree(let path): ("rmtree", [path])
            case .copy(let from, let to): ("copy", [from, to])
            case .copytree(let from, let to): ("copytree", [from, to])
            }
        return [Array(name.utf8)] + values
    }
}
