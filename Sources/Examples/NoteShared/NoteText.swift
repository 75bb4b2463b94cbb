/// The text of a note, whose lines `- [ ] milk` and `- [x] milk` are tasks. A change leaves all other bytes as they are,
/// as any editor may have written them.
package struct NoteText: Equatable, Sendable {
    package private(set) var bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// A task as a view names it: others may have changed the note when it is pressed.
    package struct Task: Equatable, Sendable {
        /// The number of its line, from 1.
        package let number: Int
        /// The first 200 characters of its text.
        package let title: String
        package let isDone: Bool

        package var id: String { "\(number):\(title)" }
    }

    /// A line, without its end.
    package struct Line: Sendable {
        package let text: String
        package let task: Task?
        fileprivate let range: Range<Int>
    }

    /// The lines; an end of a line at the end of the text begins no other one.
    package var lines: [Line] {
        var lines: [Line] = []
        var start = 0
        while start < bytes.count {
            let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
            lines.append(line(start..<end, number: lines.count + 1))
            start = end + 1
        }
        return lines
    }

    private func line(_ range: Range<Int>, number: Int) -> Line {
        let all = bytes[range]
        let content = all.last == UInt8(ascii: "\r") ? all.dropLast() : all
        let text = String(decoding: content, as: UTF8.self)
        let isDone = content.starts(with: "- [x] ".utf8) || content.starts(with: "- [X] ".utf8)
        guard isDone || content.starts(with: "- [ ] ".utf8) else { return Line(text: text, task: nil, range: range) }
        let title = String(String(decoding: content.dropFirst(6), as: UTF8.self).prefix(200))
        return Line(text: text, task: Task(number: number, title: title, isDone: isDone), range: range)
    }

    /// Ticks a task off, or opens it again: the one of that number and title, else the only one with that title. Returns
    /// false if there is none.
    package mutating func setDone(_ isDone: Bool, _ id: String) -> Bool {
        let tasks = lines.filter { $0.task != nil }
        var found = tasks.filter { $0.task?.id == id }
        if found.isEmpty, let colon = id.firstIndex(of: ":") {
            found = tasks.filter { $0.task?.title == String(id[colon...].dropFirst()) }
        }
        guard found.count == 1 else { return false }
        bytes[found[0].range.lowerBound + 3] = UInt8(ascii: isDone ? "x" : " ")
        return true
    }

    /// Removes the tasks that are done. Returns how many.
    package mutating func removeDone() -> Int {
        let done = lines.filter { $0.task?.isDone == true }
        for line in done.reversed() {
            bytes.removeSubrange(line.range.lowerBound..<min(line.range.upperBound + 1, bytes.count))
        }
        return done.count
    }

    /// Adds a line at the end.
    package mutating func append(_ line: String) {
        if let last = bytes.last, last != UInt8(ascii: "\n") { bytes.append(UInt8(ascii: "\n")) }
        bytes += Array("\(line)\n".utf8)
    }
}
