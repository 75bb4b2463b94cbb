package import CGroupInterface
import GroupContainer

/// Where a C function puts the description of an error.
package typealias ErrorPointer = UnsafeMutablePointer<UnsafeMutablePointer<group_error>?>

/// The outcomes of a function that are no errors.
enum Outcome: Error {
    /// Nothing came, or a comparison did not hold.
    case nothing
    /// A callback returned something else than 0.
    case refused

    var status: group_status {
        switch self {
        case .nothing: group_status(GROUP_NOTHING)
        case .refused: group_status(GROUP_REFUSED)
        }
    }
}

/// The codes of errors by the number of their status.
private let codes: [(group_status, CoordinationError.Code)] = [
    (group_status(GROUP_INVALID_ARGUMENT), .invalidArgument), (group_status(GROUP_NOT_FOUND), .notFound),
    (group_status(GROUP_CONFLICT), .conflict), (group_status(GROUP_LOCK_TIMED_OUT), .lockTimedOut),
    (group_status(GROUP_CANCELLED), .cancelled), (group_status(GROUP_DEADLOCK), .deadlock),
    (group_status(GROUP_WRONG_TYPE), .wrongType), (group_status(GROUP_NOT_EMPTY), .notEmpty),
    (group_status(GROUP_OUTSIDE_CONTAINER), .outsideContainer),
    (group_status(GROUP_INVALID_CONTENT), .invalidContent), (group_status(GROUP_NOT_PERMITTED), .notPermitted),
    (group_status(GROUP_NO_SPACE), .noSpace), (group_status(GROUP_LIMIT_REACHED), .limitReached),
    (group_status(GROUP_NOT_DURABLE), .notDurable), (group_status(GROUP_DAMAGED), .damaged),
    (group_status(GROUP_NEWER_FORMAT), .newerFormat), (group_status(GROUP_OLDER_FORMAT), .olderFormat),
    (group_status(GROUP_UNSUPPORTED_FILE_SYSTEM), .unsupportedFileSystem),
    (group_status(GROUP_INPUT_OUTPUT), .inputOutput), (group_status(GROUP_FORKED), .forked),
    (group_status(GROUP_PRESENTER_FAILED), .presenterFailed),
    (group_status(GROUP_PRESENTER_UNRESPONSIVE), .presenterUnresponsive),
    (group_status(GROUP_UNAVAILABLE), .unavailable), (group_status(GROUP_UNFINISHED), .unfinished),
    (group_status(GROUP_UNKNOWN), .unknown),
]

/// The names of statuses, which live as long as the library.
private nonisolated(unsafe) let names: [group_status: UnsafeMutablePointer<CChar>] = {
    var names: [group_status: UnsafeMutablePointer<CChar>] = unsafe [:]
    func add(_ status: group_status, _ name: String) {
        let text = UnsafeMutablePointer<CChar>.allocate(capacity: name.utf8.count + 1)
        for (index, byte) in name.utf8.enumerated() { unsafe text[index] = CChar(bitPattern: byte) }
        unsafe text[name.utf8.count] = 0
        unsafe names[status] = unsafe text
    }
    add(group_status(GROUP_OK), "ok")
    add(group_status(GROUP_NOTHING), "nothing")
    add(group_status(GROUP_REFUSED), "refused")
    for (status, code) in codes { add(status, code.rawValue) }
    return unsafe names
}()

@c @implementation package func group_status_name(_ status: group_status) -> UnsafePointer<CChar>? {
    unsafe names[status].map { unsafe UnsafePointer($0) }
}

/// Runs the work of a C function, and returns its status.
func answering(_ operation: String, _ error: ErrorPointer?, _ work: () throws -> Void) -> group_status {
    unsafe error?.pointee = nil
    do {
        try work()
        return group_status(GROUP_OK)
    } catch let outcome as Outcome {
        return outcome.status
    } catch let failure as CoordinationError {
        return unsafe report(failure, error)
    } catch let failure {
        return unsafe report(CoordinationError(.unknown, operation: operation, reason: "\(failure)"), error)
    }
}

private func report(_ failure: CoordinationError, _ error: ErrorPointer?) -> group_status {
    let status = codes.first { $0.1 == failure.code }?.0 ?? group_status(GROUP_UNKNOWN)
    unsafe error?.pointee = unsafe describe(failure, status)
    return status
}

private func describe(_ failure: CoordinationError, _ status: group_status) -> UnsafeMutablePointer<group_error>? {
    let texts: [String?] =
        [
            failure.description, failure.operation, failure.reason, failure.item, failure.containerPath,
            failure.remedy?.text,
        ] + failure.holders.flatMap { [$0.purpose, $0.item, $0.command, $0.condition?.rawValue] }
    let count = failure.holders.count
    let text = texts.reduce(0) { $0 + ($1.map { $0.utf8.count + 1 } ?? 0) }
    let room = unsafe text + count * MemoryLayout<group_holder>.stride
    guard var block = unsafe Block<group_error>(room: room) else { return nil }
    let holders = unsafe block.array(of: group_holder.self, count: count)
    for (index, holder) in failure.holders.enumerated() {
        unsafe holders?[index] = unsafe group_holder(
            process: holder.processIdentifier, is_writing: holder.isWriting, is_presenting: holder.isPresenting,
            since: nanoseconds(holder.since), purpose: block.text(holder.purpose), item: block.text(holder.item),
            command: block.text(holder.command), condition: block.text(holder.condition?.rawValue))
    }
    return unsafe block.finish(
        unsafe group_error(
            status: status, generation: failure.generation?.rawValue ?? 0, message: block.text(failure.description),
            operation: block.text(failure.operation), item: block.text(failure.item),
            container: block.text(failure.containerPath), reason: block.text(failure.reason),
            remedy: block.text(failure.remedy?.text), holders: holders.map { unsafe UnsafePointer($0) },
            holder_count: count))
}

@c @implementation package func group_error_free(_ error: UnsafeMutablePointer<group_error>?) { unsafe release(error) }

/// The error of an argument that no call takes.
func invalid(_ operation: String, _ item: String? = nil, _ reason: String) -> CoordinationError {
    CoordinationError(.invalidArgument, operation: operation, item: item, reason: reason)
}
