package import GroupSystemCalls

/// Both ends of a pipe, closed on exec.
package struct Pipe: ~Copyable {
    package let reading: FileDescriptor
    package let writing: FileDescriptor

    package init() throws {
        let (reading, writing) = try makePipe()
        self.reading = FileDescriptor(owning: reading)
        self.writing = FileDescriptor(owning: writing)
    }
}
