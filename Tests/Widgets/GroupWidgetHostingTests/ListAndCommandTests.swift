import Testing

@testable import GroupWidgetHosting

@Suite struct `The list of shown widgets` {
    private let installed = ["c", "a", "b"]

    @Test func `the list has all installed widgets until the user chooses`() {
        #expect(ShownList().kinds(among: installed) == ["a", "b", "c"])
    }

    @Test func `a widget is added to the end of the list, removed, and ordered`() {
        var list = ShownList()
        #expect(!list.add("a", among: installed) && list.chosen == nil)
        #expect(list.remove("a", among: installed) && !list.remove("a", among: installed))
        #expect(list.add("a", among: installed) && list.kinds(among: installed) == ["b", "c", "a"])
        list.order(["a", "x", "c", "a"], among: installed)
        #expect(list.chosen == ["a", "c", "b"])
    }

    @Test func `the list keeps the place of a widget that is not installed`() {
        var list = ShownList(["a", "gone", "b"])
        #expect(list.kinds(among: installed) == ["a", "b"])
        list.order(["b"], among: installed)
        #expect(list.chosen == ["b", "a", "gone"])
    }
}

@Suite struct `A command line of widget-host` {
    @Test(
        arguments: [
            (["show", "a"], .show("a")), (["reload"], .reload(nil)), (["reload", "a"], .reload("a")),
            (["open", "a", "2"], .open("a", line: 2)), (["order", "b", "a"], .order(["b", "a"])),
            (["front", "yes"], .front(true)), (["quit"], .quit),
        ] as [([String], UserCommand)])
    func `each command of widget-host is read from its words`(words: [String], command: UserCommand) throws {
        #expect(try UserCommand(words: words) == command)
    }

    @Test(arguments: [
        ["show"], ["show", "a", "b"], ["open", "a", "0"], ["open"], ["front"], ["quit", "now"], ["jump"],
    ])
    func `a malformed command of widget-host is refused with its usage`(words: [String]) {
        #expect(throws: UserCommand.Fault.self) { try UserCommand(words: words) }
    }
}
