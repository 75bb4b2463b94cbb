// What the blocks of docs/guide/following.md use.
import GroupContainer

let container: Container = undefined()
let kept: Cursor = undefined()
let copy = Copy()

func keep(_ cursor: Cursor) throws {}

struct Copy: Sendable {
    func beginAnew() {}
    func take(_ path: ItemPath) {}
    func finish() {}
}
