// What the blocks of docs/guide/extensions.md use.
import Extensions
import GroupContainer

let container: Container = undefined()
let items: [ExtensionItem] = []

struct Settings {
    init?(_ adjustment: PhotoEdit.Adjustment) { return nil }
}

func lightened(_ photo: [UInt8], from settings: Settings?) async throws -> ([UInt8], PhotoEdit.Adjustment) { undefined() }
