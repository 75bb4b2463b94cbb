import GroupBytes
import GroupCommands
import GroupContainer
import GroupSystemCalls

extension TopModel {
    /// Takes the status of a container, and what other programs report about it.
    init(_ status: ContainerStatus, of container: Container) {
        self.init(path: PipeText.lossyString(container.path.bytes))
        isReadOnly = container.isReadOnly
        changes = status.sequence.rawValue
        journalFiles = status.journalFileCount
        journalBytes = status.journalBytes
        freeBytes = status.freeBytes
        var requests: [ContainerStatus.Lock.Request: Int] = [:]
        members = status.members.map { member in
            Member(
                member,
                locks: member.locks.map { lock in
                    let next = requests.count
                    let request = requests[lock.request, default: next]
                    requests[lock.request] = request
                    return Lock(lock, request: request)
                })
        }
        reports = container.serviceFindings().map { found in
            Report(isFault: found.severity != .note, text: "\(found.name): \(found.what)", remedy: found.remedy)
        }
    }
}

extension TopModel.Member {
    fileprivate init(_ member: ContainerStatus.Member, locks: [TopModel.Lock]) {
        self.init(
            process: member.processIdentifier, purpose: member.purpose, command: member.command ?? "",
            user: member.userIdentifier, since: member.sinceNanoseconds, isLeader: member.isLeader,
            isOwn: member.pidNamespace == nil && member.processIdentifier == processIdentifier(), locks: locks,
            presents: member.presentedItems.map(\.path),
            questions: member.presentedItems.flatMap { item in
                item.questions.filter { ["asked", "answering"].contains($0.state) }.map { question in
                    TopModel.Question(
                        process: question.processIdentifier, purpose: question.purpose,
                        wanted: question.wanted.words.joined(separator: ", "), item: question.item,
                        since: question.sinceNanoseconds)
                }
            }, ancestor: member.ancestor)
        switch member.condition {
        case .stopped: condition = .stopped
        case .zombie: condition = .ended
        case .running, nil: condition = .running
        }
    }
}

extension TopModel.Lock {
    fileprivate init(_ lock: ContainerStatus.Lock, request: Int) {
        self.init(
            path: lock.path, isWriting: lock.isWriting, isWholeDirectory: lock.isWholeDirectory,
            isWaiting: lock.isWaiting, since: lock.sinceNanoseconds, request: request,
            blockers: lock.blockers.map { Blocker(member: $0.member, lock: $0.lock) })
    }
}
