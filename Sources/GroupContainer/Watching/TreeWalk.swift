import SystemCalls

/// Goes through a container's folders from the top, without following links and without recursion.
enum TreeWalk {
    /// `enter` gets each folder before it is listed, open, and says whether to list it; `visit` gets each entry,
    /// parents before children. `.group` is left out. A folder that vanished, or may not be entered, is passed over and
    /// told to `missed`.
    static func walk(
        _ member: Member, from top: ItemLocation?,
        enter: (borrowing FileDescriptor, ItemLocation?) throws(Errno) -> Void,
        visit: (ItemLocation) -> Void, missed: (ItemLocation?, Errno) -> Void
    ) {
        var folders: [ItemLocation?] = [top]
        while let location = folders.popLast() {
            do throws(Errno) {
                let folder = try member.openFolder(location)
                try enter(folder, location)
                for name in try folder.entryNames() {
                    if location == nil && name.elementsEqual(".group".utf8) { continue }
                    let path = (location.map { $0.bytes + [UInt8(ascii: "/")] } ?? []) + name
                    guard let item = try? ItemLocation(path), let status = try folder.statusIfPresent(of: name) else {
                        continue
                    }
                    visit(item)
                    if status.isFolder { folders.append(item) }
                }
            } catch {
                missed(location, error)
            }
        }
    }
}
