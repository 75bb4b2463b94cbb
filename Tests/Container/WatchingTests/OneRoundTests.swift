import TestSupport
import Testing

/// The leader sees nothing of the states in between.
@Suite(.ownThreads, .timeLimit(.minutes(2)), .tags(.process))
struct `Changes within one round of the leader` {
    static let scripts = [
        "rm -r d; mkdir -p d/e; : > d/e/new", "mkdir -p ../in/e; : > ../in/e/new; mv d ../out; mv ../in d",
        "mkdir n; : > n/1; mv n m; mkdir n; : > n/2", "mv d m; mkdir d; mv m/e d/e; rmdir m",
        "mkdir a; mv a b; mv b c; : > c/f",
        "mv f g; mv keep f; mv g keep", "mv f g; : > f", "mkdir a; mv a ../a; : > ../a/f; mv ../a b",
        ": > a; rm a; mkdir a; rmdir a",
        "mv d/e e; mv foo d/e; mv e foo", "rm f; ln -s keep f; rm keep; mkdir keep", "mv d foo/d; mv foo d",
    ]

    @Test(arguments: `Changes while no process watched`.scripts + scripts)
    func `changes within one round give the right tree, and each directory is watched once after that`(script: String)
        async throws
    {
        let watched = try await WatchedContainer(`Changes while no process watched`.preparation)
        try await watched.changes(inOneRoundBy: script)
        // Each directory is watched under the name that it has now, and no other.
        let directories = try await StreamedTree.onDisk(watched.container).filter { $0.value.type == "directory" }.keys
            .sorted()
        let reported = try await watched.reported(
            by: "find . -path ./.group -prune -o -type d -print > ../directories; "
                + "while read -r d; do mkdir \"$d/probe\"; done < ../directories")
        #expect(reported.sorted() == (["created probe"] + directories.map { "created \($0)/probe" }).sorted())
    }
}
