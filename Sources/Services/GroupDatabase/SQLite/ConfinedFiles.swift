#if SQLite
import CGroupSQLite
import GroupSystemCalls

/// SQLite's access to files, without the opening and removing that a forged journal could cause. The journal of a
/// database can name a second one, the super-journal of a transaction in several databases, anywhere; SQLite reads that
/// one and, when the transaction was rolled back, deletes it. Here only a super-journal that this process made is read,
/// and only what SQLite keeps beside a database that this process opened is deleted. SQLite's documentation: "The OS
/// Interface or VFS"
enum ConfinedFiles {
    /// The files that SQLite may delete.
    private static let removable = Guarded<Set<[UInt8]>>([])
    private nonisolated(unsafe) static let base: UnsafeMutablePointer<sqlite3_vfs>? = unsafe sqlite3_vfs_find(nil)
    /// The name to open a database with. Nil, for the usual access, only if there is no memory for it.
    nonisolated(unsafe) static let name: UnsafePointer<CChar>? = unsafe registered()

    private static func registered() -> UnsafePointer<CChar>? {
        guard let base = unsafe base else { return nil }
        // For the life of the process, as SQLite keeps the address.
        let text = Array("group-container".utf8CString)
        let name = UnsafeMutablePointer<CChar>.allocate(capacity: text.count)
        unsafe name.initialize(from: text, count: text.count)
        let own = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        unsafe own.initialize(to: base.pointee)
        unsafe own.pointee.zName = unsafe UnsafePointer(name)
        unsafe own.pointee.pNext = nil
        unsafe own.pointee.xOpen = { _, name, file, flags, outFlags in
            unsafe ConfinedFiles.open(name, file, flags, outFlags)
        }
        unsafe own.pointee.xDelete = { _, name, synchronizes in unsafe ConfinedFiles.delete(name, synchronizes) }
        return unsafe sqlite3_vfs_register(own, 0) == SQLITE_OK ? unsafe UnsafePointer(name) : nil
    }

    /// SQLITE_IOERR_DELETE, which Swift does not import.
    private static let notDeleted = SQLITE_IOERR | 10 << 8

    private static func open(
        _ name: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32,
        _ outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        let bytes = unsafe bytes(of: name)
        let isSuperJournal = flags & SQLITE_OPEN_SUPER_JOURNAL != 0
        if isSuperJournal && flags & SQLITE_OPEN_READONLY != 0 && !removable.withLock({ $0.contains(bytes) }) {
            unsafe file?.pointee.pMethods = nil
            return SQLITE_CANTOPEN
        }
        if isSuperJournal { removable.withLock { _ = $0.insert(bytes) } }
        if flags & SQLITE_OPEN_MAIN_DB != 0 {
            removable.withLock { names in
                for suffix in ["-journal", "-wal"] { names.insert(bytes + Array(suffix.utf8)) }
            }
        }
        return unsafe base.flatMap { base in unsafe base.pointee.xOpen?(base, name, file, flags, outFlags) }
            ?? SQLITE_CANTOPEN
    }

    private static func delete(_ name: UnsafePointer<CChar>?, _ synchronizes: Int32) -> Int32 {
        let bytes = unsafe bytes(of: name)
        guard removable.withLock({ $0.contains(bytes) }) else { return notDeleted }
        return unsafe base.flatMap { base in unsafe base.pointee.xDelete?(base, name, synchronizes) }
            ?? notDeleted
    }

    private static func bytes(of name: UnsafePointer<CChar>?) -> [UInt8] {
        guard let name = unsafe name else { return [] }
        var count = 0
        while unsafe name[count] != 0 { count += 1 }
        return unsafe Array(UnsafeRawBufferPointer(start: name, count: count))
    }

    /// Whether the journal beside a database, if there is one, names a super-journal: it ends with these bytes then. No
    /// process that writes one database makes such a journal.
    static func namesSuperJournal(beside database: [UInt8]) -> Bool {
        guard let file = try? FileDescriptor.open(path: database + Array("-journal".utf8), [.reading, .nonBlocking]),
            let status = try? file.status(), status.isRegularFile, status.size >= 8
        else { return false }
        let end = try? file.read(at: Int(clamping: status.size) - 8, count: 8)
        return end == [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]
    }
}
#endif
