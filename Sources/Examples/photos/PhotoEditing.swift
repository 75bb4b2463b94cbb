import ExtensionHosting
import Extensions
import FoundationEssentials
import GroupCommands
import GroupContainer
import PhotoPNG

/// The reason why a photo stayed as it was.
enum PhotoFault: Error, CustomStringConvertible {
    case alreadyThere(String)
    case missing(String)
    /// The name is not UTF-8.
    case unnamed
    /// Another process edited the photo meanwhile.
    case changed(String)
    /// The extension takes no photo.
    case noEditor(String)
    case failed(ExtensionFailure)
    case cancelled(ExtensionError)
    case malformed(MalformedItem)
    /// The photo of the result cannot be loaded.
    case unreadable(String)
    case tooLarge(String, limit: Int)
    case notPNG(Picture.Fault)
    case otherSize(claimed: String, found: String)
    case otherFormat(String, expected: String)
    case notToResume

    var description: String {
        switch self {
        case .alreadyThere(let name): "there is a photo '\(name)' already"
        case .missing(let name): "there is no photo '\(name)'"
        case .unnamed: "the name is not UTF-8"
        case .changed(let name): "'\(name)' was changed meanwhile"
        case .noEditor(let reason): reason
        case .failed(let failure): "\(failure)"
        case .cancelled(let error): error.text
        case .malformed(let fault): "\(fault)"
        case .unreadable(let reason): "the extension's photo cannot be read: \(reason)"
        case .tooLarge(let what, let limit): "\(what) has more than \(limit) bytes"
        case .notPNG(let fault): "the extension's photo is no PNG that can be shown: \(fault)"
        case .otherSize(let claimed, let found): "the extension's photo has \(found) pixels, and not \(claimed)"
        case .otherFormat(let format, let expected):
            "the extension's data is of the format '\(format)', and not '\(expected)'"
        case .notToResume: "the extension resumed an edit that is not there, or not of its format"
        }
    }
}

extension PhotoStore {
    /// The largest PNG, and the largest adjustment data that an extension may return.
    static let largestPhoto = 256 << 20
    private static let largestAdjustment = 1 << 20

    /// Lets an extension edit a photo, and stores what comes back. Errors: `PhotoFault`, after which the photo is as it
    /// was
    func edit(_ name: String, with editor: ExtensionManifest, deadline: Duration) throws {
        guard let attributes = try? editor.decodeAttributes(as: PhotoEdit.Attributes.self) else {
            throw PhotoFault.noEditor("the manifest of '\(editor.identifier)' has no attribute 'format'")
        }
        let photo = try photo(name)
        let result = try Self.result(of: editor, photo.request, deadline)
        let png = try Self.checked(result, photo.request, attributes.format, editor)
        let edit = Edit(
            number: UUID(), editor: editor.identifier, format: result.adjustment.format,
            version: result.adjustment.version, data: Data(result.adjustment.data))
        try store(edit, png, resumed: result.resumed, of: name, before: photo.edit)
    }

    private static func result(
        of editor: ExtensionManifest, _ request: PhotoEdit, _ deadline: Duration
    ) throws -> PhotoEdit.Result {
        switch ExtensionHost().blocking.run(editor, request.items, deadline: deadline) {
        case .failed(let failure): throw PhotoFault.failed(failure)
        case .cancelled(let error): throw PhotoFault.cancelled(error)
        case .completed(let items):
            do throws(MalformedItem) {
                return try PhotoEdit.Result(items)
            } catch {
                throw PhotoFault.malformed(error)
            }
        }
    }

    /// Returns the bytes of the photo of a result that is what the extension claims.
    private static func checked(
        _ result: PhotoEdit.Result, _ request: PhotoEdit, _ format: String, _ editor: ExtensionManifest
    ) throws -> [UInt8] {
        if result.resumed && request.earlier?.adjustment.format != format { throw PhotoFault.notToResume }
        if result.adjustment.format != format {
            throw PhotoFault.otherFormat(result.adjustment.format, expected: format)
        }
        if result.adjustment.data.count > largestAdjustment {
            throw PhotoFault.tooLarge("the extension's adjustment data", limit: largestAdjustment)
        }
        let png = try bytes(of: result.photo, editor)
        let picture: Picture
        do throws(Picture.Fault) {
            picture = try Picture(png: png)
        } catch {
            throw PhotoFault.notPNG(error)
        }
        if (picture.width, picture.height) != (result.width, result.height) {
            throw PhotoFault.otherSize(
                claimed: "\(result.width) × \(result.height)", found: "\(picture.width) × \(picture.height)")
        }
        return png
    }

    /// Loads a photo: bytes, or an item of the extension's container.
    private static func bytes(of photo: Attachment, _ editor: ExtensionManifest) throws -> [UInt8] {
        switch photo.content {
        case .bytes(let bytes): return bytes
        case .item(let path):
            guard let group = editor.group else { throw PhotoFault.unreadable("its extension has no container") }
            let coordinator = try Container(named: Array(group.utf8)).coordinator(purpose: "photos").blocking
            do {
                return try coordinator.coordinate(.reading(path)) { access in
                    if let item = try access.item(path), item.size > largestPhoto {
                        throw PhotoFault.tooLarge("the extension's photo", limit: largestPhoto)
                    }
                    return try access.readBytes(path)
                }
            } catch let error as CoordinationError {
                throw PhotoFault.unreadable("\(error)")
            }
        default: throw PhotoFault.unreadable("it is not bytes, and not an item")
        }
    }
}
