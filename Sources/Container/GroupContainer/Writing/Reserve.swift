import GroupLocking
import GroupSystemCalls

/// The reserve: room for the intent record of one removal, kept ready so that items can be removed where the disk is
/// full. The reserve is a file with all its blocks; a caller that needs it renames it to its intent record, and returns
/// it after the change. A byte of the lock file gives it to one caller at a time, so that concurrent removals wait for
/// each other instead of failing.
extension OpenContainer {
    static let reserve = Array("reserve".utf8)
    /// The size is enough because the intent record of a removal has only one path and a purpose.
    private static let reserveSize = 16_384
    private static let patience = Duration.seconds(10)

    /// Creates the reserve where it is missing and there is room. Several processes may do so at once. System calls:
    /// statx(2)
    func keepReserve() {
        do throws(Errno) {
            if let status = try directory.group.statusIfPresent(of: Self.reserve) {
                if status.isRegularFile { return }
                try directory.group.putAside(Self.reserve)
            }
        } catch {
            return
        }
        let name = StagingName.of(memberTable.makeOperation())
        do throws(Errno) {
            let file = try FileDescriptor.createAnew(name, in: directory.staging)
            try file.setMode(directory.fileMode)
            try file.allocate(Self.reserveSize)
            try directory.staging.rename(name, to: Self.reserve, in: directory.group, replacing: false)
        } catch {
            try? directory.staging.unlink(name)
        }
    }

    /// Writes the intent record of a change. Returns nil, or, where it was written into the reserve, the handle of the
    /// lock that keeps the reserve from other callers until it is returned.
    func writeIntentRecord(_ record: IntentRecord, entry: Int) throws(Errno) -> LockFile.Handle? {
        do throws(Errno) {
            try intentFiles.write(record, entry: entry, nonce: memberTable.nonce, in: directory)
            return nil
        } catch {
            guard error == .noSpace || error == .quotaExceeded, record.way.isRemoval,
                record.encoded().count <= Self.reserveSize,
                let handle = try? lockFile.borrow()
            else { throw error }
            var isTaken = false
            defer { if !isTaken { lockFile.giveBack(handle) } }
            let byte = ByteRange(start: ContainerLock.removing, length: 1)
            let deadline = Deadline(after: Self.patience)
            guard case .granted = KernelWait.block([LockWaiter.Step(.exclusive, byte)], on: handle, until: deadline)
            else { throw error }
            intentFiles.forget(entry)
            do throws(Errno) {
                try takeReserve(as: StagingName.intentRecord(nonce: memberTable.nonce, entry: entry))
            } catch {
                throw .noSpace
            }
            isTaken = true
            do throws(Errno) {
                try intentFiles.write(record, entry: entry, nonce: memberTable.nonce, in: directory)
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
            // The member that had the reserve was killed, or could not append its record yet: the reserve is an intent
            // record in staging, and is removed with that member's other files.
            for slot in 0..<MemberTableLayout.slotCount
            where slot != memberTable.slot && memberTable.member(at: slot) != nil && !memberTable.isAlive(slot) {
                try? repair(slot: slot, hasRight: false, until: Deadline(after: .zero))
            }
            keepReserve()
            try directory.group.rename(Self.reserve, to: name, in: directory.staging, replacing: true)
        }
    }

    /// Renames the intent record back to the reserve, and ends the lock on it. Call it after the operation was cleared
    /// from `inFlight`.
    func giveBackReserve(_ handle: LockFile.Handle, _ entry: Int) {
        intentFiles.forget(entry)
        let name = StagingName.intentRecord(nonce: memberTable.nonce, entry: entry)
        do throws(Errno) {
            try directory.staging.rename(name, to: Self.reserve, in: directory.group, replacing: false)
        } catch {
            // Another process has created a reserve meanwhile.
            try? directory.staging.unlink(name)
        }
        lockFile.giveBack(handle)
    }
}
