/// What the members of a storm have acknowledged, and so what may be there in the end.
struct StormAccount {
    /// How often each word was acknowledged.
    private(set) var acknowledged: [String: Int] = [:]
    /// How often a process was killed that had begun the word, and was not answered.
    private(set) var uncertain: [String: Int] = [:]
    /// By word and name, the numbers of which one is the last that happened: the last one acknowledged, and those after
    /// it that were not answered.
    private(set) var last: [String: Set<Int>] = [:]
    private(set) var refusals: [String: Int] = [:]
    private(set) var faults: [String] = []

    /// Takes the lives of one name, in their order.
    mutating func take(_ name: String, _ lives: [[Substring]]) {
        for lines in lives {
            var begun: (word: String, number: Int)?
            for line in lines {
                let words = line.split(separator: " ").map(String.init)
                if words.first == ">", words.count == 3, let number = Int(words[2]) {
                    begun = (words[1], number)
                } else if words.first == "refused", words.count > 1 {
                    refuse(words[1], line, hadBegun: begun != nil, name)
                    begun = nil
                } else if let (word, number) = begun, words == [word, "\(number)"] {
                    acknowledged[word, default: 0] += 1
                    settle(word, number, name)
                    begun = nil
                }
            }
            if let (word, number) = begun {
                uncertain[word, default: 0] += 1
                if let place = Self.presence[word] {
                    last["\(place.word) \(name)", default: [0]].insert(place.value)
                } else {
                    last["\(word) \(name)", default: [0]].insert(number)
                }
            }
        }
    }

    /// Two words about one item, which is there or not.
    private static let presence = ["came": (word: "comes", value: 1), "gone": (word: "comes", value: 0)]

    private mutating func settle(_ word: String, _ number: Int, _ name: String) {
        if let place = Self.presence[word] {
            last["\(place.word) \(name)"] = [place.value]
        } else {
            last["\(word) \(name)"] = [number]
        }
    }

    private mutating func refuse(_ code: String, _ line: Substring, hadBegun: Bool, _ name: String) {
        refusals[code, default: 0] += 1
        // There was nothing yet to be read or copied, or the disk was full.
        if code == "noSpace:" || code == "notFound:" && !hadBegun { return }
        faults.append("\(name): \(line)")
    }

    /// Checks a number to which each acknowledged attempt has added one.
    func check(_ word: String, is value: Int) -> [String] {
        let (least, most) = (acknowledged[word] ?? 0, (acknowledged[word] ?? 0) + (uncertain[word] ?? 0))
        return (least...most).contains(value) ? [] : ["\(word) is \(value), and \(least) to \(most) were added"]
    }
}
