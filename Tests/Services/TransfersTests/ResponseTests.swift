import Testing
import Transfers

@Suite struct `A response to a download` {
    private func decide(
        _ status: Int, _ fields: [String: String] = [:], offset: UInt64 = 0, tag: String? = "\"v1\"",
        total: UInt64? = nil, expected: UInt64? = nil, hasHash: Bool = false
    ) -> TransferResponse.Decision {
        // A part repeats the validator, unless the test has another.
        let fields = status == 206 ? ["etag": "\"v1\""].merging(fields) { $1 } : fields
        return TransferResponse(status: status, fields: fields).decision(
            offset: offset, tag: tag, total: total, expected: expected, hasHash: hasHash)
    }

    @Test func `the whole file begins from zero, whatever is there`() {
        #expect(decide(200, ["content-length": "10"], offset: 5, total: 9) == .begin(total: 10))
        #expect(decide(200) == .begin(total: nil))
        guard case .fail = decide(200, ["content-length": "10"], expected: 11) else {
            Issue.record("another length than the expected one")
            return
        }
        guard case .fail = decide(200, ["content-encoding": "gzip"]) else {
            Issue.record("an encoded file")
            return
        }
    }

    @Test func `a part with the status of a whole file is not taken for it`() {
        let part = ["content-range": "bytes 5-9/10", "content-length": "5", "etag": "\"v1\""]
        for fields in [part, part.filter { $0.key != "content-range" }, ["content-range": "bytes 5-9/10"]] {
            guard case .startOver = decide(200, fields, offset: 5, total: 10) else {
                Issue.record("\(fields)")
                continue
            }
        }
        guard case .fail = decide(200, part) else {
            Issue.record("a part where the whole was requested")
            return
        }
        #expect(decide(200, ["content-range": "bytes 0-9/10", "content-length": "10"]) == .begin(total: 10))
        guard case .fail = decide(200, ["content-length": "99999999999999999999999"]) else {
            Issue.record("a length that is no number of bytes")
            return
        }
    }

    @Test func `a part is appended only at its place, in a file of the same length`() {
        #expect(decide(206, ["content-range": "bytes 5-9/10"], offset: 5, total: 10) == .append(total: 10))
        #expect(decide(206, ["content-range": "bytes 5-9/*"], offset: 5, total: 10) == .append(total: 10))
        let wrong = [
            "bytes 4-9/10", "bytes 5-9/11", "bytes 9-5/10", "bytes 5-10/10", "bytes */10", "bytes 5", "5-9/10", "",
            "bytes 5-9/10/3", "bytes -5-9/10", "bytes 99999999999999999999-5/10",
        ]
        for range in wrong {
            guard case .startOver = decide(206, ["content-range": range], offset: 5, total: 10) else {
                Issue.record("\(range)")
                continue
            }
        }
        for tag in ["\"v2\"", "W/\"v1\"", "v1", ""] {
            guard case .startOver = decide(206, ["content-range": "bytes 5-9/10", "etag": tag], offset: 5, total: 10)
            else {
                Issue.record("a part with the validator \(tag)")
                continue
            }
        }
        guard case .startOver = decide(206, ["content-range": "bytes 5-9/10"], offset: 5, tag: nil, total: 10) else {
            Issue.record("a part for bytes without a validator")
            return
        }
        guard case .startOver = decide(206, ["content-range": "bytes 5-9/10", "content-length": "4"], offset: 5) else {
            Issue.record("a part of another length than its range")
            return
        }
        guard case .fail = decide(206, ["content-range": "bytes 5-9/10", "content-encoding": "gzip"], offset: 5) else {
            Issue.record("an encoded part")
            return
        }
        guard case .fail = decide(206, ["content-range": "bytes 0-9/10"]) else {
            Issue.record("a part that was not requested")
            return
        }
    }

    @Test func `a range beyond the end completes a file only with its length and hash`() {
        let fields = ["content-range": "bytes */10"]
        #expect(decide(416, fields, offset: 10, total: 10, expected: 10, hasHash: true) == .complete)
        for (expected, hasHash) in [(nil, true), (10, false), (11, true)] as [(UInt64?, Bool)] {
            guard case .startOver = decide(416, fields, offset: 10, expected: expected, hasHash: hasHash) else {
                Issue.record("\(expected ?? 0) \(hasHash)")
                continue
            }
        }
    }

    @Test func `only a strong validator is one`() {
        let tags = ["\"a\"": true, "W/\"a\"": false, "a": false, "\"": false, "": false]
        for (tag, isStrong) in tags {
            #expect((TransferResponse(status: 200, fields: ["etag": tag]).strongTag != nil) == isStrong, "\(tag)")
        }
    }

    @Test func `a redirection leads to http or https, and not from https to http`() {
        #expect(TransferAddress.refusal(from: "http://a/", to: "https://b/x") == nil)
        #expect(TransferAddress.refusal(from: "http://a/", to: "http://b/x") == nil)
        for target in ["file:///etc/passwd", "ftp://a/", "http://user:secret@b/", "http:///x", "gopher://a", ""] {
            #expect(TransferAddress.refusal(from: "http://a/", to: target) != nil, "\(target)")
        }
        #expect(TransferAddress.refusal(from: "https://a/", to: "http://a/") != nil)
    }
}
