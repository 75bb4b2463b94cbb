import CGroupLinux

/// The words of the command line as the kernel passed them: a file name need not be UTF-8.
package enum RawArguments {
    /// Returns the words after the program's name.
    ///
    /// `CommandLine.arguments` is not used: it repairs invalid UTF-8, so that a name becomes that of another file, and
    /// it is empty where /proc is not mounted.
    package static func current() -> [[UInt8]] {
        (1..<max(1, Int(clinux_argument_count()))).map(word)
    }

    /// Returns the last component of the name that started this process, repaired if it is not UTF-8.
    package static func programName() -> String {
        let path = word(at: 0)
        return String(decoding: path.split(separator: UInt8(ascii: "/")).last ?? [], as: UTF8.self)
    }

    private static func word(at index: Int) -> [UInt8] {
        // execve(2) can start a process without any words.
        guard let start = unsafe clinux_argument(Int32(index)) else { return [] }
        var bytes: [UInt8] = []
        var cursor = unsafe start
        while unsafe cursor.pointee != 0 {
            unsafe bytes.append(UInt8(bitPattern: cursor.pointee))
            unsafe cursor += 1
        }
        return bytes
    }
}
