// What the blocks of docs/guide/widgets.md use.
import Foundation

struct Todo: Decodable {
    var title: String
    var done: Bool
}

func show(_ url: String) {}
