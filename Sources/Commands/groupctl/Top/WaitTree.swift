// Imports nothing: no file, clock or process.

/// Who waits for whom: the requests that keep others waiting, each with those below it. A request that waits for several
/// others is below the first of them. In a circle each waits for the next, so no request of it has one above it.
struct WaitTree: Sendable {
    enum Content: Hashable, Sendable {
        /// The member holds these locks, for which others wait, and waits for none.
        case holder(member: Int, locks: [Int])
        /// The member waits for a lock, and holds these, for which others wait.
        case waiter(member: Int, lock: Int, holding: [Int])
        /// The member holds these locks; its process started one that waits: that of the line above or, in a circle, of
        /// the next line of it.
        case starter(member: Int, locks: [Int], isInCircle: Bool)
        /// A member asks the presenter of the line above.
        case asker(member: Int, question: Int)
        /// A circle follows; it is certain unless a process only started the next one, for which it may not wait.
        case deadlock(isCertain: Bool)
        /// The end of a circle: the member of its first line.
        case back(member: Int)
    }

    struct Line: Hashable, Sendable {
        /// For each level from the second on, whether more lines of that level follow.
        var levels: [Bool]
        var content: Content
    }

    private(set) var lines: [Line] = []
    /// Whether a deadlock is certain; nil where there is none.
    private(set) var hasCertainDeadlock: Bool?

    private struct Node {
        var member: Int
        var held: [Int] = []
        var awaited: [Int] = []
        /// The nodes that this one waits for.
        var edges: [Int] = []
        /// Those of `edges` that this one's process only started.
        var isStarter = false
        var children: [Int] = []
        var parent: Int?
        var isBlocking = false
    }

    /// How long a request has waited before its process's starter counts as waiting for it, in nanoseconds: a program that
    /// holds a lock may let a command wait for it for a moment.
    static let patience: Int64 = 2_000_000_000

    private let members: [TopModel.Member]
    private let now: Int64
    private var nodes: [Node] = []

    /// `now`: in nanoseconds since 1970, as the times of the requests.
    init(_ members: [TopModel.Member], at now: Int64) {
        self.members = members
        self.now = now
        // Most of the time no member waits.
        if members.contains(where: \.isWaiting) {
            makeNodes()
            findParents()
            for circle in circles() { addCircle(circle) }
            for index in nodes.indices where nodes[index].parent == nil && !nodes[index].children.isEmpty {
                add(index, [])
            }
        }
        addQuestions()
        nodes = []
    }

    // MARK: The graph

    private mutating func makeNodes() {
        var numbers: [Int: Int] = [:]
        for (member, one) in members.enumerated() {
            for (index, lock) in one.locks.enumerated() {
                let number = numbers[lock.request, default: nodes.count]
                if number == nodes.count { nodes.append(Node(member: member)) }
                numbers[lock.request] = number
                if lock.isWaiting { nodes[number].awaited.append(index) } else { nodes[number].held.append(index) }
            }
        }
        for number in nodes.indices {
            let own = members[nodes[number].member].locks
            let blockers = nodes[number].awaited.filter { own.indices.contains($0) }.flatMap { own[$0].blockers }
            for blocker in blockers where members.indices.contains(blocker.member) {
                let locks = members[blocker.member].locks
                guard locks.indices.contains(blocker.lock), let other = numbers[locks[blocker.lock].request],
                    other != number, !nodes[number].edges.contains(other)
                else { continue }
                nodes[number].edges.append(other)
                nodes[other].isBlocking = true
            }
        }
        let byMember = Dictionary(grouping: nodes.indices) { nodes[$0].member }
        for (member, one) in members.enumerated() where one.isWaiting {
            guard let above = one.ancestor else { continue }
            let waiting = (byMember[member] ?? []).filter { number in
                !nodes[number].awaited.isEmpty && since(number) <= now - Self.patience
            }
            for number in byMember[above] ?? [] where nodes[number].isBlocking && nodes[number].awaited.isEmpty {
                nodes[number].edges += waiting
                nodes[number].isStarter = true
            }
        }
    }

