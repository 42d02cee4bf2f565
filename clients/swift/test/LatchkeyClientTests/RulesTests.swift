import Foundation
import Testing

@testable import LatchkeyClient

@Suite struct RulesTests {
  @Test func entitlementsHaveTheVerdictsOfTheVectors() throws {
    for vector in try readVectors("tokens.json") {
      let trust = Trust(
        keys: PublicKey.read(vector["public_keys"]), issuer: try #require(vector["issuer"]?.text),
        products: try #require(vector["products"]?.list).compactMap(\.text),
        machineID: try #require(vector["machine_id"]?.text))
      let now = try #require(vector["now_ms"]?.integer)
      #expect(
        verdict { () throws(Verdict) in
          try trust.verify(vector["token"]?.text ?? "", now: now, nonce: vector["nonce"]?.text)
        } == vector["verdict"]?.text, "\(vector["name"]?.text ?? "")")
    }
  }

  private func verdict(_ verify: () throws(Verdict) -> Void) -> String {
    do {
      try verify()
      return "ok"
    } catch {
      return error.rawValue
    }
  }

  @Test(arguments: ["", ".", "..", "a.b.c", String(repeating: "[", count: 100_000), "é.é.é", "\0.\0.\0"])
  func anyTextIsMalformed(_ text: String) {
    let trust = Trust(keys: [], issuer: issuer, products: ["personal"], machineID: machineID)
    #expect(throws: Verdict.malformed) { try trust.verify(text) }
  }

  @Test func damagedKeysAreAnError() throws {
    let key = JSON.object([
      "kty": "OKP", "crv": "Ed25519", "kid": "test", "x": .text(String(repeating: "A", count: 43)),
    ])
    for json in [JSON.list([key]), .object(["keys": .list([key])])] {
      #expect(try PublicKey.read(from: json.encoded()).count == 1)
    }
    #expect(try PublicKey.read(from: Data("{\"keys\":[]}".utf8)).isEmpty)
    let cut: JSON = ["kty": "OKP", "crv": "Ed25519", "kid": "next", "x": "AAAA"]
    let damaged = ["", "<html></html>", "{\"keys\":[{\"kty\":", "{}", "null"].map { Data($0.utf8) }
    for text in damaged + [JSON.list([key, cut]).encoded()] {
      #expect(throws: InvalidOptions.self) { try PublicKey.read(from: text) }
    }
  }

  @Test func typedKeysHaveTheReadingsOfTheVectors() throws {
    for vector in try readVectors("keys.json") {
      let key = vector["key"]?.text ?? ""
      let expected: LicenseKey =
        switch vector["verdict"]?.text {
        case "ok": .ok(key)
        case "mistyped": .mistyped
        default: .foreign(key)
        }
      #expect(LicenseKey(typed: try #require(vector["text"]?.text)) == expected, "\(vector["name"]?.text ?? "")")
    }
  }

  @Test func clocksHaveTheTimesOfTheVectors() throws {
    for vector in try readVectors("clocks.json") {
      var clock = ServiceClock()
      for (step, expected) in zip(vector["steps"]?.list ?? [], vector["expected"]?.list ?? []) {
        let device = try #require(step["device_ms"]?.integer)
        if let service = step["service_ms"]?.integer { clock.learn(device: device, service: service) }
        let (now, wentBack) = clock.read(device: device)
        #expect(now == expected["now_ms"]?.integer && wentBack == expected["clock_went_back"]?.bool)
      }
    }
  }

