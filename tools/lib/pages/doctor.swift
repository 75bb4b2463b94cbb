// What the block of docs/reference/doctor.md uses.
import GroupContainer

let container: Container = undefined()

struct Log { func info(_ text: String) {} }

let log = Log()
