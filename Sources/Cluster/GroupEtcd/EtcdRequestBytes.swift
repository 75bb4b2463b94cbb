import FoundationEssentials

/// The JSON of requests. Numbers of 64 bits are strings, and keys and values are base64.
struct EtcdRequestBytes {
    private(set) var bytes: [UInt8] = []

    private mutating func raw(_ text: String) { bytes.append(contentsOf: text.utf8) }

    private mutating func base64(_ content: [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: Data(content).base64EncodedData())
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func number(_ number: some FixedWidthInteger) {
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: String(number).utf8)
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func text(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0..<0x20: bytes += Array("\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8)
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func list<Element>(_ elements: [Element], _ write: (inout Self, Element) -> Void) {
        raw("[")
        for (index, element) in elements.enumerated() {
            if index > 0 { raw(",") }
            write(&self, element)
        }
        raw("]")
    }

    private mutating func range(_ range: EtcdRange) {
        raw("{\"key\":")
        base64(range.key)
        if let end = range.end {
            raw(",\"range_end\":")
            base64(end)
        }
        if range.revision > 0 {
            raw(",\"revision\":")
            number(range.revision)
        }
        if range.minimumModRevision > 0 {
            raw(",\"min_mod_revision\":")
            number(range.minimumModRevision)
        }
        if range.limit > 0 {
            raw(",\"limit\":")
            number(range.limit)
        }
        if range.isSerializable { raw(",\"serializable\":true") }
        if range.keysOnly { raw(",\"keys_only\":true") }
        if range.countOnly { raw(",\"count_only\":true") }
        if range.order == .modRevision { raw(",\"sort_order\":\"ASCEND\",\"sort_target\":\"MOD\"") }
        raw("}")
    }

    private mutating func compare(_ compare: EtcdCompare) {
        raw("{\"key\":")
        switch compare {
        case .absent(let key):
            base64(key)
            raw(",\"target\":\"CREATE\",\"result\":\"EQUAL\",\"create_revision\":\"0\"}")
        case .present(let key):
            base64(key)
            raw(",\"target\":\"CREATE\",\"result\":\"GREATER\",\"create_revision\":\"0\"}")
        case .value(let key, let value):
            base64(key)
            raw(",\"target\":\"VALUE\",\"result\":\"EQUAL\",\"value\":")
            base64(value)
            raw("}")
        case .version(let key, let version):
            base64(key)
            raw(",\"target\":\"VERSION\",\"result\":\"EQUAL\",\"version\":")
            number(version)
            raw("}")
        case .modRevision(let key, let revision):
            base64(key)
            raw(",\"target\":\"MOD\",\"result\":\"EQUAL\",\"mod_revision\":")
            number(revision)
            raw("}")
        case .allBefore(let prefix, let revision):
            base64(prefix)
            raw(",\"range_end\":")
            base64(EtcdRange.endOfPrefix(prefix))
            raw(",\"target\":\"MOD\",\"result\":\"LESS\",\"mod_revision\":")
            number(revision)
            raw("}")
        }
    }

    private mutating func operation(_ operation: EtcdOperation) {
        switch operation {
        case .put(let key, let value, let lease):
            raw("{\"request_put\":{\"key\":")
            base64(key)
            raw(",\"value\":")
            base64(value)
            if lease != 0 {
                raw(",\"lease\":")
                number(lease)
            }
            raw("}}")
        case .delete(let key, let end):
            raw("{\"request_delete_range\":{\"key\":")
            base64(key)
            if let end {
                raw(",\"range_end\":")
                base64(end)
            }
            raw("}}")
        case .range(let range):
            raw("{\"request_range\":")
            self.range(range)
            raw("}")
        }
    }

    static func range(_ range: EtcdRange) -> [UInt8] {
        var json = Self()
        json.range(range)
        return json.bytes
    }

    static func transaction(_ compares: [EtcdCompare], _ then: [EtcdOperation], _ otherwise: [EtcdOperation]) -> [UInt8]
    {
        var json = Self()
        json.raw("{\"compare\":")
        json.list(compares) { $0.compare($1) }
        json.raw(",\"success\":")
        json.list(then) { $0.operation($1) }
        json.raw(",\"failure\":")
        json.list(otherwise) { $0.operation($1) }
        json.raw("}")
        return json.bytes
    }

    static func lease(_ identifier: Int64) -> [UInt8] {
        var json = Self()
        json.raw("{\"ID\":")
        json.number(identifier)
        json.raw("}")
        return json.bytes
    }

    static func grant(seconds: Int64) -> [UInt8] {
        var json = Self()
        json.raw("{\"TTL\":")
        json.number(seconds)
        json.raw("}")
        return json.bytes
    }

    static func compact(_ revision: UInt64) -> [UInt8] {
        var json = Self()
        json.raw("{\"revision\":")
        json.number(revision)
        json.raw("}")
        return json.bytes
    }

    static func authenticate(_ user: String, _ password: String) -> [UInt8] {
        var json = Self()
        json.raw("{\"name\":")
        json.text(user)
        json.raw(",\"password\":")
        json.text(password)
        json.raw("}")
        return json.bytes
    }

    static func watch(_ range: EtcdRange, from revision: UInt64) -> [UInt8] {
        var json = Self()
        json.raw("{\"create_request\":{\"key\":")
        json.base64(range.key)
        if let end = range.end {
            json.raw(",\"range_end\":")
            json.base64(end)
        }
        if revision > 0 {
            json.raw(",\"start_revision\":")
            json.number(revision)
        }
        json.raw(",\"progress_notify\":true,\"fragment\":true}}\n")
        return json.bytes
    }

    static let progress = Array("{\"progress_request\":{}}\n".utf8)
    static let nothing = Array("{}".utf8)
}
