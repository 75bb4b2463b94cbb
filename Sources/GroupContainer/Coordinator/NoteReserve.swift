import GroupSystemCalls

/// Room for the note of one removal, kept ready, so that the container can be made smaller where the disk is full. A
/// file with all its blocks; a caller that needs it makes it the note, and gives it back after the change. A single
/// caller at a time has it, by a byte of the lock file, so that several callers that remove at once wait for each other
/// rather than fail.
extension Member {
    static let reserve = Array("reserve".utf8)
    /// A note of a removal has one path, and a purpose.
    private static let reserveSize = 16_384
    private static let patience = Duration.seconds(10)

    /// Makes it, where it is missing and there is room. Several may do that at once. System calls: statx(2)
    func keepReserve() {
        do throws(Errno) {
            if let status = try directory.group.statusIfPresent(of: Self.reserve) {
                if status.isRegularFile { return }
                try directory.group.putAside(Self.reserve)
            }
        } catch {
            return
        }
        let name = StagedChange.name(of: memberTable.makeOperation())
        do throws(Errno) {
            let file = try FileDescriptor.open(name, in: directory.staging, [.writing, .creating], mode: 0o600)
            try file.setMode(directory.fileMode)
            try file.allocate(Self.reserveSize)
            try directory.staging.rename(name, to: Self.reserve, in: directory.group, replacing: false)
        } catch {
            try? directory.staging.unlink(name)
        }
    }

    /// Writes the note of a change. Not nil: into the reserve, which nobody else has until it is given back.
    func writeNote(_ note: OperationRecord, entry: Int) throws(Errno) -> LockFile.Handle? {
        do throws(Errno) {
            try notes.write(note, entry: entry, of: self)
            return nil
        } catch {
            guard error == .noSpace, note.way == .intoStaging, note.encoded().count <= Self.reserveSize,
                let handle = try? lockFile.borrow()
            else { throw error }
            var isTaken = false
            defer { if !isTaken { lockFile.giveBack(handle) } }
            let byte = ByteRange(start: LockRange.removing, length: 1)
            let deadline = Deadline(after: Self.patience)
            guard case .granted = KernelWait.block([LockWaiter.Step(.exclusive, byte)], on: handle, until: deadline)
            else { throw error }
            notes.forget(entry)
            do throws(Errno) {
                try takeReserve(as: NoteFiles.name(nonce: memberTable.nonce, entry: entry))
            } catch {
                throw .noSpace
            }
            isTaken = true
            do throws(Errno) {
                try notes.write(note, entry: entry, of: self)
            } catch {
                giveBackReserve(handle, entry)
                throw error
            }
            return handle
        }
    }

    private func takeReserve(as name: [UInt8]) throws(Errno) {
        do throws(Errno) {
            guard try directory.group.statusIfPresent(of: Self.reserve)?.isRegularFile == true else {
                throw Errno.noSuchEntry
            }
            try directory.group.rename(Self.reserve, to: name, in: directory.staging, replacing: true)
        } catch {
            if error != .noSuchEntry { throw error }
            // The member that had it was killed: it is a note in staging, which goes with what that member had there.
            for slot in 0..<MemberTableLayout.slotCount
            where slot != memberTable.slot && memberTable.member(at: slot) != nil && !memberTable.isAlive(slot) {
                try? repair(slot: slot, hasRight: false, until: Deadline(after: .zero))
            }
            keepReserve()
            try directory.group.rename(Self.reserve, to: name, in: directory.staging, replacing: true)
        }
    }

    /// After the change is pending no more.
    func giveBackReserve(_ handle: LockFile.Handle, _ entry: Int) {
        notes.forget(entry)
        let name = NoteFiles.name(nonce: memberTable.nonce, entry: entry)
        do throws(Errno) {
            try directory.staging.rename(name, to: Self.reserve, in: directory.group, replacing: false)
        } catch {
            // Somebody has made another one meanwhile.
            try? directory.staging.unlink(name)
        }
        lockFile.giveBack(handle)
    }
}

extension MappedLog {
    /// As `ensureRoom`. A removal does with what is left of the last file, where there is no room for another one.
    func ensureRoomForRemoval(bodyCount: Int) throws(CoordinationError) {
        do {
            try ensureRoom()
        } catch {
            // Others may append to it at the same time.
            guard error.code == .noSpace, let file = try? last(), let end = try? findEnd(of: file), !end.isSealed,
                end.offset + 4 * LogFile.byteCount(bodyCount: bodyCount) < file.capacity
            else { throw error }
        }
    }
}
