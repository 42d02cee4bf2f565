// The vectors of the conformance run, JSON and times.
#include "support.hpp"
#include "system.hpp"

using namespace test;

namespace {

Json::Array read_vectors(const std::string& name) {
  const auto text = read_all(std::filesystem::path(CLIENTS_FOLDER) / "conformance" / "vectors" / (name + ".json"));
  const auto parsed = Json::parse(text);
  CHECK(parsed && parsed->array() != nullptr && parsed->array()->size() > 10);
  return *parsed->array();
}

std::string text_of(const Json& fields, const char* name) { return fields[name].text().value_or(""); }

std::string verify(const Json& vector) {
  Trust trust{read_public_keys(vector["public_keys"]), text_of(vector, "issuer"), {}, text_of(vector, "machine_id")};
  for (const auto& product : *vector["products"].array()) trust.products.push_back(product.text().value_or(""));
  const auto [claims, verdict] = read_token(text_of(vector, "token"), trust);
  if (!claims) return verdict;
  const auto nonce = vector["nonce"].text();
  const auto problem = find_time_problem(*claims, vector["now_ms"].integer().value_or(0));
  return problem ? *problem : nonce && nonce != claims->nonce ? "nonce" : "ok";
}

}  // namespace

TEST(tokens, "tokens have their verdicts") {
  for (const auto& vector : read_vectors("tokens")) {
    CHECK_EQUAL(text_of(vector, "name") + ": " + verify(vector), text_of(vector, "name") + ": " + text_of(vector, "verdict"));
  }
}

TEST(keys, "typed keys have their readings") {
  static const char* names[] = {"ok", "mistyped", "foreign"};
  for (const auto& vector : read_vectors("keys")) {
    const auto [verdict, read] = read_key(text_of(vector, "text"));
    CHECK_EQUAL(text_of(vector, "name") + names[static_cast<int>(verdict)], text_of(vector, "name") + text_of(vector, "verdict"));
    if (const auto expected = vector["key"].text()) CHECK_EQUAL(read, *expected);
  }
}

TEST(clocks, "clocks have their times") {
  for (const auto& vector : read_vectors("clocks")) {
    Clock clock;
    const auto& expected = *vector["expected"].array();
    for (std::size_t index = 0; index < expected.size(); ++index) {
      const auto& step = (*vector["steps"].array())[index];
      const auto device_ms = step["device_ms"].integer().value();
      if (const auto service_ms = step["service_ms"].integer()) clock = clock.learn(device_ms, *service_ms);
      CHECK_EQUAL(clock.now_ms(device_ms), expected[index]["now_ms"].integer().value());
      CHECK_EQUAL(clock.went_back(device_ms), expected[index]["clock_went_back"].is_true());
    }
  }
}

TEST(fingerprints, "machine ids are found in what systems print") {
  for (const auto& vector : read_vectors("fingerprints")) {
    const auto source = text_of(vector, "source");
    const auto read = source == "reg.exe" ? read_registry_output : source == "ioreg" ? read_ioreg_output : read_machine_id_file;
    CHECK_EQUAL(read(text_of(vector, "text")), vector["machine_id"].text());
  }
}

TEST(json_texts, "JSON is read and written") {
  for (const std::string text : {"null", "true", "-12.5", "[]", "{}", R"([1,"a\"\\b",{"c":[false,null]}])", R"("ключ")"}) {
    CHECK_EQUAL(Json::parse(text).value().dump(), text);
  }
  CHECK_EQUAL(Json::parse(R"("\u00e9\ud83d\ude00\ud800x\n")").value().text(), "é😀\uFFFDx\n");
  CHECK_EQUAL(Json::parse(R"({"a":1,"a":2})").value()["a"].integer(), 2);
  CHECK_EQUAL(Json::parse("1e300").value().integer(), std::nullopt);
  CHECK_EQUAL(Json::parse("9007199254740993").value().integer(), std::nullopt);
}

TEST(no_json, "what is no JSON is refused") {
  for (const std::string text : {"", " ", "nul", "01", "1.", "-", "[1,]", "{\"a\"}", "{\"a\":1", "\"", "\"\n\"", "\"\\x\"", "\"\\u12\"",
                                 "1 2", "\xEF\xBB\xBF{}", "\"\xFF\"", "\"\xC0\x80\"", "\"\xED\xA0\x80\"", "{a:1}"}) {
    CHECK(!Json::parse(text));
  }
  CHECK(!Json::parse(std::string(100'000, '[')));
}

TEST(times, "times are written in RFC 3339, and the header Date is read") {
  CHECK_EQUAL(format_time(0), "1970-01-01T00:00:00.000Z");
  CHECK_EQUAL(format_time(-1), "1969-12-31T23:59:59.999Z");
  CHECK_EQUAL(format_time(951'782'400'000), "2000-02-29T00:00:00.000Z");
  CHECK_EQUAL(format_time(1'800'000'000'123), "2027-01-15T08:00:00.123Z");
  CHECK_EQUAL(parse_date("Fri, 15 Jan 2027 08:00:00 GMT"), std::int64_t{1'800'000'000'000});
  CHECK_EQUAL(parse_date("Tue, 29 Feb 2000 00:00:00 GMT"), std::int64_t{951'782'400'000});
  for (const auto* wrong : {"", "yesterday", "Fri, 15 Jan 2027 08:00:00 CET", "Fri, 15 anF 2027 08:00:00 GMT", "Fri, 99 Jan 2027 08:00:00 GMT"}) {
    CHECK_EQUAL(parse_date(wrong), std::nullopt);
  }
}

TEST(hosts, "keys are trusted from https and this computer") {
  for (const auto* trusted : {"https://license.example.com", "http://localhost:80", "http://127.0.0.1", "http://[::1]:8080/x"}) {
    CHECK(is_trustworthy(trusted));
  }
  for (const auto* other : {"http://license.example.com", "http://127.example.com", "http://10.0.0.1", "http://[::2]"}) {
    CHECK(!is_trustworthy(other));
  }
  for (const auto* wrong : {"license.example.com", "ftp://license.example.com", "https://", "https://:80"}) {
    CHECK_EQUAL(host_of(wrong), "");
  }
}
