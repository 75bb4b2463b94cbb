import Extensions
import FoundationEssentials
import GroupBytes
import GroupCommandLine
import GroupContainer
import GroupSystemCalls

/// The photos in the container. Each is a directory: the original, and, once it was edited, the photo as it is now,
/// what made it, and its base where that is not the original.
struct PhotoStore {
    private let container: Container
    private let coordinator: BlockingCoordinator

    private static let directory: ItemPath = "Photos"

    init(_ container: Container) {
        self.container = container
        coordinator = container.coordinator(purpose: "photos").blocking
    }

    /// What made the photo of its base.
    struct Edit: Codable, Equatable {
        /// Differs from edit to edit, so that another one in between is noticed.
        var number: UUID
        /// The extension.
        var editor: String
        var format: String
        var version: String
        var data: Data
    }

    private struct Paths {
        let directory, original, photo, base, edit: ItemPath
        init(_ name: String) {
            // Of the bytes: a path's description escapes what a terminal would obey.
            func path(_ directory: ItemPath, _ name: String) -> ItemPath {
                ItemPath(bytes: directory.bytes + Array("/\(name)".utf8))
            }
            directory = path(PhotoStore.directory, name)
            original = path(directory, "original.png")
            photo = path(directory, "photo.png")
            base = path(directory, "base.png")
            edit = path(directory, "edit.json")
        }
        /// What an edit changes.
        var changes: [AccessIntent] { [photo, base, edit].map { .writing($0, .forDeleting) } }
    }

    /// Adds a photo. Errors: `PhotoFault.alreadyThere`; those of the coordinator
    func add(_ name: String, _ png: [UInt8]) throws {
        let paths = Paths(name)
        try coordinator.transaction(.writing(paths.original)) { access in
            if try access.item(paths.original) != nil { throw PhotoFault.alreadyThere(name) }
            try access.write(bytes: png, to: paths.original)
        }
    }

    /// Returns the paths of all photos. Errors: those of `Container.items(in:)`
    func photos() throws -> [ItemPath] {
        do throws(CoordinationError) {
            return try container.items(in: Self.directory).map(\.path)
        } catch {
            if error.code == .notFound { return [] }
            throw error
        }
    }

    /// Returns a photo's name; nil where it is not UTF-8, as only another program can have made it.
    static func name(of photo: ItemPath) -> String? {
        photo.bytes.split(separator: UInt8(ascii: "/")).last.flatMap { Array($0).validText }
    }

    /// A photo as it is now, whose files are open: they stay as they are.
    struct Photo {
        var path: ItemPath
        var file: AttachedFile
        var edit: Edit?
        var request: PhotoEdit

        func bytes() throws -> [UInt8] {
            try PhotoStore.bytes(ofFileAt: Array("/proc/self/fd/\(file.descriptor)".utf8))
        }
    }

    /// Does something with a file, in whose place another program may have put anything. Errors: those of `body`, with
    /// the file's name where the system refuses
    private static func reading<Value>(
        _ path: [UInt8], _ body: (borrowing FileDescriptor) throws -> Value
    ) throws -> Value {
        do {
            let file = try FileDescriptor.open(path: path, [.reading, .nonBlocking])
            return try body(file)
        } catch let error as Errno {
            throw CoordinationError(error, operation: "read", item: printable(path))
        }
    }

    /// Reads the file of a photo. Errors: `PhotoFault.tooLarge`; those of the file
    static func bytes(ofFileAt path: [UInt8]) throws -> [UInt8] {
        let png = try reading(path) { file in try file.readAll(limit: largestPhoto + 1) }
        if png.count > largestPhoto { throw PhotoFault.tooLarge("the photo", limit: largestPhoto) }
        return png
    }

    /// Opens a photo. Errors: `PhotoFault.missing`; those of the coordinator
    func photo(_ name: String) throws -> Photo {
        let paths = Paths(name)
        return try coordinator.coordinate(.reading(paths.directory, .recursively)) { access in
            if try access.item(paths.original) == nil { throw PhotoFault.missing(name) }
            func attachment(_ path: ItemPath) throws -> (AttachedFile, Attachment) {
                let file = try PhotoStore.reading(access.absolutePath(of: path).bytes) { file in
                    try AttachedFile(reopening: file.number)
                }
                return (file, Attachment(.file(file), type: .png, name: "\(name).png"))
            }
            guard try access.item(paths.edit) != nil else {
                let (file, attachment) = try attachment(paths.original)
                return Photo(path: paths.original, file: file, edit: nil, request: PhotoEdit(attachment))
            }
            let edit = try access.read(paths.edit, as: Edit.self)
            let base = try access.item(paths.base) == nil ? paths.original : paths.base
            let (file, photo) = try attachment(paths.photo)
            let adjustment = PhotoEdit.Adjustment(format: edit.format, version: edit.version, data: Array(edit.data))
            let earlier = PhotoEdit.Earlier(base: try attachment(base).1, adjustment: adjustment)
            return Photo(
                path: paths.photo, file: file, edit: edit, request: PhotoEdit(photo, earlier: earlier))
        }
    }

    /// Stores an edit, all of it or nothing. An edit that was not resumed has the photo as its base that `before` has.
    /// Errors: `PhotoFault.changed`; those of the coordinator
    func store(_ edit: Edit, _ png: [UInt8], resumed: Bool, of name: String, before: Edit?) throws {
        let paths = Paths(name)
        try coordinator.transaction(paths.changes) { access in
            let present = try access.item(paths.edit) == nil ? nil : access.read(paths.edit, as: Edit.self)
            if present != before { throw PhotoFault.changed(name) }
            if before != nil && !resumed { try access.write(bytes: access.readBytes(paths.photo), to: paths.base) }
            try access.write(bytes: png, to: paths.photo)
            try access.write(json: edit, to: paths.edit)
        }
    }

    /// Removes all edits of a photo: it is the original again. Returns false if there were none.
    func undo(_ name: String) throws -> Bool {
        let paths = Paths(name)
        return try coordinator.transaction(paths.changes) { access in
            if try access.item(paths.edit) == nil { return false }
            for path in [paths.photo, paths.base, paths.edit] where try access.item(path) != nil {
                try access.remove(path)
            }
            return true
        }.answer
    }
}
