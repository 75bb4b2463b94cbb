// A diary, against the names of Apple's systems only:
//
//     diary write           adds each line of the input; it is saved when another program reads the diary, or at the end
//     diary show            prints the diary, also what `diary write` has not saved yet
//     diary author [NAME]   prints the author's name, or sets it; '' forgets it
//     diary widget          is its widget, for a host
#if canImport(AppleFileCoordination)
import AppleFileCoordination
#else
import Foundation
#endif

do {
    let words = CommandLine.arguments.dropFirst()
    switch (words.first, words.count) {
    case ("write", 1):
        guard let url = Diary.url else { exit(66) }
        let document = try DiaryDocument(url)
        while let line = readLine() { document.append(line) }
        try document.close()
    case ("show", 1): print(try Diary.read())
    case ("author", 1): print(Settings().author ?? "no author")
    case ("author", 2):
        if let name = words.last, !name.isEmpty { Settings().save(author: name) } else { Settings().clear() }
    #if canImport(AppleFileCoordination)
    case ("widget", 1): try await DiaryViewController().run()
    #endif
    default:
        print("usage: diary write | show | author [NAME] | widget")
        exit(64)
    }
} catch {
    FileHandle.standardError.write(Data("diary: \((error as NSError).localizedDescription)\n".utf8))
    exit(1)
}
