// What the blocks of docs/guide/widgets.md use.
import GroupContainer

let container: Container = undefined()
func show(_ url: String) {}
