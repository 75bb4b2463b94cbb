@testable import GroupCluster
@testable import GroupEtcd

/// What comes from a cluster. Any machine of it may have written that, and any program that may write to etcd.
extension Decoder {
    static let cluster = [clusterEntry, clusterLog, clusterSnapshot, inFlight, machineNote, etcdAnswer, etcdWatch]

    private static let machine = ClusterName(high: 1, low: 2)
    private static func operation(_ number: UInt64) -> ClusterName { ClusterName(high: 3, low: number) }
    private static func item(_ number: UInt64) -> ItemName { ItemName(operation(number), 0) }
    private static func name(_ text: String) -> [UInt8] { [UInt8](text) }

    private static let entries: [ClusterEntry] = [
        ClusterEntry(
            operation(1), [.item(ItemChange(item(1), name("d"), .create(ItemContent(.directory, mode: 0o755))))],
            author: name("m")),
        ClusterEntry(
            operation(2), isStrict: true,
            [
                .item(
                    ItemChange(
                        item(2), in: [Ancestor(item(1), name("d"))], name("f"), .create(ItemContent(.file, [1])))),
                .value(ValueChange(name("s\0k"), .add(2), base: .zero)),
            ]),
        ClusterEntry(
            operation(3),
            [
                .item(ItemChange(item(2), name("g"), .move(base: operation(2)))),
                .item(ItemChange(item(2), name("g"), .write(ItemContent(.file, [2]), base: operation(2)))),
                .value(ValueChange(name("s\0k"), .setNumber(-1))), .value(ValueChange(name("s\0t"), .set([1, 2]))),
                .message(channel: name("c"), body: [0, 1]),
            ]),
        ClusterEntry(
            operation(4),
            [
                .item(ItemChange(item(1), name("d"), .remove(base: operation(1)))),
                .value(ValueChange(name("s\0t"), .remove)),
                .item(ItemChange(item(4), name("l"), .create(ItemContent(.link, mode: 0o777, name("to"))))),
            ]),
    ]

    private static let clusterEntry = Decoder(
        "cluster-entry",
        Dictionary(uniqueKeysWithValues: entries.enumerated().map { ("\($0.offset)", $0.element.bytes) })
    ) { bytes in
        let entry: ClusterEntry
        do throws(ClusterDamage) { entry = try ClusterEntry(bytes: bytes) } catch { return false }
        try expectReturn(entry, { $0.bytes }, { try ClusterEntry(bytes: $0) })
        return true
    }

    /// Entries one after the other, each behind its length in two bytes.
    private static let clusterLog = Decoder(
        "cluster-log",
        ["log": entries.flatMap { [UInt8($0.bytes.count & 0xFF), UInt8($0.bytes.count >> 8)] + $0.bytes }]
    ) { bytes in
        var fold = ClusterFold()
        var rest = bytes[...]
        while rest.count >= 2 {
            let count = Int(rest[rest.startIndex]) | Int(rest[rest.startIndex + 1]) << 8
            let entry = Array(rest.dropFirst(2).prefix(count))
            rest = rest.dropFirst(2 + count)
            let ordered = OrderedEntry(
                index: fold.index + 1, revision: fold.revision + 1, machine: machine, number: fold.index + 1,
                bytes: entry)
            do throws(ClusterDamage) { _ = try fold.apply(ordered) } catch { return false }
        }
        // All items lead to the root: a snapshot with others is refused.
        try expectReturn(fold, { $0.snapshot }, { try ClusterFold(snapshot: $0) })
        for item in fold.tree.nodes.keys { try expect(!fold.tree.path(item).isEmpty, "an item without a path") }
        return fold.index > 0
    }

    private static let clusterSnapshot = Decoder(
        "cluster-snapshot",
        [
            "fold": {
                var fold = ClusterFold()
                for (place, entry) in entries.enumerated() {
                    let number = UInt64(place) + 1
                    let ordered = OrderedEntry(
                        index: number, revision: number, machine: machine, number: number, bytes: entry.bytes)
                    _ = try? fold.apply(ordered)
                }
                return fold.snapshot
            }()
        ]
    ) { bytes in
        var fold: ClusterFold
        do throws(ClusterDamage) { fold = try ClusterFold(snapshot: bytes) } catch { return false }
        try expectReturn(fold, { $0.snapshot }, { try ClusterFold(snapshot: $0) })
        // Entries can follow any snapshot that is accepted: none of its numbers is the last of its type.
        for entry in entries {
            let ordered = OrderedEntry(
                index: fold.index + 1, revision: fold.revision + 1, machine: machine,
                number: (fold.machines[machine]?.number ?? 0) + 1, bytes: entry.bytes)
            _ = try fold.apply(ordered)
        }
        return true
    }

