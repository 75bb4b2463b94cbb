// What the blocks of docs/guide/pasteboard.md use.
import Extensions
import GroupContainer

let container: Container = undefined()
let picture: [UInt8] = []
let png = ContentType.png
let webm: ContentType = undefined()
