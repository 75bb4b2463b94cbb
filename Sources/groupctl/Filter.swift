import CommandLineKit
import SystemCalls

/// A command that turns its input into its output.
enum Filter {
    /// One that cannot be started has status 126 or 127, as a shell gives it. It dies with this process.
    static func run(_ command: [[UInt8]], input: [UInt8]) throws -> (output: [UInt8], status: ExitStatus) {
        do throws(Errno) {
            let (output, status) = try ChildProcess.filter(command, input: input)
            return (output, ExitStatus(rawValue: status))
        } catch {
            switch error {
            case .noSuchEntry: return ([], .commandNotFound)
            case .accessDenied: return ([], .commandNotExecutable)
            default: throw error
            }
        }
    }
}