    private static let inFlight = Decoder(
        "cluster-in-flight",
        [
            "entry": ClusterOutbox.InFlight(
                number: 7, entry: entries[2], token: LockToken(lock: [1], grant: operation(9)),
                empty: ClusterEntry(operation(8)),
                sent: [
                    SentItem(item: item(2), local: LocalItem(3), change: .moved(item(1), name("g"))),
                    SentItem(item: item(2), local: LocalItem(3), change: .written(ItemContent(.file, [2]))),
                    SentItem(item: item(1), local: LocalItem(4), change: .removed),
                    SentItem(
                        item: item(5), local: LocalItem(5), change: .created(.root, name("n"), ItemContent(.file, [3]))),
                ]
            ).bytes
        ]
    ) { bytes in
        let entry: ClusterOutbox.InFlight
        do throws(ClusterDamage) { entry = try ClusterOutbox.InFlight(bytes: bytes) } catch { return false }
        try expectReturn(entry, { $0.bytes }, { try ClusterOutbox.InFlight(bytes: $0) })
        return true
    }

    private static let machineNote = Decoder(
        "machine-note", ["note": MachineNote(index: 12, seconds: 1_800_000_000, host: "name of a host").bytes]
    ) { bytes in
        guard let note = MachineNote(bytes: bytes) else { return false }
        try expect(MachineNote(bytes: note.bytes) == note, "another note")
        return true
    }

    private static let keyValue =
        #"{"key":"YQ==","create_revision":"5","mod_revision":"6","version":"2","lease":"-7","value":"Yg=="}"#

    /// An answer to a range, to a transaction, and to a request for the state.
    private static let etcdAnswer = Decoder(
        "etcd-answer",
        [
            "range": [UInt8](
                #"{"header":{"cluster_id":"7","revision":"9"},"kvs":[\#(keyValue)],"more":true,"count":"2"}"#),
            "transaction": [UInt8](
                #"{"header":{"cluster_id":"7","revision":"9"},"succeeded":true,"responses":[{"response_put":{"header":{"revision":"9"}}},{"response_range":{"header":{"revision":"9"},"kvs":[\#(keyValue)],"count":"1"}}]}"#
            ),
            "status": [UInt8](
                #"{"header":{"cluster_id":"7","member_id":"8","revision":"9"},"version":"3.4.23","dbSize":"20480","leader":"8","raftIndex":"4","raftTerm":"2","dbSizeInUse":"16384"}"#
            ),
        ]
    ) { bytes in
        let range = EtcdRange.key([1])
        var isAnswer = false
        do throws(EtcdFailure) {
            _ = try EtcdAnswers.range(bytes)
            isAnswer = true
        } catch {}
        do throws(EtcdFailure) {
            let result = try EtcdAnswers.transaction(bytes, [.put([1], [2]), .range(range)], [])
            try? expect(result.ranges.count <= 1, "more ranges than were requested")
            isAnswer = true
        } catch {}
        do throws(EtcdFailure) {
            _ = try EtcdAnswers.status(bytes)
            isAnswer = true
        } catch {}
        let failure = EtcdAnswers.failure(status: 500, bytes)
        try expect(!"\(failure)".isEmpty, "a failure without a text")
        return isAnswer
    }

    private static let etcdWatch = Decoder(
        "etcd-watch",
        [
            "events": [UInt8](
                """
                {"result":{"header":{"revision":"5"},"created":true}}
                {"result":{"header":{"revision":"6"},"events":[{"kv":\(keyValue)}]}}
                {"result":{"header":{"revision":"8"},"events":[{"type":"DELETE","kv":{"key":"YQ==","mod_revision":"8"}}]}}
                {"result":{"header":{"revision":"9"}}}

                """)
        ]
    ) { bytes in
        // Whatever the pieces are in which it comes, it means the same.
        let (whole, isRight) = read(bytes, in: max(1, bytes.count))
        let (pieces, isRightInPieces) = read(bytes, in: 7)
        try expect(isRight == isRightInPieces && (!isRight || whole == pieces), "other responses in pieces")
        var revision: UInt64 = 0
        for event in pieces.flatMap(\.events) {
            try expect(event.keyValue.modRevision >= revision, "a revision that is older than the one before")
            revision = event.keyValue.modRevision
        }
        return isRight
    }

    private static func read(_ bytes: [UInt8], in size: Int) -> ([EtcdWatchResponse], Bool) {
        var lines = EtcdWatchLines()
        var responses: [EtcdWatchResponse] = []
        do throws(EtcdFailure) {
            var rest = bytes[...]
            while !rest.isEmpty {
                let more = try lines.take(Array(rest.prefix(size)))
                responses += more
                rest = rest.dropFirst(size)
            }
            let last = try lines.take([], isAtEnd: true)
            return (responses + last, true)
        } catch {
            return (responses, false)
        }
    }
}
