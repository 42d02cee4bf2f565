// swift-tools-version: 6.0
import PackageDescription

let package = Package(
  name: "latchkey-client",
  platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
  products: [.library(name: "LatchkeyClient", targets: ["LatchkeyClient"])],
  targets: [
    .target(
      name: "LatchkeyClient",
      dependencies: [.target(name: "CLatchkeyCrypto", condition: .when(platforms: [.linux]))]
    ),
    // Where there is no CryptoKit: libcrypto of OpenSSL 3.
    .systemLibrary(name: "CLatchkeyCrypto"),
    .executableTarget(name: "LatchkeyExample", dependencies: ["LatchkeyClient"], path: "Example"),
    // Answers the commands of the conformance run.
    .executableTarget(name: "LatchkeyDriver", dependencies: ["LatchkeyClient"], path: "Driver"),
    .testTarget(
      name: "LatchkeyClientTests",
      dependencies: ["LatchkeyClient", .target(name: "CLatchkeyCrypto", condition: .when(platforms: [.linux]))],
      path: "test/LatchkeyClientTests"),
  ]
)
