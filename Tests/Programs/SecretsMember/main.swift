#if Secrets
// A program of a group that calls the secret service for each line of its input, and prints one line for each.
import Glibc
import GroupSecrets

let usage = """
    usage: secrets-member GROUP

    set NAME SECRET | get NAME | remove NAME | names | unlock | async NAME | cancel NAME | reference NAME
    timeout MILLISECONDS    limit each later call; the default is the library's
    descriptors             the number of descriptors of this process

    """

func printLine(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    if unsafe write(1, bytes, bytes.count) != bytes.count { exit(74) }
}

func openDescriptors() -> Int { (0..<1_024).count { fcntl($0, F_GETFD) >= 0 } }

func text(_ secret: [UInt8]?) -> String { secret.map { "'\(String(decoding: $0, as: UTF8.self))'" } ?? "none" }

let words = CommandLine.arguments
guard words.count == 2 else {
    print(usage, terminator: "")
    exit(64)
}
// However the test ends, the process does.
_ = alarm(120)
let secrets = try GroupSecrets(group: words[1])
var timeout: Duration? = GroupSecrets.timeout
while let line = readLine() {
    let words = line.split(separator: " ", maxSplits: 2).map(String.init)
    let name = words.count > 1 ? words[1] : ""
    do throws(SecretError) {
        switch words.first {
        case "set":
            try secrets.blocking.set(Array((words.count > 2 ? words[2] : "").utf8), for: name, timeout: timeout)
            printLine("set")
        case "get": printLine(text(try secrets.blocking.secret(for: name, timeout: timeout)))
        case "async": printLine(text(try await secrets.secret(for: name, timeout: timeout)))
        case "cancel":
            let (secrets, limit) = (secrets, timeout)
            let task = Task { () throws(SecretError) in try await secrets.secret(for: name, timeout: limit) }
            task.cancel()
            switch await task.result {
            case .success(let secret): printLine(text(secret))
            case .failure(let error): printLine("\(error)")
            }
        case "reference": printLine(text(try await secrets.reference(to: name).secret(timeout: timeout)))
        case "remove": printLine("\(try secrets.blocking.remove(name, timeout: timeout))")
        case "names": printLine("\(try secrets.blocking.names(timeout: timeout))")
        case "unlock":
            try secrets.blocking.unlock(timeout: timeout)
            printLine("unlocked")
        case "timeout":
            timeout = Int(name).map { .milliseconds($0) }
            printLine("timeout")
        case "descriptors": printLine("\(openDescriptors())")
        default: printLine(usage)
        }
    } catch {
        printLine("\(error)")
    }
}
#endif