    /// Chooses one of the nodes that each node waits for: one that is in a circle, or waits for one that is.
    private mutating func findParents() {
        var left = nodes.map(\.edges.count)
        var waiters = [[Int]](repeating: [], count: nodes.count)
        for number in nodes.indices {
            for other in nodes[number].edges { waiters[other].append(number) }
        }
        // Whatever waits for nothing leads to no circle, nor does whatever waits only for such.
        var free = nodes.indices.filter { left[$0] == 0 }
        while let number = free.popLast() {
            for waiter in waiters[number] {
                left[waiter] -= 1
                if left[waiter] == 0 { free.append(waiter) }
            }
        }
        for number in nodes.indices {
            let edges = nodes[number].edges
            let parent = edges.first { left[number] > 0 && left[$0] > 0 } ?? edges.first
            nodes[number].parent = parent
            if let parent { nodes[parent].children.append(number) }
        }
    }

    /// Returns the circles, each in the order in which one waits for the next.
    private func circles() -> [[Int]] {
        var seen = [Int](repeating: -1, count: nodes.count)
        var circles: [[Int]] = []
        for start in nodes.indices where seen[start] < 0 {
            var path: [Int] = []
            var next: Int? = start
            while let number = next, seen[number] < 0 {
                seen[number] = start
                path.append(number)
                next = nodes[number].parent
            }
            if let number = next, seen[number] == start, let first = path.firstIndex(of: number) {
                circles.append(Array(path[first...]))
            }
        }
        return circles
    }

    // MARK: Its lines

    private mutating func addCircle(_ circle: [Int]) {
        let isCertain = !circle.contains { nodes[$0].isStarter }
        hasCertainDeadlock = isCertain || hasCertainDeadlock == true
        // A request that waits comes first.
        let start = circle.firstIndex { !nodes[$0].isStarter } ?? 0
        let circle = Array(circle[start...] + circle[..<start])
        lines.append(Line(levels: [], content: .deadlock(isCertain: isCertain)))
        for number in circle { add(number, [true], without: Set(circle)) }
        if let first = circle.first {
            lines.append(Line(levels: [false], content: .back(member: nodes[first].member)))
        }
    }

    /// Adds a node and those below it. `levels` is as in `Line`.
    private mutating func add(_ number: Int, _ levels: [Bool], without others: Set<Int> = []) {
        let node = nodes[number]
        // What others wait for is what matters; where it is not known, the node holds everything.
        let locks = members[node.member].locks
        let wanted = Set(node.children.flatMap { child in blocked(child, by: node.member) })
        let held = node.held.filter { wanted.isEmpty || wanted.contains($0) }
        if let lock = node.awaited.first, locks.indices.contains(lock) {
            lines.append(Line(levels: levels, content: .waiter(member: node.member, lock: lock, holding: held)))
        } else if node.isStarter {
            lines.append(
                Line(
                    levels: levels,
                    content: .starter(member: node.member, locks: held, isInCircle: others.contains(number))))
        } else {
            lines.append(Line(levels: levels, content: .holder(member: node.member, locks: held)))
        }
        let children = node.children.filter { !others.contains($0) }.sorted { since($0) < since($1) }
        for child in children { add(child, levels + [child != children.last], without: others) }
    }

    private func blocked(_ waiter: Int, by member: Int) -> [Int] {
        let locks = members[nodes[waiter].member].locks
        return nodes[waiter].awaited.flatMap { locks[$0].blockers }.filter { $0.member == member }.map(\.lock)
    }

    private func since(_ number: Int) -> Int64 {
        nodes[number].awaited.first.map { members[nodes[number].member].locks[$0].since } ?? .max
    }

    private mutating func addQuestions() {
        for (member, one) in members.enumerated() where !one.questions.isEmpty {
            lines.append(Line(levels: [], content: .holder(member: member, locks: [])))
            for question in one.questions.indices {
                let isLast = question == one.questions.count - 1
                lines.append(Line(levels: [!isLast], content: .asker(member: member, question: question)))
            }
        }
    }
}
