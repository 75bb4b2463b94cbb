/// One channel, as this member has it: what its log comes to, without what the messages say.
typealias ChannelStore = FoldedLog<ChannelState>

extension FoldedLog<ChannelState> {
    /// Nil where there is none, unless it is to be made.
    static func open(_ member: Member, channel: String, creating: Bool) throws(CoordinationError) -> ChannelStore? {
        let label = "channels/\(channel)"
        return try open(member, channel, label: label, wakeLabel: label, creating: creating)
    }
}

extension Member {
    /// This member's store of a channel; nil where there is none, unless it is to be made.
    func channel(_ name: String, creating: Bool) throws(CoordinationError) -> ChannelStore? {
        try keep(name, in: channels) { () throws(CoordinationError) in
            try ChannelStore.open(self, channel: name, creating: creating && !isReadOnly)
        }
    }
}
