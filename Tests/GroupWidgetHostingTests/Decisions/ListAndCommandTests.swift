import Testing

@testable import GroupWidgetHosting

@Suite struct `The list of widgets` {
    private let installed = ["c", "a", "b"]

    @Test func `has all of them until somebody chooses`() {
        #expect(ShownList().kinds(among: installed) == ["a", "b", "c"])
    }

    @Test func `is added to at its end, taken from, and ordered`() {
        var list = ShownList()
        #expect(!list.add("a", among: installed) && list.chosen == nil)
        #expect(list.remove("a", among: installed) && !list.remove("a", among: installed))
        #expect(list.add("a", among: installed) && list.kinds(among: installed) == ["b", "c", "a"])
        list.order(["a", "x", "c", "a"], among: installed)
        #expect(list.chosen == ["a", "c", "b"])
    }

    @Test func `keeps the place of one that is not installed for now`() {
        var list = ShownList(["a", "gone", "b"])
        #expect(list.kinds(among: installed) == ["a", "b"])
        list.order(["b"], among: installed)
        #expect(list.chosen == ["b", "a", "gone"])
    }
}

@Suite struct `A line of commands` {
    @Test(
        arguments: [
            (["show", "a"], .show("a")), (["reload"], .reload(nil)), (["reload", "a"], .reload("a")),
            (["open", "a", "2"], .open("a", line: 2)), (["order", "b", "a"], .order(["b", "a"])),
            (["front", "yes"], .front(true)), (["quit"], .quit),
        ] as [([String], UserCommand)])
    func `is understood`(words: [String], command: UserCommand) throws {
        #expect(try UserCommand(words: words) == command)
    }

    @Test(arguments: [
        ["show"], ["show", "a", "b"], ["open", "a", "0"], ["open"], ["front"], ["quit", "now"], ["jump"],
    ])
    func `that makes no sense says what would`(words: [String]) {
        #expect(throws: UserCommand.Fault.self) { try UserCommand(words: words) }
    }
}
