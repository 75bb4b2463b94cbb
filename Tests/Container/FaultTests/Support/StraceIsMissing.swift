import TestSupport
import Testing

extension Strace {
    static let isMissing: Comment = "strace(1) is not installed, or may not put faults into system calls"
}
