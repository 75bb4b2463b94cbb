#if PNG
import Foundation
import GroupSystemCalls
import PhotoPNG
import TestSupport
import Testing

/// The example: a host of photo editors, with the example's extension and with ones that misbehave.
@Suite(.ownThreads, .timeLimit(.minutes(15)), .tags(.process))
struct `The photos example` {
    private let container: TemporaryContainer
    private let directory: TemporaryDirectory

    init() throws {
        container = try TemporaryContainer()
        directory = try TemporaryDirectory()
        let picture = Picture(width: 2, height: 3) { UInt8(20 + 10 * $0) }
        try Data(try picture.png()).write(to: URL(filePath: directory.path + "/a.png"))
        #expect(try photos("add", "a", directory.path + "/a.png") == (0, ""))
    }

    private func photos(_ words: String..., manifests: String? = nil) throws -> (status: Int32, text: String) {
        let extensions = manifests.map { ["--extensions", $0] } ?? []
        return try RunningProcess(
            ["photos", "--group", container.path] + extensions + words,
            environment: ["PATH": "\(BuildDirectory.path):/usr/bin:/bin"]
        ).finish()
    }

    private func edit(_ name: String) throws {
        let (status, text) = try photos(
            "edit", "a", "com.example.photo-light.\(name)", manifests: ExamplePage.manifests)
        #expect(status == 0, "\(text)")
    }

    /// The photo as it is now.
    private func picture() throws -> Picture {
        let path = try photos("path", "a").text.split(separator: "\n").first.map(String.init) ?? ""
        return try Picture(png: Array(try Data(contentsOf: URL(filePath: path))))
    }

    @Test func `the lines of its page do what the page shows`() throws {
        let (status, text) = try ExamplePage.run("photo", home: directory.path)
        #expect(status == 0)
        let editor = "com.example.photo-light"
        let expected = [
            "beach\t4×4\t75\t\(editor).brighter", "beach\t4×4\t180\t\(editor).negative", "beach\t4×4\t55\toriginal",
        ]
        #expect(text.split(separator: "\n").map(String.init) == expected, "\(text)")
    }

    @Test func `a name that is not UTF-8 is refused: two of them would be one`() throws {
        for byte in [0xFE, 0xFF] as [UInt8] {
            let name = [0x61, byte]
            let add = try RunningProcess(
                ["photos", "--group", container.path, "add", name, directory.path + "/a.png"] as [any BytesConvertible]
            ).finish()
            #expect(add.status == 64 && add.text.contains("the name of a photo is UTF-8"), "\(add)")
        }
        let file = Array("\(directory.path)/b".utf8) + [0xFF]
        try FileDescriptor.open(path: file, .newFile, mode: 0o600).writeAll(Array(try picture().png()))
        let add = try RunningProcess(["photos", "--group", container.path, "add", "b", file] as [any BytesConvertible])
        #expect(try add.finish() == (0, ""))
    }

    @Test func `names that are printed alike are of two photos`() throws {
        let light = Picture(width: 1, height: 1) { _ in 200 }
        try Data(try light.png()).write(to: URL(filePath: directory.path + "/b.png"))
        #expect(try photos("add", "n\nl", directory.path + "/a.png").status == 0)
        #expect(try photos("add", #"n\012l"#, directory.path + "/b.png").status == 0)
        let lines = try photos("list").text.split(separator: "\n")
        #expect(lines.count == 3 && lines.count(where: { $0.contains("1×1\t200") }) == 1, "\(lines)")
    }

