// Imports nothing: no file, clock or process.

/// The options that groupctl had before group-cluster had these commands: what to call instead. Outside of
/// Sources/Commands, whose commands know nothing of a cluster.
package enum RemovedOptions {
    /// Returns the options of a subcommand, each with the call that has taken its place.
    package static func of(_ subcommand: String) -> [String: String] {
        switch subcommand {
        case "read": ["latest": "group-cluster read GROUP PATH"]
        case "update":
            [
                "replicated": "group-cluster update GROUP PATH -- COMMAND",
                "cluster": "group-cluster update GROUP PATH --locked -- COMMAND",
            ]
        case "write", "mkdir", "remove": ["replicated": "group-cluster \(subcommand) GROUP PATH"]
        case "move", "copy": ["replicated": "group-cluster \(subcommand) GROUP FROM TO"]
        default: [:]
        }
    }
}
