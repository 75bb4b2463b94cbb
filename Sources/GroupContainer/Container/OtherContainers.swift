import GroupSystemCalls

extension Member {
    /// A container inside this one is another one's: what is in it is neither read nor changed by way of this one.
    /// Errors: `outsideContainer` where a directory around the item is a container. Nothing to ask where the item
    /// stands at the top. System calls: statx, two for each directory around it
    func checkIsOurs(_ location: ItemLocation, _ operation: String) throws(CoordinationError) {
        let slash = UInt8(ascii: "/")
        var rest = location.bytes[...]
        while let end = rest.firstIndex(of: slash) {
            let around = location.bytes[..<end]
            if isContainer(around) { throw liesIn(Array(around), location, operation) }
            rest = location.bytes[(end + 1)...]
        }
    }

    /// Whether a directory is a container of its own. System calls: statx, two
    func isContainer(_ path: ArraySlice<UInt8>) -> Bool {
        ContainerMark.all.contains { mark in
            // Where a link is on the way, nothing comes of the operation anyway.
            (try? directory.root.statusIfPresent(of: path + [UInt8(ascii: "/")] + mark))?.isDirectory ?? false
        }
    }

    private func liesIn(_ container: [UInt8], _ location: ItemLocation, _ operation: String) -> CoordinationError {
        CoordinationError(
            .outsideContainer, item: printable(location.bytes), operation: operation,
            cause: "it lies in the container '\(printable(container))', which is another one",
            advice: "open that one: \(printable(directory.path + [UInt8(ascii: "/")] + container))")
    }
}

extension CoordinationError {
    /// Of a directory that is, or that has in it, a container; `inside` is that one's path.
    static func hasContainer(_ inside: [UInt8], _ location: ItemLocation, _ operation: String) -> CoordinationError {
        CoordinationError(
            .outsideContainer, item: printable(location.bytes), operation: operation,
            cause: (inside == location.bytes ? "it is" : "in it is")
                + " the container '\(printable(inside))', which is another one",
            advice: "go through the rest item by item; a container that nobody has open is copied with cp -a")
    }
}
