// What the blocks of docs/reference/cluster-guarantees.md use.
import GroupContainer

let container: Container = undefined()
let content: [UInt8] = []

func next(_ content: [UInt8]?) async throws -> [UInt8] { [] }
