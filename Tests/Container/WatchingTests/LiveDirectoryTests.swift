import Foundation
import TestSupport
import Testing

@Suite(.ownThreads, .timeLimit(.minutes(2)), .tags(.process))
struct `Stream of external directory changes` {
    @Test func `ten nested directories that are made at once are reported from the top`() async throws {
        let watched = try await WatchedContainer()
        let paths = (1...10).map { depth in (1...depth).map(String.init).joined(separator: "/") }
        #expect(try await watched.reported(by: "mkdir -p 1/2/3/4/5/6/7/8/9/10") == paths.map { "created \($0)" })
        #expect(try await watched.reported(by: ": > \(paths[9])/f").withoutRepetitions == ["created \(paths[9])/f"])
    }

    @Test func `a file that changes at once in a new directory is reported as it is at the end`() async throws {
        let watched = try await WatchedContainer()
        let changes = try await watched.changes(by: "mkdir d; : > d/f; rm d/f; printf x > d/f")
        #expect(changes.first?.summary == "created d")
        #expect(changes.last?.path == "d/f" && changes.last?.size == 1, "\(changes.map(\.summary))")
    }

    @Test func `all of 1,200 files that are made in a new directory are reported`() async throws {
        let watched = try await WatchedContainer()
        let reported = try await watched.reported(by: "mkdir d; cd d; seq 1200 | xargs touch")
        let created = reported.filter { $0.hasPrefix("created ") }
        #expect(created.count == 1_201 && Set(created).count == 1_201)
        #expect(reported.allSatisfy { $0.hasPrefix("created ") || $0.hasPrefix("touched ") })
    }

    @Test func `all of many new directories with files in them are reported`() async throws {
        let watched = try await WatchedContainer()
        let reported = try await watched.reported(
            by: "for n in $(seq 100); do mkdir -p d$n/e; : > d$n/1; : > d$n/e/2; : > d$n/e/3; done")
        #expect(Set(reported.filter { $0.hasPrefix("created ") }).count == 500)
        // Every directory is watched afterwards.
        #expect(try await watched.reported(by: "for n in $(seq 100); do printf x >> d$n/e/2; done").count == 100)
    }

    @Test func `a directory that is removed is reported after everything in it`() async throws {
        let watched = try await WatchedContainer("mkdir -p d/e/g d/h; : > d/1; : > d/e/2; : > d/e/g/3; : > d/h/4")
        let reported = try await watched.reported(by: "rm -rf d")
        // `StreamedTree` checks that children come before their parents.
        #expect(reported.count == 8 && Set(reported).count == 8 && reported.last == "removed d", "\(reported)")
        #expect(reported.allSatisfy { $0.hasPrefix("removed ") })
    }

    @Test func `a directory that comes and goes quickly is reported as created as often as removed`() async throws {
        let watched = try await WatchedContainer()
        // Another directory in the place of the last one, in one round, is a touch.
        let reported = try await watched.reported(by: "for n in $(seq 30); do mkdir d; rmdir d; done")
            .filter { $0 != "touched d" }
        #expect(reported.count.isMultiple(of: 2))
        #expect(
            reported.enumerated().allSatisfy { $1 == ($0.isMultiple(of: 2) ? "created d" : "removed d") }, "\(reported)"
        )
        #expect(try await watched.reported(by: "mkdir d; : > d/f").withoutRepetitions == ["created d", "created d/f"])
    }

    @Test func `a change of a directory's mode is reported as a touch`() async throws {
        let watched = try await WatchedContainer("mkdir d; chmod 755 d; : > d/f")
        #expect(try await watched.reported(by: "chmod 700 d") == ["touched d"])
    }

    @Test(.enabled(if: Self.hasGit)) func `everything that git makes in a new repository is reported`() async throws {
        let watched = try await WatchedContainer("mkdir r; for n in $(seq 100); do echo $n > r/$n; done")
        let reported = try await watched.reported(
            by: "cd r; git init -q .; git add .; git -c user.name=n -c user.email=e commit -qm first; git gc -q")
        #expect(reported.contains { $0.hasPrefix("created r/.git/objects/") })
        #expect(
            try await watched.reported(by: "printf x > r/.git/new").withoutRepetitions.first == "created r/.git/new")
    }

    private static let hasGit = ["/usr/bin/git", "/usr/local/bin/git"].contains {
        FileManager.default.isExecutableFile(atPath: $0)
    }
}
