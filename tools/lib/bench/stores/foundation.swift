// Foundation's UserDefaults of a suite: the same words as store.c, as far as it can do them. Other processes see a set,
// and it sees theirs, after synchronize() only; it cannot change a value that it reads as one step: increments of others
// are lost.
import Foundation
import Glibc

func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

func sleepUntil(_ moment: Int64) {
    var time = timespec(tv_sec: Int(moment / 1_000_000_000), tv_nsec: Int(moment % 1_000_000_000))
    while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) != 0 {}
}

func increment(_ defaults: UserDefaults, begin: Int64, length: Int64) {
    sleepUntil(begin)
    var (count, longest, last) = (0, Int64(0), now())
    while last < begin + length {
        defaults.synchronize()
        defaults.set(defaults.integer(forKey: "n") + 1, forKey: "n")
        defaults.synchronize()
        let moment = now()
        (count, longest, last) = (count + 1, max(longest, moment - last), moment)
    }
    print(count, longest)
}

func read(_ defaults: UserDefaults, batches: Int) {
    defaults.set(1, forKey: "n")
    defaults.synchronize()
    var sum = 0
    for _ in 0..<batches {
        let began = now()
        for _ in 0..<1_000 { sum += defaults.integer(forKey: "n") }
        print(Double(now() - began) / 1_000)
    }
    if sum != batches * 1_000 { exit(1) }
}

let words = CommandLine.arguments
guard words.count >= 3, let defaults = UserDefaults(suiteName: "bench") else { exit(64) }
switch (words[1], words.count) {
case ("create", 3):
    defaults.set(0, forKey: "n")
    defaults.synchronize()
case ("increment", 6): increment(defaults, begin: Int64(words[3]) ?? 0, length: Int64(words[4]) ?? 0)
case ("sum", 3): print(defaults.integer(forKey: "n"))
case ("read", 4): read(defaults, batches: Int(words[3]) ?? 0)
default: exit(64)
}
