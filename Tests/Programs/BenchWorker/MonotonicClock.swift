import Glibc

/// The clock of all programs of tools/bench, in nanoseconds. System calls: clock_gettime, clock_nanosleep.
enum MonotonicClock {
    static var now: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    static func wait(until moment: Int64) {
        var time = timespec(tv_sec: Int(moment / 1_000_000_000), tv_nsec: Int(moment % 1_000_000_000))
        while unsafe clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}  // allowed: a pace
    }
}

/// Prints numbers, a line each. `print` of each would ask the allocator twice, which `tools/bench` counts; a short text
/// needs no memory of its own.
func printLines(_ numbers: [Int64]) {
    var text = ""
    text.reserveCapacity(numbers.count * 12)
    for number in numbers {
        text += String(number)
        text += "\n"
    }
    print(text, terminator: "")
}
