import GroupSystemCalls

/// Symbolic links among the directories of a path. They are not followed: an item that is found by two paths would have
/// two locks, and two processes could have it for writing at once.
extension Member {
    /// Nothing where neither the item nor a directory around it is a link. Errors: `invalidArgument`, with the item's
    /// own path; `outsideContainer` where a link leads out. System calls: openat2 and statx for each directory around
    /// it
    func checkIsNoLink(_ location: ItemLocation, _ operation: String) throws(CoordinationError) {
        var (place, first): (ItemLocation, ItemLocation?) = (location, nil)
        for _ in 0..<40 {
            guard let (link, target) = link(on: place) else {
                guard let first else { return }
                throw CoordinationError(
                    .invalidArgument, item: printable(location.bytes), operation: operation,
                    cause:
                        "'\(printable(first.bytes))' is a symbolic link, and an item of two names would have two locks",
                    advice: "name it '\(printable(place.bytes))'")
            }
            first = first ?? link
            do {
                place = try link.following(link: target, then: place.bytes[link.bytes.count...])
            } catch {
                throw CoordinationError(
                    .outsideContainer, item: printable(location.bytes), operation: operation,
                    cause:
                        "'\(printable(link.bytes))' is a symbolic link that \(Self.destination(error)), to '\(printable(target))'"
                )
            }
        }
        throw linkLoop(location, operation)
    }

    /// The first on the way, and where it points.
    private func link(on location: ItemLocation) -> (ItemLocation, target: [UInt8])? {
        for place in location.ancestors + [location] {
            // What is not there, or may not be entered, the operation finds itself.
            guard let status = try? status(of: place) else { return nil }
            if !status.isLink { continue }
            guard let target = try? openDirectory(place.parent).linkTarget(of: place.name) else { return nil }
            return (place, target)
        }
        return nil
    }
}
