// Imports nothing: no file, clock or process.

/// A node of a tree, with its path: a directory and a name in it.
protocol TreeNode {
    associatedtype Item: Hashable
    var parent: Item { get }
    var name: FileName { get }
    var content: ItemContent { get }
}

extension ClusterTree.Node: TreeNode {}
extension LocalTree.Node: TreeNode {}

extension Dictionary where Value: TreeNode, Value.Item == Key {
    /// Checks nodes that may be damaged or forged, and returns the items of each directory. After the check, a walk
    /// over the tree ends, and a recursion over it does not exhaust the stack.
    ///
    /// Error: `malformed` for a node of the root, two items at one path, an item in a file or in no directory, a
    /// circle, and an item that is deeper than `ClusterTree.greatestDepth`
    func checkedChildren(below root: Key) throws(ClusterDamage) -> [Key: [FileName: Key]] {
        var children: [Key: [FileName: Key]] = [:]
        for (item, node) in self {
            if item == root { throw .malformed("a place of the root") }
            if children[node.parent, default: [:]].updateValue(item, forKey: node.name) != nil {
                throw .malformed("two items at one place")
            }
        }
        // The depths of the items that are known to lead to the root. The inner nil marks an item on the way that is
        // being followed.
        var depths: [Key: Int?] = [root: 0]
        for item in keys {
            var way: [Key] = []
            var current = item
            while depths[current] == nil {
                guard let node = self[current], node.parent == root || self[node.parent]?.content.kind == .directory
                else { throw .malformed("an item that is in no directory") }
                depths[current] = .some(nil)
                way.append(current)
                current = node.parent
            }
            guard case var depth?? = depths[current] else { throw .malformed("a directory that is in itself") }
            for item in way.reversed() {
                depth += 1
                if depth > ClusterTree.greatestDepth { throw .malformed("an item that is too deep") }
                depths[item] = depth
            }
        }
        return children
    }
}
