import TestSupport
import Testing

/// Programs that were built without a package trait: this target is built with all of them, or with none.
@Suite(.tags(.process)) struct `A program that was built without a library` {
    private static let programs: [(name: String, traits: String, isBuilt: Bool)] = [
        ("group-transfer", "Curl", hasCurl), ("group-cluster", "Curl,SQLite", hasCurl && hasSQLite),
    ]
    #if Curl
    private static let hasCurl = true
    #else
    private static let hasCurl = false
    #endif
    #if SQLite
    private static let hasSQLite = true
    #else
    private static let hasSQLite = false
    #endif

    @Test(arguments: ["group-transfer", "group-cluster"])
    func `prints its help, version and manual page`(program: String) throws {
        for option in ["--help", "--version", "--manual-page", "--completions=bash"] {
            let (status, text) = try RunningProcess([program, option]).finish()
            #expect(status == 0 && text.contains(program), "\(option): \(text)")
        }
    }

    @Test(arguments: programs.filter { !$0.isBuilt }.map { ($0.name, $0.traits) })
    func `names the trait and the packages, and ends with 69`(program: String, traits: String) throws {
        let container = try TemporaryContainer()
        let words = program == "group-transfer" ? ["list", container.path] : ["status", container.path]
        let (status, text) = try RunningProcess([program] + words).finish()
        #expect(status == 69)
        #expect(text.hasPrefix("\(program): cannot start: this program was built without the package trait"), "\(text)")
        #expect(text.contains(" \(traits); install libcurl4-openssl-dev libssl-dev"), "\(text)")
    }
}
