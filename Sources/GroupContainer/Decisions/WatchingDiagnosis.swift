/// What is known of how changes made without coordination are seen.
struct WatchingFacts: Sendable {
    struct Leader: Equatable, Sendable {
        var process: MemberProcess
        var purpose: String
        /// It answered when it was asked; nil where it could not be asked.
        var answers: Bool?
    }

    /// A limit of the kernel for this user, and how much of it the processes that can be looked into take.
    struct Limit: Equatable, Sendable {
        var name: String
        var limit: Int
        var used: Int
    }

    /// Nil where nobody follows.
    var leader: Leader?
    /// What the leader has said that it cannot watch: a directory (empty: any), and why.
    var degraded: (directory: String, reason: String)?
    /// Directories that this user may not list, and how many more there are.
    var unreadable: [String] = []
    var moreUnreadable = 0
    /// Of the container.
    var directories = 0
    var instances: Limit?
    var watches: Limit?

    var findings: [Finding] { [election, degradation].compactMap(\.self) + hidden + headroom }

    private static let notAtOnce = "changes made without coordination do not arrive at once"

    private var election: Finding? {
        guard let leader else {
            return Finding(
                .leaderMissing, .note, "nobody follows it, so nobody watches for changes made without coordination",
                why: "they are found when the next follower or short command comes; coordinated changes are complete",
                remedy: "nothing, if that is meant; 'watch-group', or a program that follows, watches")
        }
        let who = MembersFacts.name(leader.process, leader.purpose)
        if leader.process.condition == .stopped {
            return Finding(
                .leaderStopped, .warning, process: leader.process.signalled, "the leader, \(who), is stopped",
                why: "\(Self.notAtOnce): another follower takes over, if there is one, else nobody does",
                remedy: MembersFacts.continuing(leader.process))
        }
        if leader.answers == false {
            return Finding(
                .leaderSilent, .warning, process: leader.process.signalled, "the leader, \(who), does not answer",
                why: "\(Self.notAtOnce): another follower takes over, if there is one, else nobody does",
                remedy: "see what \(leader.process.description) is doing; when it ends, another one follows it")
        }
        return nil
    }

    private var degradation: Finding? {
        degraded.map { degraded in
            Finding(
                .watchingDegraded, .warning, item: degraded.directory.isEmpty ? nil : degraded.directory,
                degraded.reason,
                why:
                    "\(Self.notAtOnce): they are found by comparing every so often, or not at all where nobody may look",
                remedy: "what the leader says; it watches again by itself once it can, or when another takes over")
        }
    }

    /// Those that the leader has not said itself.
    private var hidden: [Finding] {
        unreadable.filter { $0 != degraded?.directory }.enumerated().map { number, directory in
            let more = number == 0 && moreUnreadable > 0 ? " (and \(moreUnreadable) more like it)" : ""
            return Finding(
                .directoryUnreadable, .warning, item: directory, "this user may not list it\(more)",
                why: "a leader of this user sees nothing of what is changed below it",
                remedy: "give it permission: chmod u+rx, or g+rx for the container's group")
        }
    }

    private var headroom: [Finding] {
        var found: [Finding] = []
        if let instances, instances.used >= instances.limit || (leader == nil && instances.limit == 0) {
            found.append(
                Finding(
                    .inotifyInstances, .warning, item: instances.name,
                    "all inotify instances of this user are taken: \(instances.used) of \(instances.limit)",
                    why: "the next leader cannot watch, and finds changes by comparing every so often",
                    remedy: Self.raise(instances, to: max(instances.limit * 4, 1_024))))
        }
        let needed = (leader == nil ? directories : 0) + 2
        if let watches, watches.limit - watches.used < needed {
            found.append(
                Finding(
                    .inotifyWatches, .warning, item: watches.name,
                    "\(watches.used) of \(watches.limit) inotify watches of this user are taken, and the container has \(directories) directories",
                    why: "what is in the directories that are not watched is found by comparing every so often",
                    remedy: Self.raise(watches, to: max(watches.limit * 4, (watches.used + directories) * 2, 524_288))))
        }
        return found
    }

    private static func raise(_ limit: Limit, to enough: Int) -> String {
        "'sysctl \(limit.name)=\(enough)' would do, or fewer programs that watch"
    }
}
