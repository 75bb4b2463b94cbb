import Extensions
import ExtensionHosting

/// The reason why a page was not handled.
enum PageFault: Error, CustomStringConvertible {
    /// The browser could not be started.
    case notStarted(String)
    /// The browser ended, or closed its pipe.
    case browserEnded
    /// The browser sent what is no message of its protocol, or an error.
    case browserFault(String)
    /// The browser sent a message of more bytes than are read.
    case tooMuchOutput(limit: Int)
    /// The time was over while this was waited for.
    case deadline(Duration, during: String)
    case cancelled
    /// The address could not be shown.
    case notShown(String)
    /// The page was left for another one before the script was done.
    case navigated
    /// The page's process has ended.
    case pageEnded
    /// The script's file cannot be read.
    case noScript(String)
    /// The script, or one of its functions, has thrown.
    case scriptThrew(String)
    /// The script has dropped its completion function.
    case neverCompletes
    /// The script's value is no property list.
    case notPropertyList
    /// The extension takes no property list, or is for another point.
    case notTaken(String)
    case failed(ExtensionFailure)
    case extensionCancelled(ExtensionError)
    case malformed(MalformedItem)

    var description: String {
        switch self {
        case .notStarted(let cause): "the browser cannot be started: \(cause)"
        case .browserEnded: "the browser has ended"
        case .browserFault(let what): "the browser sent an error: \(what)"
        case .tooMuchOutput(let limit): "the browser sent a message of more than \(limit) bytes"
        case .deadline(let time, let what): "there was no answer within \(time), during: \(what)"
        case .cancelled: "the request was cancelled"
        case .notShown(let reason): "the page cannot be shown: \(reason)"
        case .navigated: "the page was left before the script was done"
        case .pageEnded: "the page's process has ended"
        case .noScript(let reason): "the extension's script cannot be read: \(reason)"
        case .scriptThrew(let text): "the script has thrown: \(text)"
        case .neverCompletes: "the script never calls its completion function"
        case .notPropertyList: "the script's value is no property list"
        case .notTaken(let reason): reason
        case .failed(let failure): "\(failure)"
        case .extensionCancelled(let error): error.text
        case .malformed(let fault): "\(fault)"
        }
    }

    /// Whether the time was over, for the browser or for the extension.
    var isDeadline: Bool {
        switch self {
        case .deadline: true
        case .failed(let failure): if case .deadline = failure.reason { true } else { false }
        default: false
        }
    }
}
