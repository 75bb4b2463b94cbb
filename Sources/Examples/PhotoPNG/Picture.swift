#if PNG
import CPhotoPNG
#endif

/// A picture in memory, from PNG and to PNG. (8 bits a channel: a finer PNG, its color profile and its texts are not
/// kept.)
public struct Picture: Equatable, Sendable {
    /// The width, in pixels.
    public let width: Int
    /// The height, in pixels.
    public let height: Int
    /// Red, green, blue and opacity of each pixel, line by line.
    public var pixels: [UInt8]

    /// The largest number of pixels: 128 MiB in memory.
    public static let mostPixels = 32 << 20

    /// The error of bytes that are no PNG, or of a picture that cannot be written.
    public struct Fault: Error, Sendable, CustomStringConvertible {
        /// What is wrong, for people.
        public let description: String
    }

    /// Decodes a PNG, all of it. Errors: `Fault`, also for more pixels than `mostPixels`.
    public init(png: [UInt8]) throws(Fault) {
        #if PNG
        var image = unsafe png_image()
        // libpng keeps a pointer to the bytes until it has read them.
        let result = unsafe png.withUnsafeBytes { bytes -> Result<Picture, Fault> in
            guard unsafe photo_png_begin(&image, bytes.baseAddress, bytes.count) != 0 else {
                return unsafe .failure(Self.fault(&image))
            }
            let (width, height) = unsafe (Int(image.width), Int(image.height))
            guard width <= Self.mostPixels, height <= Self.mostPixels, width * height <= Self.mostPixels else {
                unsafe png_image_free(&image)
                return .failure(Fault(description: "\(width) × \(height) pixels are too many"))
            }
            var pixels = [UInt8](repeating: 0, count: width * height * 4)
            guard unsafe photo_png_read(&image, &pixels) != 0 else { return unsafe .failure(Self.fault(&image)) }
            return .success(Picture(width: width, height: height, pixels: pixels))
        }
        self = try result.get()
        #else
        throw Self.isMissing
        #endif
    }

    private init(width: Int, height: Int, pixels: [UInt8]) {
        self.width = width
        self.height = height
        self.pixels = pixels
    }

    /// Creates an opaque gray picture. `color` returns the color of a pixel, by its number.
    public init(width: Int, height: Int, color: (Int) -> UInt8) {
        let pixels = (0..<width * height).flatMap { [color($0), color($0), color($0), .max] }
        self.init(width: width, height: height, pixels: pixels)
    }

    /// Encodes the picture. Errors: `Fault`
    public func png() throws(Fault) -> [UInt8] {
        #if PNG
        var image = unsafe png_image()
        var count: png_alloc_size_t = 0
        let (width, height) = (png_uint_32(width), png_uint_32(height))
        guard unsafe photo_png_write(&image, width, height, nil, &count, pixels) != 0 else {
            throw unsafe Self.fault(&image)
        }
        var bytes = [UInt8](repeating: 0, count: Int(count))
        guard unsafe photo_png_write(&image, width, height, &bytes, &count, pixels) != 0 else {
            throw unsafe Self.fault(&image)
        }
        return bytes
        #else
        throw Self.isMissing
        #endif
    }

    #if PNG
    private static func fault(_ image: UnsafePointer<png_image>) -> Fault {
        Fault(description: unsafe String(cString: photo_png_fault(image)))
    }
    #else
    private static let isMissing = Fault(description: "this program was built without the package trait PNG")
    #endif

    /// Returns the picture with each color, but not the opacity, replaced.
    public func mapColors(_ change: (UInt8) -> UInt8) -> Picture {
        let table = (0...UInt8.max).map(change)
        var picture = self
        for index in picture.pixels.indices where index % 4 != 3 {
            picture.pixels[index] = table[Int(picture.pixels[index])]
        }
        return picture
    }

    /// The mean of all colors, from 0 to 255.
    public var lightness: Int {
        let colors = pixels.indices.reduce(0) { $1 % 4 == 3 ? $0 : $0 + Int(pixels[$1]) }
        return pixels.isEmpty ? 0 : colors / (pixels.count / 4 * 3)
    }
}
