package import GroupSystemCalls

/// A tree of files on which steps can be carried out: on the disk, or in memory. Paths are relative to the container
/// and may lead out of it.
package protocol SteppableTree {
    /// Carries out a single step: not `mkdirs`, `rmtree`, `copy` or `copytree`.
    mutating func performSimple(_ step: TreeStep) throws(Errno)
    /// Returns whether the entry itself is a directory, which a symbolic link is not.
    func isDirectory(_ path: [UInt8]) throws(Errno) -> Bool
    /// Returns a file's content; a symbolic link is followed.
    func content(_ path: [UInt8]) throws(Errno) -> [UInt8]
    func linkTarget(_ path: [UInt8]) throws(Errno) -> [UInt8]?
    /// Returns the names in a directory, in no order.
    func entries(_ directory: [UInt8]) throws(Errno) -> [[UInt8]]
}

extension SteppableTree {
    /// Carries out a step. A step that is made of several ends at the first that cannot be done.
    package mutating func perform(_ step: TreeStep) throws(Errno) {
        switch step {
        case .mkdirs(let path):
            for (place, byte) in path.enumerated() where byte == UInt8(ascii: "/") && place > 0 {
                try createDirectoryIfMissing(Array(path[..<place]))
            }
            try createDirectoryIfMissing(path)
        case .rmtree(let path):
            if try !isDirectory(path) { return try performSimple(.rm(path)) }
            for inner in try sortedEntries(path) { try perform(.rmtree(inner)) }
            try performSimple(.rmdir(path))
        case .copy(let from, let to): try performSimple(.write(to, try content(from)))
        case .copytree(let from, let to):
            // All of it is read first: a copy of a directory into itself would have no end.
            for step in try copies(from, to) { try performSimple(step) }
        default: try performSimple(step)
        }
    }

    private mutating func createDirectoryIfMissing(_ path: [UInt8]) throws(Errno) {
        do {
            try performSimple(.mkdir(path))
        } catch {
            if error != .exists { throw error }
        }
    }

    private func copies(_ from: [UInt8], _ to: [UInt8]) throws(Errno) -> [TreeStep] {
        if let target = try linkTarget(from) { return [.symlink(target, to)] }
        if try !isDirectory(from) { return [.write(to, try content(from))] }
        var steps = [TreeStep.mkdir(to)]
        for inner in try sortedEntries(from) { steps += try copies(inner, to + inner.dropFirst(from.count)) }
        return steps
    }

    private func sortedEntries(_ directory: [UInt8]) throws(Errno) -> [[UInt8]] {
        try entries(directory).sorted { $0.lexicographicallyPrecedes($1) }.map { directory + [UInt8(ascii: "/")] + $0 }
    }
}
