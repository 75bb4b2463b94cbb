import Glibc
import GroupContainer
import GroupSystemCalls

/// Sets a lock of the whole process (`fcntl(F_SETLK)`) on a file of the container, as programs without coordination do;
/// then carries out what it reads, a word a line, and prints when each is done.
func lockProcessWide(_ path: String, _ item: String) throws {
    let file = try FileDescriptor.open(path: Array("\(path)/\(item)".utf8), .readingAndWriting)
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    if unsafe fcntl(file.number, F_SETLK, &lock) != 0 { throw Errno(errno) }
    try obey(path, ItemPath(item))
    _ = file
}

/// Keeps a database open in SQLite, in the middle of a transaction that writes; then carries out what it reads, as
/// `lockProcessWide` does.
func lockDatabase(_ path: String, _ item: String, journal: String) throws {
    guard let library = unsafe dlopen("libsqlite3.so.0", RTLD_NOW), let open = unsafe dlsym(library, "sqlite3_open"),
        let execute = unsafe dlsym(library, "sqlite3_exec")
    else { return printLine("no SQLite") }
    typealias Open = @convention(c) (UnsafePointer<CChar>, UnsafeMutablePointer<OpaquePointer?>) -> Int32
    typealias Execute =
        @convention(c) (
            OpaquePointer?, UnsafePointer<CChar>, UnsafeRawPointer?, UnsafeRawPointer?, UnsafeRawPointer?
        ) -> Int32
    var database: OpaquePointer?
    let opened = unsafe unsafeBitCast(open, to: Open.self)("\(path)/\(item)", &database)
    let statements = "PRAGMA journal_mode=\(journal); CREATE TABLE t (x); BEGIN IMMEDIATE; INSERT INTO t VALUES (1);"
    let executed = unsafe unsafeBitCast(execute, to: Execute.self)(database, statements, nil, nil, nil)
    if opened != 0 || executed != 0 { return printLine("SQLite: \(opened) \(executed)") }
    try obey(path, ItemPath(item))
}

private func obey(_ path: String, _ item: ItemPath) throws {
    let container = try Container(path: path)
    let coordinator = container.coordinator(purpose: "test-member").blocking
    var follower: Follower<Change>?
    printLine("locked")
    while let word = nextLine() {
        switch word {
        case "lead":
            follower = try container.follow()
            if !container.awaitLeader(timeout: .seconds(60)) { printLine("no leader") }
        case "follow": _ = try follower?.next(timeout: .seconds(60))
        case "write the same":
            let content = Array("content".utf8)
            try coordinator.coordinate(.writing(item)) { _ = try $0.write(bytes: content, to: item) }
        case "write the same in a transaction":
            let content = Array("content".utf8)
            try coordinator.transaction(.writing(item)) { _ = try $0.write(bytes: content, to: item) }
        case "copy": try coordinator.copy(item, to: "copy", replacing: true)
        case "copy in a transaction":
            try coordinator.transaction(.reading(item), .writing("other copy")) {
                try $0.copy(item, to: "other copy", replacing: true)
            }
        case "copy the directory": try coordinator.copy("directory", to: "directory's copy", recursively: true)
        case "snapshot": try coordinator.coordinate(.reading(item, .forUploading)) { _ in }
        case "snapshot of the directory": try coordinator.coordinate(.reading("directory", .forUploading)) { _ in }
        case "generation": _ = try coordinator.generation(of: item)
        case "mode": try coordinator.setMode(0o640, of: item)
        default: printLine("unknown")
        }
        printLine("done \(word)")
    }
}
