// Foundation's atomic writes of a file: the word of files.c.
//
// usage: foundation-files create DIRECTORY
//        foundation-files replace DIRECTORY SIZE COUNT [WAY]    print nanoseconds of each
import Foundation
import Glibc

func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

func replace(_ directory: String, size: Int, count: Int) throws {
    let item = URL(fileURLWithPath: directory).appendingPathComponent("item")
    var content = Data(repeating: UInt8(ascii: "."), count: max(8, size))
    var times: [Int64] = []
    times.reserveCapacity(count)
    // The first of a process are slower, for reasons of their own.
    for number in -3..<count {
        for place in 0..<8 { content[place] = UInt8(truncatingIfNeeded: number >> (8 * place)) }
        let began = now()
        try content.write(to: item, options: .atomic)
        if number >= 0 { times.append(now() - began) }
    }
    for time in times { print(time) }
}

let words = CommandLine.arguments
switch (words.dropFirst().first, words.count) {
case ("create", 3): break
case ("replace", 5...): try replace(words[2], size: Int(words[3]) ?? 0, count: Int(words[4]) ?? 0)
default:
    print("usage: see the head of foundation-files.swift")
    exit(64)
}
