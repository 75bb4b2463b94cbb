/// A file system of its own that is soon full, seen by nobody but the programs that are started in it. It goes when the
/// test lets go of it.
package final class SmallFileSystem {
    package enum Kind: String, CaseIterable, Sendable {
        case memory = "mount -t tmpfs -o size=12m none disk"
        case ext4 = """
            truncate -s 24M image && mkfs.ext4 -q -O ^has_journal image && mount -o loop image disk
            """
    }

    /// Whether one can be mounted; it takes root, and not in every container.
    package static let isPossible = isRoot && succeeds(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"])

    /// Holds the mount namespace; goes first.
    private let keeper: Command
    private let surroundings: TemporaryContainer

    /// Where it is mounted, for the programs that are started in it.
    package var path: String { surroundings.folder + "/disk" }

    package convenience init(_ kind: Kind) async throws { try await self.init(mounting: kind.rawValue) }

    /// In memory, with room for so much.
    package convenience init(megabytes: Int) async throws {
        try await self.init(mounting: "mount -t tmpfs -o size=\(megabytes)m none disk")
    }

    private init(mounting mount: String) async throws {
        surroundings = try await TemporaryContainer(creating: false)
        let script = "cd \"$1\" && mkdir disk && { \(mount); } && echo mounted && exec cat"
        // Its input ends with this process, however that ends.
        let words = ["-m", "sh", "-c", script, "sh", surroundings.folder]
        keeper = try surroundings.start("unshare", words, input: nil)
        guard try await keeper.readLine() == "mounted" else {
            throw TemporaryContainer.Failed(description: "no file system: \(try await keeper.finish())")
        }
    }

    /// What starts a program there: nsenter(1) becomes it.
    package func words(_ words: [String]) -> [String] { ["nsenter", "-t", "\(keeper.identifier)", "-m", "--"] + words }

    /// Around the file system, and seen by everybody.
    package var surroundingFolder: String { surroundings.folder }

    /// Starts a program in the folder around the file system, which is `disk` there.
    package func start(
        _ program: String, _ words: [any BytesConvertible], input: any BytesConvertible = "",
        output: Command.Output = .captured
    ) throws -> Command {
        let enter = [
            "-t", "\(keeper.identifier)", "-m", "env", "-C", surroundings.folder, BuildFolder.resolve(program),
        ]
        return try surroundings.start("nsenter", enter + words, input: input, output: output)
    }

    /// Runs a shell script there to its end; `fill` in it leaves not one byte free, `make_room` undoes that.
    package func shell(_ script: String) async throws -> Command.Outcome {
        let functions = """
            fill() { dd if=/dev/zero of=disk/filler bs=64k; dd if=/dev/zero of=disk/filler2 bs=1; } 2>/dev/null
            make_room() { rm disk/filler disk/filler2; }

            """
        return try await start("sh", ["-c", functions + script]).finish()
    }
}
