public import FoundationEssentials
public import GroupContainer

/// The request of the point `page-script`: what the extension's script has found in a page.
///
/// The script is a file beside the manifest, which names it in its `attributes`: `{"script": "words.js"}`. The host
/// calls its function `run` with an object whose `completionFunction` takes the value; and its function `finalize`, if
/// it has one, with the value that the extension returns.
public struct PageScript: Equatable, Sendable {
    /// The attributes of a manifest.
    public struct Attributes: Codable, Hashable, Sendable {
        /// The script's file, relative to the manifest's directory.
        public var script: String
    }

    /// The page's address.
    public var url: URL
    /// What the script has found.
    public var value: DefaultsValue

    /// Creates a request.
    public init(_ value: DefaultsValue, at url: URL) { (self.value, self.url) = (value, url) }

    /// Reads a request. Errors: `MalformedItem`
    public init(_ items: [ExtensionItem]) throws(MalformedItem) {
        let item = try PointItem(items, .pageScript, attachments: 1)
        guard case .propertyList(let value)? = item.item.attachments.first?.content else {
            throw item.fault("it has no property list")
        }
        guard case .url(let text)? = item.item.values["url"], let url = URL(absolute: text) else {
            throw item.fault("its value 'url' is no URL")
        }
        self.value = value
        self.url = url
    }

    /// The items of the request.
    public var items: [ExtensionItem] {
        [ExtensionItem(attachments: [.propertyList(value)], values: ["url": .url(url.absoluteString)])]
    }

    /// Creates the items of a result: the value for `finalize`.
    public static func result(_ value: DefaultsValue) -> [ExtensionItem] {
        [ExtensionItem(attachments: [.propertyList(value)])]
    }

    /// Reads a result; nil if there are no items: the page stays as it is. Errors: `MalformedItem`
    public static func value(ofResult items: [ExtensionItem]) throws(MalformedItem) -> DefaultsValue? {
        if items.isEmpty { return nil }
        let item = try PointItem(items, .pageScript, attachments: 1)
        guard case .propertyList(let value)? = item.item.attachments.first?.content else {
            throw item.fault("it has no property list")
        }
        return value
    }
}
