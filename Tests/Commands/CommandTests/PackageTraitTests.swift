import TestSupport
import Testing

/// Programs that were built without a package trait: this target is built with all of them, or with none.
@Suite(.ownThreads, .tags(.process)) struct `A program that was built without a library` {
    private static let programs: [(name: String, traits: String, packages: String, isBuilt: Bool)] = [
        ("group-transfer", "Curl", "libcurl4-openssl-dev libssl-dev", hasCurl),
        ("group-cluster", "Curl,SQLite", "libcurl4-openssl-dev libssl-dev", hasCurl && hasSQLite),
        ("widget-window", "GTK", "libgtk-4-dev", hasGTK),
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
    #if GTK
    private static let hasGTK = true
    #else
    private static let hasGTK = false
    #endif

    @Test(arguments: ["group-transfer", "group-cluster", "widget-window"])
    func `prints its help, version and manual page`(program: String) throws {
        for option in ["--help", "--version", "--manual-page", "--completions=bash"] {
            let (status, text) = try RunningProcess([program, option]).finish()
            #expect(status == 0 && text.contains(program), "\(option): \(text)")
        }
    }

    @Test(arguments: programs.filter { !$0.isBuilt }.map { ($0.name, $0.traits, $0.packages) })
    func `names the trait and the packages, and ends with 69`(program: String, traits: String, packages: String) throws
    {
        let container = try TemporaryContainer()
        let words =
            switch program {
            case "group-transfer": ["list", container.path]
            case "group-cluster": ["status", container.path]
            default: [container.path]
            }
        let (status, text) = try RunningProcess([program] + words).finish()
        #expect(status == 69)
        #expect(text.hasPrefix("\(program): cannot start: this program was built without the package trait"), "\(text)")
        #expect(text.contains(" \(traits); install \(packages)"), "\(text)")
    }
}
