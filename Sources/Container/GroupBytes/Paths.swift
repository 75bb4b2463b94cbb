// Imports nothing: no file, clock or process.

/// Returns whether a path leads to something in a directory, at any depth. Neither has a slash at its end.
package func isPath(_ path: [UInt8], below directory: [UInt8]) -> Bool { isPath(path, below: directory[...]) }

/// The form of `isPath` for a directory's path that is a part of other bytes.
package func isPath(_ path: [UInt8], below directory: ArraySlice<UInt8>) -> Bool {
    path.count > directory.count && path[directory.count] == UInt8(ascii: "/") && path.starts(with: directory)
}
