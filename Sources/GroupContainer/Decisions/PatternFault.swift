extension ChangeFilter {
    /// Why no path can match a pattern, or not those that were meant, and how to write it; nil for one that is in
    /// order.
    package static func fault(ofPattern pattern: [UInt8]) -> String? {
        let slash = UInt8(ascii: "/")
        if pattern.isEmpty { return "the pattern is empty" }
        if pattern.starts(with: "./".utf8) { return "patterns are relative to the container, without './'" }
        if pattern.first == slash { return "patterns are relative to the container, without a '/' at the beginning" }
        if pattern.last == slash {
            return "a pattern has no '/' at the end: 'a' is a directory itself, 'a/**' what is below it"
        }
        for part in pattern.split(separator: slash, omittingEmptySubsequences: false) {
            if part.isEmpty { return "the pattern has an empty component" }
            if part.elementsEqual(".".utf8) || part.elementsEqual("..".utf8) {
                return "no path has '.' or '..' in it: patterns are relative to the container"
            }
            if let fault = Glob.fault(of: part) { return fault }
        }
        return nil
    }
}

extension Glob {
    /// Of one component.
    static func fault(of part: ArraySlice<UInt8>) -> String? {
        var rest = part
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), rest.popFirst() == nil { return "nothing stands behind the '\\' at the end" }
            if byte == UInt8(ascii: "[") {
                guard let close = rest.dropFirst().firstIndex(of: UInt8(ascii: "]")) else {
                    return "a '[' has no ']' behind it; write '\\[' for one that is meant itself"
                }
                rest = rest[(close + 1)...]
            }
        }
        return nil
    }
}
