import Foundation

/// A file system of its own, visible only to the programs that are started in it, on a device that refuses to write
/// whenever the test wants it: nbdkit's `error` filter behind a file of nbdfuse, with a loop device over that.
package final class BrokenDisk {
    /// Why there can be none on this machine; nil if there can.
    package static let whatIsMissing: String? = {
        if !SmallFileSystem.isPossible { return "needs root and the permission to mount" }
        if !succeeds(["sh", "-c", "command -v nbdkit && command -v nbdfuse && command -v mkfs.ext4"]) {
            return "needs nbdkit, nbdfuse and mkfs.ext4; tools/setup --tools installs them"
        }
        return succeeds(["sh", "-c", "test -c /dev/fuse && test -c /dev/loop-control"])
            ? nil : "needs FUSE and loop devices"
    }()

    private let surroundings: TemporaryContainer
    /// The process that holds the mount namespace and the device.
    private let keeper: RunningProcess
    private var refusal: String { surroundings.directory + "/broken" }

    /// The directory around the file system, which is `disk` in it.
    package var directory: String { surroundings.directory }

    package init() throws {
        surroundings = try TemporaryContainer(creating: false)
        let script = """
            cd "$1" && mkdir disk device && mkfifo served ready || exit
            nbdkit -f -U socket -P served --filter=error memory 48M \\
                error-pwrite=EIO error-pwrite-rate=100% error-pwrite-file="$1/broken" & server=$!
            read -r _ <served
            nbdfuse -P ready device/nbd --unix socket & file=$!
            read -r _ <ready
            mkfs.ext4 -q -F -O ^has_journal -E nodiscard device/nbd && mount -o loop device/nbd disk && echo mounted
            while read -r order; do
                case $order in remount) umount disk && mount -o loop device/nbd disk && echo remounted ;; esac
            done
            umount disk
            umount device
            kill $server
            wait $file $server
            """
        keeper = try RunningProcess(["unshare", "-m", "sh", "-c", script, "sh", surroundings.directory])
        try keeper.waitForText("mounted\n")
    }

    /// Makes every write to the device fail from now on.
    package func fail() throws {
        guard FileManager.default.createFile(atPath: refusal, contents: nil) else {
            throw TemporaryContainer.Failed(description: "cannot make \(refusal)")
        }
    }

    /// Lets every write to the device succeed from now on.
    package func heal() throws { try FileManager.default.removeItem(atPath: refusal) }

    /// Mounts the device again, so that everything is read from it from now on. Nothing may be open in it.
    package func remount() throws {
        try keeper.send("remount")
        try keeper.waitForText("remounted\n")
    }

    /// Returns the command for a program in its directory, in its namespace.
    package func command(_ words: String...) -> [String] {
        ["nsenter", "-t", "\(keeper.identifier)", "-m", "-r", "env", "-C", directory, BuildDirectory.resolve(words[0])]
            + words.dropFirst()
    }

    package func run(_ words: String..., input: String = "") throws -> (status: Int32, text: String) {
        try RunningProcess(
            command("true").dropLast() + [BuildDirectory.resolve(words[0])] + words.dropFirst(), input: input
        ).finish()
    }

    /// Ends the device, and returns once it is gone.
    package func end() throws {
        keeper.closeInput()
        _ = try keeper.finish()
    }
}
