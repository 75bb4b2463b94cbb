/// What must be so of an item for a change of it to be made; compared under the lock.
public enum WriteCondition: Hashable, Sendable {
    /// Whatever is there.
    case always
    /// Nothing stands there.
    case absent
    /// It is at the generation that was read: nobody has changed it since.
    case generation(UInt64)

    /// `present` is nil where nothing stands.
    func holds(at present: UInt64?) -> Bool {
        switch self {
        case .always: true
        case .absent: present == nil
        case .generation(let expected): present == expected
        }
    }
}

/// An item's content, and the generation that it was read at.
public struct Versioned<Content> {
    /// What was read.
    public var content: Content
    /// For `WriteCondition.generation`.
    public var generation: UInt64
}

extension Versioned: Sendable where Content: Sendable {}
extension Versioned: Equatable where Content: Equatable {}
