package import CGroupInterface
import GroupBytes
import GroupContainer

extension Change.Kind {
    var number: Int32 {
        switch word {
        case .created: Int32(GROUP_CREATED)
        case .modified: Int32(GROUP_MODIFIED)
        case .removed: Int32(GROUP_REMOVED)
        case .moved: Int32(GROUP_MOVED)
        case .exchanged: Int32(GROUP_EXCHANGED)
        case .touched: Int32(GROUP_TOUCHED)
        case .present: Int32(GROUP_PRESENT)
        case .bookmark: Int32(GROUP_BOOKMARK)
        case .rescan: Int32(GROUP_RESCAN)
        case .degraded: Int32(GROUP_DEGRADED)
        }
    }

    var reason: String? { if case .degraded(let reason) = self { reason } else { nil } }
}

/// Returns the position from which to follow. Errors: `invalidArgument` for a text that is none
func origin(_ since: UnsafePointer<CChar>?, _ operation: String) throws(CoordinationError) -> ChangeOrigin {
    switch try unsafe text(since, operation, "since") {
    case nil: return .now
    case "start"?: return .start
    case "snapshot"?: return .snapshot
    case let text?:
        guard let cursor = Cursor(text) else {
            throw invalid(operation, text, "this is no cursor, and neither \"start\" nor \"snapshot\"")
        }
        return .cursor(cursor)
    }
}

private struct FollowOptions {
    var origin = ChangeOrigin.now
    var filter = ChangeFilter.everything
    var policy = RescanPolicy.marker
    var quiet: Duration?
    var atMost: Duration?

    init(_ options: UnsafePointer<group_follow_options>?) throws(CoordinationError) {
        guard let options = unsafe options else { return }
        unsafe try checkSize(unsafe options.pointee.size, MemoryLayout<group_follow_options>.size, "follow")
        let given = unsafe options.pointee
        origin = try unsafe GroupLibrary.origin(given.since, "follow")
        let included = try unsafe list(given.including, "follow", "the patterns") ?? []
        let excluded = try unsafe list(given.excluding, "follow", "the patterns") ?? []
        for pattern in included + excluded {
            if let fault = ChangeFilter.fault(ofPattern: pattern) { throw invalid("follow", printable(pattern), fault) }
        }
        for pattern in included { filter.include(bytes: pattern) }
        for pattern in excluded { filter.exclude(bytes: pattern) }
        if let purpose = try unsafe text(given.without_purpose, "follow", "the purpose") {
            filter.excludedPurposes = [purpose]
        }
        if unsafe given.snapshot_after_rescan { policy = .snapshot }
        let (quiet, atMost) = unsafe (given.quiet, given.at_most)
        if quiet < 0 || atMost < 0 {
            throw invalid("follow", nil, "the time for which a path is quiet is negative")
        }
        if quiet > 0 { self.quiet = .milliseconds(quiet) }
        if atMost > 0 { self.atMost = .milliseconds(atMost) }
    }
}

@c @implementation package func group_follow(
    _ container: OpaquePointer?, _ options: UnsafePointer<group_follow_options>?,
    _ follower: UnsafeMutablePointer<OpaquePointer?>?, _ error: ErrorPointer?
) -> group_status {
    unsafe answering("follow", error) {
        let opened = try unsafe OpenedContainer.of(container)
        let options = try unsafe FollowOptions(options)
        try unsafe set(follower) {
            var changes = try opened.container.follow(
                since: options.origin, matching: options.filter, afterRescan: options.policy)
            if let quiet = options.quiet { changes = changes.debounced(for: quiet, atMost: options.atMost) }
            return unsafe Handles.add(try PolledFollower(changes))
        }
    }
}

/// Returns the descriptor of a follower; -1 where there is none.
func descriptor<Element>(_ follower: OpaquePointer?, _ type: PolledFollower<Element>.Type) -> Int32 {
    (try? unsafe Handles.object(follower, as: type).fileDescriptor) ?? -1
}

