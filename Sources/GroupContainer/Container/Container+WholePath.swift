package import GroupSystemCalls

extension Container {
    /// From the root of all files, also where it was named from the working directory: for a program that somebody
    /// starts later, from another one. System calls: open(2), readlink(2)
    package func wholePath() throws(Errno) -> String { String(decoding: try wholePathBytes(), as: UTF8.self) }

    /// The same for a command that may go to another working directory; as it was named, where the kernel does not say
    /// it.
    package var pathForCommands: [UInt8] { (try? wholePathBytes()) ?? path.bytes }

    private func wholePathBytes() throws(Errno) -> [UInt8] {
        try FileDescriptor.open(path: path.bytes, [.placeOnly, .directory]).absolutePath()
    }
}
