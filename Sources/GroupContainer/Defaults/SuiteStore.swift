import GroupSystemCalls

/// One suite, as this member has it.
typealias SuiteStore = FoldedLog<SuiteState>

extension FoldedLog<SuiteState> {
    /// Nil where there is none, unless it is to be made.
    static func open(_ member: Member, suite: String, creating: Bool) throws(CoordinationError) -> SuiteStore? {
        try open(member, suite, label: "defaults/\(suite)", wakeLabel: suite, creating: creating)
    }

    /// The state as of now, as `checkedRead`. Where the log cannot be read, the state before that, and the diagnostics
    /// say so.
    func read<Answer>(_ look: (SuiteState) -> Answer) -> Answer {
        fold.withLock { fold in
            // Who may only read has to look anew.
            if isReadOnly || fold.file.map.load64(fold.position.offset) != 0 { catchUpOrTell(&fold) }
            return look(fold.state)
        }
    }

    private func catchUpOrTell(_ fold: inout Fold) {
        do {
            try catchUp(&fold)
        } catch {
            diagnostics.tell(.defaultsUnreadable, item: error.item, "the values before are given: \(error)")
        }
    }
}

extension Member {
    /// This member's store of a suite; nil where there is none, unless it is to be made.
    func suite(_ name: String, creating: Bool) throws(CoordinationError) -> SuiteStore? {
        try keep(name, in: suites) { () throws(CoordinationError) in
            try SuiteStore.open(self, suite: name, creating: creating && !isReadOnly)
        }
    }
}
