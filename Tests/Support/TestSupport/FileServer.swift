import Foundation
import GroupSystemCalls
import Testing

/// A server on loopback whose files are pseudo-random bytes, and which misbehaves as a path says: see server.py. It
/// ends with the object.
package final class FileServer {
    package let address: String
    private let process: RunningProcess

    package init() throws {
        let directory = #filePath.split(separator: "/").dropLast().joined(separator: "/")
        process = try RunningProcess(["python3", "/\(directory)/server.py"])
        try process.waitForLines(1)
        address = "http://127.0.0.1:\(process.text.split(separator: "\n").first ?? "")"
    }

    /// Sends the rest of the files that are held.
    package func release() throws { try process.send("go on") }

    /// Ends the server.
    package func end() { process.kill() }

    /// The variables of programs that transfer: a proxy has no way to this machine's loopback.
    package static let environment: [String: String?] = [
        "http_proxy": .none, "https_proxy": .none, "HTTPS_PROXY": .none, "all_proxy": .none,
        "ALL_PROXY": .none,
    ]

    /// Returns the bytes that the server has for a seed.
    package static func content(_ seed: Int, _ length: Int) throws -> [UInt8] {
        let directory = try TemporaryDirectory()
        let file = directory.path + "/content"
        let program = "import random,sys;open(sys.argv[1],'wb').write(random.Random(\(seed)).randbytes(\(length)))"
        let (status, text) = try RunningProcess(["python3", "-c", program, file], input: "").finish()
        try #require(status == 0, "\(text)")
        return try FileDescriptor.open(path: Array(file.utf8), .reading).readAll()
    }
}
