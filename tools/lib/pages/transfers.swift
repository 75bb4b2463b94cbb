// What the blocks of docs/guide/transfers.md use.
import GroupContainer

let container: Container = undefined()
let url = "https://example.com/inbox.json"
