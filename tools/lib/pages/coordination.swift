// What the blocks of docs/guide/coordination.md use.
import GroupContainer

let container: Container = undefined()

actor TextView { func stopEditing() {} }

actor Document {
    func save() throws {}
    func load() {}
}

let textView = TextView()
let document = Document()

func next() throws -> [UInt8]? { nil }
func use(_ piece: [UInt8]) throws {}