/// Returns the next element of a follower as C has it, or that nothing came.
func next<Element: StreamElement, Value>(
    _ find: () throws(CoordinationError) -> PolledFollower<Element>, _ timeout: Int64, _ cancellation: OpaquePointer?,
    _ place: UnsafeMutablePointer<UnsafeMutablePointer<Value>?>?, _ error: ErrorPointer?,
    _ describe: (Element) throws(CoordinationError) -> UnsafeMutablePointer<Value>
) -> group_status where Element.Failure == CoordinationError {
    unsafe answering("follow", error) {
        let follower = try find()
        let limit = try limit(timeout, "follow")
        let token = try unsafe cancellation.map { (handle) throws(CoordinationError) in
            try unsafe Handles.object(handle, as: CancellationToken.self)
        }
        try unsafe set(place) {
            guard let element = try limit == .zero ? follower.next() : follower.next(timeout: limit, orUntil: token)
            else { throw Outcome.nothing }
            return try unsafe describe(element)
        }
    }
}

@c @implementation package func group_note_uncoordinated_changes(
    _ container: OpaquePointer?, _ error: ErrorPointer?
) -> group_status {
    unsafe answering("follow", error) { try unsafe OpenedContainer.of(container).container.noteUncoordinatedChanges() }
}

@c @implementation package func group_follower_descriptor(_ follower: OpaquePointer?) -> Int32 {
    unsafe descriptor(follower, PolledFollower<Change>.self)
}

@c @implementation package func group_follower_next(
    _ follower: OpaquePointer?, _ timeout: Int64, _ cancellation: OpaquePointer?,
    _ change: UnsafeMutablePointer<UnsafeMutablePointer<group_change>?>?, _ error: ErrorPointer?
) -> group_status {
    unsafe next(
        { () throws(CoordinationError) in try unsafe Handles.object(follower, as: PolledFollower<Change>.self) },
        timeout, cancellation, change, error
    ) { (change: Change) throws(CoordinationError) in try unsafe describe(change)
    }
}

private func describe(_ change: Change) throws(CoordinationError) -> UnsafeMutablePointer<group_change> {
    let other = change.kind.otherPath
    let cursor = change.cursor.description
    let texts = [change.author?.purpose, change.transaction?.identifier, cursor, change.kind.reason]
    let paths = change.path.bytes.count + 1 + (other.map { $0.bytes.count + 1 } ?? 0)
    let room = texts.reduce(paths) { $0 + ($1.map { $0.utf8.count + 1 } ?? 0) }
    guard var block = unsafe Block<group_change>(room: room) else { throw noMemory("follow") }
    return unsafe block.finish(
        unsafe group_change(
            kind: change.kind.number, path: block.path(change.path.bytes), other_path: block.path(other?.bytes),
            sequence: change.sequence.rawValue, generation: change.generation.rawValue,
            time: nanoseconds(change.time), author_process: change.author?.processIdentifier ?? 0,
            author_purpose: block.text(change.author?.purpose), transaction: block.text(change.transaction?.identifier),
            transaction_index: UInt32(clamping: change.transaction?.index ?? 0),
            transaction_count: UInt32(clamping: change.transaction?.count ?? 0), cursor: block.text(cursor),
            reason: block.text(change.kind.reason), length: change.size.map { Int64(clamping: $0) } ?? -1,
            type: change.type?.number ?? (change.concernedDirectory ? Int32(GROUP_DIRECTORY) : 0),
            is_coordinated: change.isCoordinated))
}

@c @implementation package func group_change_free(_ change: UnsafeMutablePointer<group_change>?) {
    unsafe release(change)
}

@c @implementation package func group_follower_cursor(
    _ follower: OpaquePointer?, _ cursor: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ error: ErrorPointer?
) -> group_status {
    unsafe answering("follow", error) {
        let follower = try unsafe Handles.object(follower, as: PolledFollower<Change>.self)
        try unsafe set(cursor) { try unsafe copy(Array(follower.cursor.description.utf8), "follow") }
    }
}

@c @implementation package func group_follower_close(_ follower: OpaquePointer?) {
    unsafe Handles.remove(follower, as: PolledFollower<Change>.self)
}
