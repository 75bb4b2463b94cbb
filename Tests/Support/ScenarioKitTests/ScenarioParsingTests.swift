import ScenarioKit
import Testing

@Suite struct `Scenario files` {
    static let sample = """
        A temporary file takes a file's place
        # A remark.
        behavior: 6, 15
        needs: sh true
        not in one round: the leader is probed

        before:
          write f "old text"
          groupctl write g < x
        steps:
          repeat 2: create t% ; rm t%
          mv "a\\n\\xff" f
          transaction write a 1 ; remove b
          sh echo 'as  it' > is
        reported:
          @created a
          modified* f
          in any order:
            created? t1
            any d/**
          either:
            nothing
          or:
            moved a b
        steps:
          rm f
        reported:
          removed f
        reported in one round:
          nothing
        reported unwatched:
          removed f
        """

    @Test func `a scenario's file is taken apart`() throws {
        let scenario = try Scenario(parsing: Self.sample)
        #expect(scenario.title == "A temporary file takes a file's place")
        #expect(scenario.behaviors == [6, 15] && scenario.needs == ["sh", "true"])
        #expect(scenario.notInOneRound == "the leader is probed" && scenario.open == nil && !scenario.isPure)
        #expect(scenario.before.map(\.description) == [#"write f "old text""#, "groupctl write g < x"])
        try #require(scenario.phases.count == 2)
        #expect(
            scenario.phases[0].steps.map(\.description) == [
                "create t1", "rm t1", "create t2", "rm t2", #"mv "a\n\xff" f"#, "transaction write a 1 ; remove b",
                "sh echo 'as  it' > is",
            ])
        typealias Line = StreamPattern.Line
        var created = Line("created", Array("a".utf8))
        created.isCoordinated = true
        var modified = Line("modified", Array("f".utf8))
        (modified.atLeast, modified.atMost) = (0, .max)
        var perhaps = Line("created", Array("t1".utf8))
        perhaps.atLeast = 0
        var below = Line("any", Array("d".utf8))
        below.isBelow = true
        let moved = Line("moved", Array("b".utf8), from: Array("a".utf8))
        #expect(
            scenario.phases[0].reported == [
                .line(created), .line(modified), .anyOrder([perhaps, below]), .either([[], [.line(moved)]]),
            ])
        let (first, second) = (scenario.phases[0], scenario.phases[1])
        #expect(first.reportedInOneRound == nil && first.expected(.inOneRound) == first.reported)
        #expect(second.reportedInOneRound == [] && second.reportedUnwatched == second.reported)
        #expect(scenario.isPlayed(.live) && !scenario.isPlayed(.inOneRound) && !scenario.isPlayed(.unwatched))
    }

    @Test(arguments: [
        ("", 1, "not a title"), ("steps:\n  rm f", 1, "not a title"), ("Title", 1, "nothing happens"),
        ("Title\nsteps:\n  wirte f x", 3, "'wirte f x' is no step: those are append, chmod"),
        ("Title\nsteps:\n  write f", 3, "is no step"), ("Title\nsteps:\n  write f \"x", 3, "quotation mark"),
        ("Title\nsteps:\n  rm \"\\q\"", 3, #"'\q' is none of"#), ("Title\nsteps:\n  chmod 9 f", 3, "is no step"),
        ("Title\nsteps:\n  repeat x: rm f", 3, "is not 'repeat N: STEP; STEP'"),
        ("Title\nsteps:\n  groupctl", 3, "is not 'groupctl SUBCOMMAND"), ("Title\nsteps:\n rm f", 2, "two spaces"),
        ("Title\nsteps:\n  rm f\nreported:\n  deleted f", 5, "'deleted f' is not '[@]KIND[+*?] PATH'"),
        ("Title\nsteps:\n  rm f\nreported:\n  moved f", 5, "'moved f' is not"),
        ("Title\nsteps:\n  rm f\nreported:\n    removed f", 5, "indented too far"),
        ("Title\nsteps:\n  rm f\nreported:\n  either:\n    nothing", 5, "has no 'or:'"),
        (
            "Title\nsteps:\n  rm f\nreported:\n  in any order:\n    either:\n      nothing\n    or:\n      nothing", 5,
            "lines only"
        ),
        ("Title\nreported:\n  nothing", 2, "no steps come before"),
        ("Title\nbehavior: 41\nsteps:\n  rm f", 2, "1 to 40"),
        ("Title\nbehaviors: 4\nsteps:\n  rm f", 2, "is no heading"), ("Title\nstep:\n  rm f", 2, "is no heading"),
        ("Title\n  rm f", 2, "stands below no heading"), ("Title\nsteps:\nbefore:\n  rm f", 2, "has no value"),
    ])
    func `an error in a scenario's file names the line, and how it should be`(text: String, line: Int, reason: String) {
        let fault = #expect(throws: ScenarioFault.self) { try Scenario(parsing: text) }
        #expect(fault?.line == line && fault?.reason.contains(reason) == true, "\(fault.map { "\($0)" } ?? "none")")
    }

    @Test(arguments: [["a b"], ["a\nb\t\\\"", ""], [";", "<"], ["ä", "-x", "'"]])
    func `words are written so that they are read again`(words: [String]) throws {
        let words = words.map { Array($0.utf8) } + [[0xFF, 0x01]]
        #expect(try Words.split(Words.joined(words)) == words)
    }
}