    @Test func `a photo that cannot be shown is named, and the others are listed`() throws {
        let script = #"cd "$0/Photos" && mkdir empty && cp -r a "$(printf 'x\377')" && cp -r a z && : > z/original.png"#
        #expect(try RunningProcess(["sh", "-c", script, container.path]).finish().status == 0)
        let (status, text) = try photos("list")
        #expect(status == 65 && text.contains("a\t2×3\t"), "\(text)")
        for reason in [
            "'Photos/empty': there is no photo 'empty'", #"'Photos/x\377': the name is not UTF-8"#, "'Photos/z': ",
        ] { #expect(text.contains(reason), "\(text)") }
    }

    @Test func `a file that cannot be read is named, with the reason`() throws {
        for (name, reason) in [("none.png", "No such file"), (".", "directory")] {
            let (status, text) = try photos("add", "c", directory.path + "/" + name)
            #expect(status != 0 && text.contains(reason) && text.contains(directory.path), "\(text)")
        }
        let file = directory.path + "/large.png"
        #expect(try RunningProcess(["truncate", "-s", "300M", file]).finish().status == 0)
        let (status, text) = try photos("add", "c", file)
        #expect(status == 1 && text.contains("the photo has more than") && !text.contains("extension"), "\(text)")
    }

    @Test func `resumed edits lose nothing, and an undo brings the original back`() throws {
        let original = try picture()
        for _ in 0..<12 { try edit("brighter") }
        #expect(try picture().lightness == 255, "so bright that all detail is lost")
        for _ in 0..<12 { try edit("darker") }
        #expect(try picture() == original)
        try edit("negative")
        #expect(try picture() == original.mapColors { 255 - $0 })
        #expect(!container.exists("Photos/a/base.png"))
        #expect(try photos("undo", "a").status == 0)
        #expect(try picture() == original)
        #expect(try photos("undo", "a").status == 3)
    }

    // MARK: Extensions that misbehave

    /// Installs an extension in Python, whose lines have `photo` (base 64) and `values` to change.
    private func install(_ lines: String, format: String = "com.example.other") throws {
        let script = """
            import base64, json, os, sys
            request = json.loads(sys.stdin.readline())["items"][0]
            photo = base64.b64encode(os.read(3, 1 << 20)).decode()
            adjustment = {"format": "com.example.other", "version": "1", "data": {"$data": "AAE="}}
            values = {"width": 2, "height": 3, "resumed": False, "adjustment": adjustment}
            attachment = {"type": "image/png", "bytes": photo}
            def png(): return bytearray(base64.b64decode(photo))
            def put(data): attachment["bytes"] = base64.b64encode(data).decode()
            \(lines)
            print(json.dumps({"say": "complete", "items": [{"attachments": [attachment], "values": values}]}))
            """
        try directory.put(script, at: "other.py")
        try directory.put(
            """
            {"point": "edit-photo", "identifier": "com.example.other", "executable": "/usr/bin/env",
             "arguments": ["python3", "\(directory.path)/other.py"], "group": "\(container.path)",
             "types": {"image/png": 1}, "attributes": {"format": "\(format)"}}
            """, at: "other.json")
    }

    private func editByOther() throws -> (status: Int32, text: String) {
        try photos("edit", "a", "com.example.other", manifests: directory.path)
    }

    @Test(arguments: [
        ("put(b'no picture')", "is no PNG"), ("put(png()[:60])", "is no PNG"),
        ("data = png(); data[data.index(b'IDAT') + 8] ^= 255; put(data)", "is no PNG"),
        ("values['width'] = 3", "has 2 × 3 pixels, and not 3 × 3"),
        ("adjustment['format'] = 'com.example.third'", "of the format 'com.example.third'"),
        ("adjustment['data'] = {'$data': 'AAAA' * 400000}", "data has more than 1048576 bytes"),
        ("values['resumed'] = True", "resumed an edit that is not there, or not of its format"),
        ("del values['adjustment']", "the item is none"),
        ("del attachment['bytes']; attachment['item'] = 'missing'", "cannot be read"),
        ("del attachment['bytes']; attachment['item'] = '../../etc/passwd'", "cannot be read"),
        ("del attachment['bytes']; attachment['text'] = 'a'", "cannot be read"),
        ("sys.exit(7)", "exited with status 7"), ("print('{}')", "invalid message"),
    ])
    func `what is wrong with a result is named, and the photo stays`(lines: String, reason: String) throws {
        try edit("brighter")
        let before = try picture()
        let list = try photos("list").text
        try install(lines)
        let (status, text) = try editByOther()
        #expect(status == 1 && text.contains(reason), "\(lines): \(text)")
        #expect(try photos("list").text == list)
        #expect(try picture() == before)
    }

    @Test func `an original cannot be resumed`() throws {
        try install("values['resumed'] = True")
        let (status, text) = try editByOther()
        #expect(status == 1 && text.contains("resumed an edit that is not there"), "\(text)")
        #expect(try photos("list").text.hasSuffix("original\n"))
    }

    @Test func `a picture of too many pixels is refused before it is decoded`() throws {
        // The header claims 1,000,000 × 1,000,000 pixels.
        try install(
            "import zlib; data = png(); data[16:24] = b'\\0\\x0f\\x42\\x40' * 2; data[29:33] = zlib.crc32(bytes(data[12:29])).to_bytes(4, 'big'); put(data)"
        )
        let (status, text) = try editByOther()
        #expect(status == 1 && text.contains("pixels are too many"), "\(text)")
    }

    @Test func `an extension that cannot resume gets the photo, which becomes the base`() throws {
        try edit("brighter")
        let bright = try picture()
        try install("assert len(request['attachments']) == 2")
        #expect(try editByOther().status == 0)
        #expect(try picture() == bright && container.exists("Photos/a/base.png"))
        // The data are not its own: it edits the photo of the other one.
        try edit("brighter")
        #expect(try picture() == bright.mapColors { UInt8(clamping: Int($0) + 20) })
        try edit("darker")
        #expect(try picture() == bright)
        #expect(try photos("undo", "a").status == 0)
        #expect(try picture().lightness == bright.lightness - 20)
    }

    @Test func `an item of the container is taken, too`() throws {
        try install(
            "open('\(container.path)/new.png', 'wb').write(png()); del attachment['bytes']; attachment['item'] = 'new.png'"
        )
        let (status, text) = try editByOther()
        #expect(status == 0 && text.hasSuffix("com.example.other\n"), "\(text)")
    }

    @Test(.enabled(if: Strace.isThere, "strace(1) is missing, or may not put faults into system calls"))
    func `an undo that is killed is done as a whole or not at all`() throws {
        let model = try TemporaryContainer()
        for words in [
            ["add", "a", directory.path + "/a.png"],
            ["--extensions", ExamplePage.manifests, "edit", "a", "com.example.photo-light.negative"],
        ] {
            let (status, text) = try RunningProcess(
                ["photos", "--group", model.path] + words, environment: ["PATH": "\(BuildDirectory.path):/usr/bin:/bin"]
            ).finish()
            #expect(status == 0, "\(text)")
        }
        let original = try picture()
        var (done, undone) = (0, 0)
        try EverySystemCall(of: ["photos", "--group", model.path, "undo", "a"], in: model).forEachIfLong { attempt in
            try attempt.run(["photos", "--group", container.path, "undo", "a"])
            let isOriginal = try picture() == original
            #expect(container.exists("Photos/a/photo.png") != isOriginal, "\(attempt)")
            #expect(container.exists("Photos/a/edit.json") != isOriginal, "\(attempt)")
            if isOriginal {
                done += 1
                try edit("negative")
            } else {
                undone += 1
            }
        }
        #expect(done > 0 && undone > 0)
    }

    @Test func `an edit that another one comes before changes nothing`() throws {
        try install("open('\(directory.path)/begun', 'w').close(); open('\(directory.path)/go').read()")
        try directory.run("mkfifo", "go")
        let slow = try RunningProcess(
            ["photos", "--group", container.path, "--extensions", directory.path, "edit", "a", "com.example.other"])
        #expect(eventually { FileManager.default.fileExists(atPath: directory.path + "/begun") })
        try edit("negative")
        try directory.run("sh", "-c", "echo > go")
        let (status, text) = try slow.finish()
        #expect(status == 1 && text.contains("was changed meanwhile"), "\(text)")
        #expect(try photos("list").text.contains("photo-light.negative"))
    }
}
#endif
