/// A file system of its own that is soon full, visible only to the programs that are started in it. It goes when the
/// test releases it.
package final class SmallFileSystem {
    package enum Kind: String, CaseIterable, Sendable {
        case memory = "mount -t tmpfs -o size=12m none disk"
        case ext4 = """
            truncate -s 24M image && mkfs.ext4 -q -O ^has_journal image && mount -o loop image disk
            """
    }

    /// Whether such a file system can be mounted; this takes root, and does not work in every container.
    package static let isPossible = isRoot && succeeds(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"])

    /// The process that holds the mount namespace; ends first.
    private let keeper: RunningProcess
    private let surroundings: TemporaryContainer
    /// The file system's device number and its size in bytes, which a fill checks.
    private let device: Int
    private let size: Int
    /// The largest size that counts as small.
    private static let largest = 1 << 30

    /// Where the file system is mounted, for the programs that are started in it.
    package var path: String { surroundings.directory + "/disk" }

    package convenience init(_ kind: Kind) async throws { try await self.init(mounting: kind.rawValue) }

    /// Makes a file system in memory, with this much room.
    package convenience init(megabytes: Int) async throws {
        try await self.init(mounting: "mount -t tmpfs -o size=\(megabytes)m none disk")
    }

    private init(mounting mount: String) async throws {
        surroundings = try TemporaryContainer(creating: false)
        // Refused where `disk` is on the same file system as the directory that it lies in: a fill would have no end
        // there.
        let script = """
            cd "$1" && mkdir disk && { \(mount); } && device=$(stat -c %d disk) && [ "$device" != "$(stat -c %d .)" ] &&
                echo "$device $(($(stat -f -c '%b * %S' disk)))" && exec cat
            """
        // The keeper's input ends with this process, however that ends.
        let words = ["-m", "sh", "-c", script, "sh", surroundings.directory]
        keeper = try surroundings.start("unshare", words, input: nil)
        let facts = (try await keeper.readLine() ?? "").split(separator: " ").compactMap { Int(String($0)) }
        guard facts.count == 2, facts[1] <= Self.largest else {
            throw TemporaryContainer.Failed(description: "no small file system: \(try await keeper.finish())")
        }
        device = facts[0]
        size = facts[1]
    }

    /// The options of nsenter(1) that enter the file system: the namespace, and the keeper's root, because a mount
    /// namespace that is entered without it puts the process at the root of the machine, outside of a chroot that this
    /// process runs in.
    private var entering: [String] { ["-t", "\(keeper.identifier)", "-m", "-r"] }

    /// Returns the words that start a program there: nsenter(1) becomes it.
    package func words(_ words: [String]) -> [String] { ["nsenter"] + entering + ["--"] + words }

    /// The directory around the file system, visible to all programs.
    package var surroundingDirectory: String { surroundings.directory }

    /// Starts a program in the directory around the file system, which is `disk` there.
    package func start(
        _ program: String, _ words: [any BytesConvertible], input: any BytesConvertible = "",
        output: RunningProcess.Output = .captured
    ) throws -> RunningProcess {
        let enter = entering + ["env", "-C", surroundings.directory, BuildDirectory.resolve(program)]
        return try surroundings.start("nsenter", enter + words, input: input, output: output)
    }

    /// Runs a shell script there to its end; `fill` in it leaves not one byte free, `make_room` undoes that.
    package func shell(_ script: String) async throws -> RunningProcess.Outcome {
        try await start("sh", ["-c", filling + script]).finish()
    }

    /// A shell script's functions, for a script that runs where the file system is visible. `fill` leaves not one byte
    /// of it free, `make_room` undoes that. `fill` writes only to the device that was mounted, and never more than fits
    /// there: where a script runs somewhere else than it should, the directory of that name may be the machine's
    /// memory. In that case `fill` prints so and ends the script with 99.
    package var filling: String {
        let disk = "'\(path)'"
        return """
            fill() {
                if [ "$(stat -c %d \(disk))" != \(device) ]; then
                    echo "not filled: \(path) is not the small file system" >&2
                    exit 99
                fi
                {
                    dd if=/dev/zero of=\(disk)/filler bs=64k count=\(size / 65_536 + 1)
                    dd if=/dev/zero of=\(disk)/filler2 bs=1 count=131072
                } 2>/dev/null
                true
            }
            make_room() { rm -f \(disk)/filler \(disk)/filler2; }

            """
    }
}
