import GroupBytes
import GroupCommandLine
import GroupContainer

/// Returns the retention from `--journal-size` and `--journal-age`.
func retention(_ arguments: ParsedArguments) throws -> JournalRetention {
    var retention = JournalRetention.standard
    if let text = try arguments.text("journal-size") {
        guard let size = number(text, units: ["": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30]), size > 0 else {
            throw arguments.usageError("--journal-size: '\(shown(text))' is not a size; a size is like 64M, 512K or 1G")
        }
        if size < 4_096 {
            throw arguments.usageError("--journal-size must be at least 4K; \(shown(text)) is a number of bytes")
        }
        retention.size = size
    }
    if let age = try arguments.time("journal-age") {
        // The container records whole seconds.
        guard age >= .seconds(1), age <= .seconds(1 << 32) else {
            throw arguments.usageError("--journal-age must be between one second and 136 years")
        }
        retention.age = .seconds(age.components.seconds)
    }
    return retention
}

private func shown(_ text: String) -> String { PipeText.escaped(Array(text.utf8)) }

/// Returns the number of digits and a unit; nil for anything else, and for a number that is too large.
private func number(_ text: String, units: [String: UInt64]) -> UInt64? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    guard let unit = units[String(text.dropFirst(digits.count))], let number = UInt64(digits) else { return nil }
    let (product, isTooLarge) = number.multipliedReportingOverflow(by: unit)
    return isTooLarge ? nil : product
}
