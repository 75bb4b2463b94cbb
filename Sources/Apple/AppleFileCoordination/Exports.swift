// As with NSFileCoordinator on Apple's systems, Foundation comes with this module.
@_exported import Foundation