  @Test func machineIDsHaveTheReadingsOfTheVectors() throws {
    for vector in try readVectors("fingerprints.json") {
      let source = try #require(vector["source"]?.text.flatMap(MachineSource.init))
      let id = source.findID(in: try #require(vector["text"]?.text))
      #expect(id == vector["machine_id"]?.text, "\(vector["name"]?.text ?? "")")
    }
  }

  @Test func dateCountsOnlyIfItFitsTheEntitlement() {
    let issued: Int64 = 1_800_000_000_000
    #expect(ServiceClock.serviceTime(date: issued + 60_000, issued: issued) == issued + 60_000)
    for date in [nil, issued - 1, issued + 66 * 60_000] {
      #expect(ServiceClock.serviceTime(date: date, issued: issued) == issued)
    }
  }

  @Test func timesAreWrittenAndReadToTheMillisecond() {
    for milliseconds in Int64(1_799_999_999_000)..<1_800_000_001_000 {
      let text = Times.format(milliseconds)
      #expect(text.hasSuffix(String(format: ".%03dZ", milliseconds % 1000)))
      #expect(Times.parse(text).map(Times.milliseconds(of:)) == milliseconds)
    }
    #expect(Times.parse("2027-01-15T08:00:00Z") == start)
    #expect(Times.parseHTTP("Fri, 15 Jan 2027 08:00:00 GMT") == 1_800_000_000_000)
    #expect(Times.parse("yesterday") == nil && Times.parseHTTP("yesterday") == nil)
    #expect(Times.format(.max) == "9999-12-31T23:59:59.999Z" && Times.format(.min).hasPrefix("0001-"))
  }

  @Test(arguments: [
    ("[1, -2.5e1, true, null]", #"[1,-25,true,null]"#), (#""\ud83d\ude00\n\u00e9""#, #""😀\né""#),
    (#"{"a": 1, "a": 2}"#, #"{"a":2}"#), ("  []\n", "[]"),
  ])
  func readsJSON(_ text: String, _ expected: String) {
    #expect(JSON(parsing: Data(text.utf8)).map { String(decoding: $0.encoded(), as: UTF8.self) } == expected)
  }

  @Test(arguments: [
    "", " ", "[1,]", "[1", "{\"a\"}", "{a:1}", "01", "1.", "+1", "tru", "\"\n\"", "\"\\x\"", "\"\\u12\"", "[] []",
    "1e999",
    "\"", "\"\\", String(repeating: "[", count: 100_000),
  ])
  func refusesWhatIsNoJSON(_ text: String) {
    #expect(JSON(parsing: Data(text.utf8)) == nil)
  }
}

@Suite struct ScheduleTests {
  private let busy = NoAnswer(cause: .busy, detail: "503")

  /// Lets minutes pass, and returns the triggers of their ticks.
  private func pass(_ minutes: Int, _ schedule: inout Schedule, from now: inout Date) -> [Trigger] {
    (0..<minutes).compactMap { _ in
      now += Schedule.tick
      return schedule.tick(now: now, network: "home")
    }
  }

  @Test func checksDaily() {
    var (now, schedule) = (start, Schedule(now: start, network: "home"))
    schedule.endCheck(nil, jitter: 1)
    #expect(pass(1439, &schedule, from: &now) == [])
    #expect(pass(1, &schedule, from: &now) == [.scheduled])
  }

  @Test func asksAgainAfter1And5And15And60Minutes() {
    var (now, schedule) = (start, Schedule(now: start, network: "home"))
    for minutes in [1, 5, 15, 60, 60] {
      schedule.endCheck(busy, jitter: 1)
      #expect(pass(minutes - 1, &schedule, from: &now) == [])
      #expect(pass(1, &schedule, from: &now) == [.scheduled])
      schedule.beginCheck()
    }
  }

  @Test func checksSoonWhileTheFileCannotBeRead() {
    var (now, schedule) = (start, Schedule(now: start, network: "home"))
    for minutes in [1, 5] {
      schedule.endCheck(nil, isUnread: true, jitter: 1)
      #expect(pass(minutes - 1, &schedule, from: &now) == [])
      #expect(pass(1, &schedule, from: &now) == [.scheduled])
    }
    schedule.endCheck(nil, jitter: 1)
    #expect(pass(1439, &schedule, from: &now) == [])
  }

  @Test func waitsAsLongAsTheServiceAsks() {
    var (now, schedule) = (start, Schedule(now: start, network: "home"))
    var failure = busy
    failure.retryAfter = .seconds(1200)
    schedule.endCheck(failure, jitter: 1)
    #expect(pass(19, &schedule, from: &now) == [])
    #expect(pass(1, &schedule, from: &now) == [.scheduled])
  }

  @Test func checksAfterSleepAndWithAnotherNetwork() {
    var schedule = Schedule(now: start, network: "home")
    schedule.endCheck(nil, jitter: 1)
    let first = [3600.0, 3660].map { schedule.tick(now: start + $0, network: $0 == 3600 ? "home" : "train") }
    #expect(first == [.wake, nil])
    schedule.endCheck(busy, jitter: 1)
    let trigger = schedule.tick(now: start + 3661, network: "office")
    #expect(trigger == .reconnect)
  }

  @Test func checksWhenTheClockIsSetBackAndADayLater() {
    var (now, schedule) = (start, Schedule(now: start, network: "home"))
    now -= 3600
    #expect(schedule.tick(now: now, network: "home") == .wake)
    schedule.endCheck(nil, jitter: 1)
    #expect(pass(1439, &schedule, from: &now) == [])
    #expect(pass(1, &schedule, from: &now) == [.scheduled])
  }

  @Test func checksSoonAfterACallWithoutAnAnswer() {
    var (now, schedule) = (start, Schedule(now: start, network: "home"))
    schedule.notice(busy, jitter: 1)
    #expect(schedule.checkIn == nil)
    schedule.endCheck(nil, jitter: 1)
    schedule.notice(nil, jitter: 1)
    #expect(schedule.checkIn == 86_400)
    schedule.notice(busy, jitter: 1)
    #expect(pass(1, &schedule, from: &now) == [.scheduled])
  }

  @Test func focusCountsOnceAMinute() {
    var schedule = Schedule(now: start, network: "home")
    let noticed = [0, 59, 60].map { schedule.noticeFocus(now: start + $0) }
    #expect(noticed == [true, false, true])
  }
}
