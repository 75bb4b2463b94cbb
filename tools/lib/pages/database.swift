// What the blocks of docs/guide/database.md use.
import GroupContainer

let container: Container = undefined()
let file = AbsolutePath("/home/me/notes.sqlite") ?? undefined()
