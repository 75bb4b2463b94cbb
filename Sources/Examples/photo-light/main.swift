import Extensions
import FoundationEssentials
import PhotoPNG

// A photo editing extension: makes a photo brighter or darker, or turns it into its negative, as its argument says. A
// photo that it has edited before is made anew from the base, so that no edit is lost by the next one.

/// The adjustment data: what all edits since the base come to.
struct Light: Codable {
    static let format = "com.example.photo-light"
    static let version = "1"

    /// What is added to each color.
    var brightness = 0
    /// Whether the colors are inverted, after that.
    var isNegative = false

    init() {}

    /// Reads adjustment data; nil if it is another extension's, or a newer version's, or cannot be read.
    init?(_ adjustment: PhotoEdit.Adjustment) {
        guard adjustment.format == Self.format, adjustment.version == Self.version,
            let light = try? JSONDecoder().decode(Light.self, from: Data(adjustment.data)),
            (-255...255).contains(light.brightness)
        else { return nil }
        self = light
    }

    func color(_ old: UInt8) -> UInt8 {
        let color = UInt8(clamping: Int(old) + brightness)
        return isNegative ? UInt8.max - color : color
    }
}

try await ExtensionProgram { context in
    let edit = try PhotoEdit(context.inputItems)
    let earlier = edit.earlier.flatMap { Light($0.adjustment) }
    var light = earlier ?? Light()
    switch CommandLine.arguments.dropFirst().first {
    case "brighter": light.brightness = min(255, light.brightness + (light.isNegative ? -20 : 20))
    case "darker": light.brightness = max(-255, light.brightness - (light.isNegative ? -20 : 20))
    case "negative": light.isNegative.toggle()
    default:
        throw ExtensionError(domain: Light.format, code: 1, text: "the argument must be brighter, darker or negative")
    }
    let photo = earlier == nil ? edit.photo : edit.base
    let picture = try Picture(png: try await photo.loadBytes()).mapColors(light.color)
    let result = PhotoEdit.Result(
        Attachment(.bytes(try picture.png()), type: .png), width: picture.width, height: picture.height,
        adjustment: PhotoEdit.Adjustment(
            format: Light.format, version: Light.version, data: Array(try JSONEncoder().encode(light))),
        resumed: earlier != nil)
    try context.complete(returning: result.items)
}.run()
