import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls

/// Import of a whole suite from a file, and export.
extension SuiteCommands {
    /// The largest file, in bytes: a larger one cannot be one transaction, in either format.
    private static let largestFile = 256 << 20

    func importFile(_ arguments: ParsedArguments) throws -> SuiteAnswer {
        let path = arguments.positional("FILE") ?? []
        let content = try content(of: path, arguments)
        let members: [String: DefaultsValue]
        do throws(TextFault) {
            members = try Self.members(of: content)
        } catch {
            throw CoordinationError.malformedImport(path, reason: "\(error)")
        }
        if !members.isEmpty {
            try defaults.transaction { transaction in
                for (key, value) in members { transaction.set(value, forKey: key) }
            }
        }
        return .done([("outcome", "imported"), ("keys", .integer(Int64(members.count)))])
    }

    private func content(of path: [UInt8], _ arguments: ParsedArguments) throws -> [UInt8] {
        if path == Array("-".utf8) {
            if !mayReadInput {
                throw arguments.usageError("FILE: '-' is not possible here, because standard input has the commands")
            }
            return try StandardInput.readAll(limit: Self.largestFile)
        }
        let content: [UInt8]
        do throws(Errno) {
            content = try FileDescriptor.open(path: path, .reading).readAll(limit: Self.largestFile + 1)
        } catch {
            throw CoordinationError.unreadable(path, operation: "import", error)
        }
        if content.count > Self.largestFile {
            throw CoordinationError.malformedImport(path, reason: "it has more than \(Self.largestFile) bytes")
        }
        return content
    }

    /// Returns the keys and values of JSON or of a property list; the first byte that is not blank decides which.
    private static func members(of content: [UInt8]) throws(TextFault) -> [String: DefaultsValue] {
        let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = content.starts(with: byteOrderMark) ? Array(content.dropFirst(3)) : content
        let first = text.first { !" \t\r\n".utf8.contains($0) }
        guard first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else {
            return try PropertyList.members(of: content)
        }
        guard case .object(let members) = try JSONReader.value(of: text, deepest: DefaultsValue.maximumDepth + 1) else {
            throw TextFault("expected an object with keys and values", at: 0, of: text)
        }
        return Dictionary(members.map { ($0.0, DefaultsValue($0.1)) }) { _, last in last }
    }

    func export(_ arguments: ParsedArguments) throws -> SuiteAnswer {
        let format = try arguments.text("format") ?? "json"
        switch format {
        case "json":
            var fields: [(String, JSONValue)] = []
            for (key, value) in try members().sorted(by: { $0.key < $1.key }) {
                do throws(NoForm) {
                    fields.append((key, try value.json()))
                } catch {
                    throw formless(key, error)
                }
            }
            return .document(.object(fields))
        case "plist":
            let members = try members()
            do throws(PropertyList.Fault) {
                return .propertyList(try PropertyList.text(of: members))
            } catch {
                throw formless(error.key, error.cause)
            }
        default: throw arguments.usageError("--format must be json or plist")
        }
    }

    private func formless(_ key: String, _ fault: NoForm) -> CoordinationError {
        .ofDefaults(
            .invalidContent, operation: "export", key, in: defaults, reason: "\(fault); nothing was exported")
    }
}
