package import Foundation

/// The root of the package that is tested: four levels above this file.
package let projectDirectory = URL(filePath: #filePath).appending(path: "../../../..").standardized
