package import SystemCalls

extension Container {
    /// From the root of all files, also where it was named from the working folder: for a program that somebody starts
    /// later, from another one. System calls: open(2), readlink(2)
    package func wholePath() throws(Errno) -> String {
        String(
            decoding: try FileDescriptor.open(path: path.bytes, [.placeOnly, .folder]).absolutePath(), as: UTF8.self)
    }
}
