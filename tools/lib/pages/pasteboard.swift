// What the blocks of docs/guide/pasteboard.md use.
import Extensions
import GroupContainer

let container: Container = undefined()
let picture: [UInt8] = []
