import CGroupInterface
import GroupContainer

/// The options of a call, checked.
struct Options {
    let timeout: Duration?
    let cancellation: CancellationToken?
    let durability: Durability
    let condition: WriteCondition
    let mode: UInt32?
    let recursively: Bool
    let replacing: Bool

    /// Reads the options of a C call; NULL stands for `GROUP_OPTIONS`, with `durability` as the default of the
    /// operation. Errors: `invalidArgument` for what is none of an option's values, and for a closed cancellation
    init(
        _ options: UnsafePointer<group_options>?, _ operation: String, durability standard: Durability = .durable
    ) throws(CoordinationError) {
        guard let options = unsafe options else {
            timeout = Coordinator.lockTimeout
            cancellation = nil
            durability = standard
            condition = .always
            mode = nil
            recursively = false
            replacing = false
            return
        }
        let given = unsafe options.pointee
        unsafe try checkSize(unsafe given.size, MemoryLayout<group_options>.size, operation)
        timeout = try limit(unsafe given.timeout, operation)
        cancellation = try unsafe given.cancellation.map { (handle) throws(CoordinationError) in
            try unsafe Handles.object(handle, as: CancellationToken.self)
        }
        let (durability, condition, mode) = unsafe (given.durability, given.condition, given.mode)
        switch Int(durability) {
        case GROUP_DURABLE: self.durability = .durable
        case GROUP_RELAXED: self.durability = .relaxed
        default: throw invalid(operation, nil, "\(durability) is no durability")
        }
        switch Int(condition) {
        case GROUP_ALWAYS: self.condition = .always
        case GROUP_IF_ABSENT: self.condition = .absent
        case GROUP_IF_GENERATION: self.condition = .generation(Generation(rawValue: unsafe given.generation))
        default: throw invalid(operation, nil, "\(condition) is no condition")
        }
        switch mode {
        case -1: self.mode = nil
        case 0...0o7777: self.mode = UInt32(mode)
        default: throw invalid(operation, nil, "\(mode) are no permissions")
        }
        recursively = unsafe given.recursively
        replacing = unsafe given.replacing
    }
}

/// Checks that a struct of options is the one that this library knows.
func checkSize(_ size: Int, _ expected: Int, _ operation: String) throws(CoordinationError) {
    if size == expected { return }
    throw invalid(
        operation, nil,
        "the size of the options is \(size) bytes instead of \(expected): begin with GROUP_OPTIONS, or its like")
}

/// Sets the result of a change, if the caller wants it.
func set(_ result: UnsafeMutablePointer<group_result>?, _ answer: WriteResult) {
    unsafe result?.pointee = group_result(
        generation: answer.generation?.rawValue ?? 0, is_changed: answer.isChanged)
}
