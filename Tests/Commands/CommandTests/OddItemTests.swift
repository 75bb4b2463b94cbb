import Foundation
import TestSupport
import Testing

@Suite(.tags(.process)) struct `An item of an unusual type` {
    @Test(.needs("python3")) func `a socket, FIFO or device is refused alike by all commands`() async throws {
        let container = try TemporaryContainer()
        let socketAddress = "import socket,sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])"
        _ = try await container.shell("cd \"$1\"; python3 -c '\(socketAddress)' s; mkfifo p")
        #expect(try await container.done("list").lines == ["p", "s"])
        for item in ["s", "p"] {
            for call in [
                ["read", item], ["write", item], ["update", item, "--", "echo"], ["copy", item, "x"],
                ["copy", item, "y"], ["read", "--generation-file", container.directory + "/g", item],
            ] {
                let outcome = try await container.start(
                    "groupctl", [call[0], container.path] + call.dropFirst(), input: "x"
                ).finish()
                let error =
                    "groupctl: cannot \(call[0] == "update" ? "read" : call[0]) '\(item)' in '\(container.path)': the item is not a regular file"
                #expect(outcome.status == 1 && outcome.errors.hasPrefix(error), "\(call) \(outcome)")
            }
        }
    }

    @Test(arguments: [
        ["read", "l/f"], ["write", "l/f"], ["write", "l/new"], ["write", "l/e/new"], ["update", "l/f", "--", "echo"],
        ["mkdir", "l/new"], ["remove", "l/f"], ["move", "l/f", "g"],
        ["move", "d/f", "l/g"], ["copy", "l/f", "g"], ["copy", "d/f", "l/g"], ["list", "l"], ["list", "l/e"],
        ["read", "ll/f"],
        ["read", "a/l/f"], ["copy", "-r", "l/e", "x"], ["lock", "l/f", "--", "echo"],
    ]) func `the refusal of a path through a symbolic link has the item's own path`(call: [String])
        async throws
    {
        let container = try TemporaryContainer()
        _ = try await container.shell(
            "cd \"$1\"; mkdir -p d/e a; : > d/f; : > d/e/f; ln -s d l; ln -s l ll; ln -s ../d a/l")
        let outcome = try await container.start("groupctl", [call[0], container.path] + call.dropFirst(), input: "x")
            .finish()
        #expect(outcome.status == 64 && outcome.output.isEmpty, "\(outcome)")
        let path = try #require(call.first { $0.hasPrefix("l") && $0 != "lock" && $0 != "list" || $0.hasPrefix("a/") })
        let link = path.hasPrefix("a/") ? "a/l" : path.split(separator: "/").first.map(String.init) ?? ""
        let own = "d" + path.dropFirst(link.count)
        #expect(outcome.errors.contains("'\(link)' is a symbolic link"), "\(outcome)")
        #expect(outcome.errors.contains("name the item '\(own)'"), "\(outcome)")
        #expect(!outcome.errors.contains("Too many"), "\(outcome)")
    }

    @Test func `the refusal of a path through a symbolic link that leads out has the target`() async throws {
        let container = try TemporaryContainer()
        _ = try await container.shell(
            "cd \"$1\"; ln -s ../.. up; ln -s /etc etc; ln -s b a; ln -s a b; ln -s nowhere n; ln -s .group own")
        for (path, sentence) in [
            ("up/x", "'up' is a symbolic link that leads out of the container, to '../..'"),
            ("etc/passwd", "'etc' is a symbolic link that is absolute, and is not followed, to '/etc'"),
            ("a/x", "loop"),
            ("own/format", "'own' is a symbolic link that leads into a container's own directory, to '.group'"),
        ] {
            let outcome = try await container.run("read", path)
            #expect(outcome.status == 77 && outcome.errors.contains(sentence), "\(outcome)")
        }
        let nowhere = try await container.run("read", "n/x")
        #expect(nowhere.status == 64 && nowhere.errors.contains("name the item 'nowhere/x'"), "\(nowhere)")
    }
}

@Suite(.tags(.process)) struct `The quit signal` {
    private static let environment: [String: String?] = ["SWIFT_BACKTRACE": "enable=yes,color=no,interactive=no"]

    @Test func `SIGQUIT ends groupctl without a backtrace`() async throws {
        let container = try TemporaryContainer()
        let holder = try container.start(
            "groupctl", ["lock", container.path, "a", "--", "sh", "-c", "echo held; exec cat"], input: nil,
            environment: Self.environment)
        #expect(try await holder.readLine() == "held")
        let waiter = try container.start("groupctl", ["write", container.path, "a"], environment: Self.environment)
        while try await JSONStatus(of: container).members.allSatisfy({ $0.pid != waiter.identifier }) {}
        waiter.signal(SIGQUIT)
        let outcome = try await waiter.finish()
        #expect(outcome.status == 128 + 3 && outcome.errors.isEmpty && outcome.output.isEmpty, "\(outcome)")
        _ = holder
    }

    @Test(arguments: [[], ["--", "sh", "-c", "cat > /dev/null"]])
    func `SIGQUIT ends watch-group as other signals do`(command: [String]) async throws {
        let container = try TemporaryContainer()
        let watcher = try container.start(
            "watch-group", ["--verbose", container.path] + command, environment: Self.environment)
        #expect(try await watcher.readLine(from: .errors)?.hasPrefix("watching") == true)
        watcher.signal(SIGQUIT)
        let outcome = try await watcher.finish()
        #expect(
            outcome.status == 128 + 3 && !outcome.errors.contains("Backtrace") && !outcome.errors.contains("💣"),
            "\(outcome)")
        #expect(outcome.errors.count < 2_000, "\(outcome)")
    }
}
