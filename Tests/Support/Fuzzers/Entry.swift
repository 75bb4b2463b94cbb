import Glibc
import GroupSystemCalls

/// The function that libFuzzer calls, only in the program that `tools/fuzz` builds. FUZZ_TARGET names the decoder.
private let decoder: Decoder = {
    let name = environmentValue("FUZZ_TARGET") ?? ""
    if let decoder = Decoder.all.first(where: { $0.name == name }) { return decoder }
    end("FUZZ_TARGET is '\(name)'; known are \(Decoder.all.map(\.name).joined(separator: " "))", status: 64)
}()

private func say(_ message: String) {
    let line = [UInt8](message + "\n")
    _ = unsafe write(2, line, line.count)
}

private func end(_ message: String, status: Int32) -> Never {
    say(message)
    exit(status)
}

/// Lists the decoders, or writes the samples that the real encoders make, if the arguments request that.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(_ count: UnsafeMutableRawPointer, _ words: UnsafeMutableRawPointer) -> Int32 {
    if environmentValue("FUZZ_LIST") != nil { end(Decoder.all.map(\.name).joined(separator: "\n"), status: 0) }
    if let directory = environmentValue("FUZZ_SAMPLES") {
        do {
            for (name, content) in decoder.samples {
                let path = [UInt8]("\(directory)/sample-\(name)")
                let file = try FileDescriptor.open(path: path, [.writing, .creating, .truncating], mode: 0o644)
                try file.writeAll(content)
            }
        } catch {
            end("cannot write to '\(directory)': \(error)", status: 74)
        }
        exit(0)
    }
    return 0
}

/// Ends the process if a property does not hold, as libFuzzer expects.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    do {
        _ = try decoder.check(bytes)
        return 0
    } catch {
        say("BROKEN \(decoder.name): \(error)")
        abort()
    }
}
