// What the blocks of docs/guide/channels.md use.
import GroupContainer

let container: Container = undefined()
let picture: [UInt8] = []

func show(_ played: Played) {}
