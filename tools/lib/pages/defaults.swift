// What the blocks of docs/guide/defaults.md use.
import GroupContainer

let container: Container = undefined()
