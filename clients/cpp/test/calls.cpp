// What calls do that the scenes of the conformance run do not show.
#include "support.hpp"

using namespace test;

namespace {

std::string open_wrong(const Options& options) {
  try {
    const Latchkey latchkey(options);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

std::vector<PublicKey> list_keys(std::string_view text) { return read_public_keys(text); }

}  // namespace

TEST(wrong_options, "names all wrong options") {
  CHECK_EQUAL(open_wrong({}),
              "wrong options: service must be an http or https URL; issuer must not be empty; products must list ids; folder must be a path; "
              "app_version must not be empty");
  const Folder folder;
  auto wrong = options(folder);
  wrong.transport = {};
  CHECK_EQUAL(open_wrong(wrong), "wrong options: transport is missing");
}

TEST(changes, "reports changes, but not the first state") {
  const Folder folder;
  World world(folder);
  std::string kinds;
  world.client->on_change([&](const State& state) { kinds += std::string(to_string(state.kind)) + " "; });
  world.client->check();
  activate(world);
  activate(world);
  world.service->answer([](const Request&) { return problem(403, "license_revoked"); });
  CHECK_EQUAL(world.client->check().failure->code, "license_revoked");
  CHECK_EQUAL(kinds, "licensed refused ");
}

TEST(features, "features end with the entitlement") {
  const Folder folder;
  World world(folder);
  activate(world);
  CHECK(world.client->has("gpu") && !world.client->has("cpu"));
  world.clock_ms = now_ms + 14 * day_ms;
  CHECK(!world.client->has("gpu"));
  CHECK_EQUAL(world.client->state().reason, "entitlement_expired");
}

TEST(identity, "sends the identity of the machine") {
  const Folder folder;
  World world(folder);
  world.service->answer([](const Request&) { return activated(); });
  CHECK(world.client->activate("lk-5jq8m-xk8no-or2w4-lit6y-abc2h"));
  const auto requests = world.service->take_requests();
  CHECK_EQUAL(requests.at(0).url, "https://license.example.com/api/v1/licenses/activate");
  CHECK_EQUAL(requests.at(0).body,
              R"({"license_key":")" + key + R"(","machine_fingerprint":{"app_version":"2.4.0","machine_id":"4c4c4544-0044","os_version":"6.1"}})");
}

TEST(limits, "a limit is refused with its numbers") {
  const Folder folder;
  World world(folder);
  world.service->answer([](const Request&) {
    return reply(409, Json::Object{{"status", 409.0}, {"code", "activation_limit_reached"}, {"max", 2.0}, {"current", 2.0}});
  });
  const auto failure = world.client->activate(key).failure.value();
  CHECK_EQUAL(failure.code, "activation_limit_reached");
  CHECK_EQUAL(failure.max.value() + failure.current.value(), 4);
}

TEST(purchase, "waits for the license of a purchase") {
  const Folder folder;
  World world(folder);
  int asked = 0;
  world.service->answer([&](const Request& request) {
    if (request.url.find("/activate") != std::string::npos) return activated();
    CHECK(request.url.find("/check/txn%201") != std::string::npos);
    if (++asked == 1) return reply(200, Json::Object{{"status", "pending"}});
    return reply(200, Json::Object{{"status", "completed"}, {"licenses", Json::Array{Json::Object{{"license_key", key}}}}});
  });
  CHECK(world.client->after_purchase("txn 1"));
  CHECK(world.client->state().kind == Kind::licensed);
}

TEST(purchase_ends, "a purchase ends with a refusal, its time or close") {
  const Folder folder;
  World world(folder);
  const auto buy = [&](std::chrono::seconds timeout, const Response& response) {
    world.service->answer([=](const Request&) { return response; });
    return world.client->after_purchase("txn", timeout).failure->code;
  };
  const std::chrono::seconds minute(60);
  CHECK_EQUAL(buy(minute, problem(404, "transaction_not_found")), "transaction_not_found");
  CHECK_EQUAL(buy(minute, reply(200, Json::Object{{"status", "completed"}, {"license_key", nullptr}})), "key_not_shown");
  CHECK_EQUAL(buy(std::chrono::seconds(0), reply(200, Json::Object{{"status", "pending"}})), "purchase_pending");
  CHECK_EQUAL(buy(std::chrono::seconds(0), no_response(Cause::dns)), "purchase_pending");
  world.client->close();
  CHECK_EQUAL(buy(minute, no_response(Cause::dns)), "aborted");
}

TEST(pasted, "an answer is found in a pasted mail") {
  const Folder folder;
  World world(folder);
  CHECK(world.client->offline_request("personal", "Lab PC 3"));
  const auto nonce = Json::parse(folder.read("license.json")).value()["request"]["nonce"];
  const auto token = sign({{"nonce", nonce}});
  std::string mail = "Hello é,\r\n";
  for (std::size_t at = 0; at < token.size(); at += 60) mail += "> " + token.substr(at, 60) + "\r\n";
  CHECK(world.client->accept_offline(mail + "\r\nRegards"));
  CHECK(world.client->state().kind == Kind::licensed);
  CHECK_EQUAL(world.client->accept_offline(token).failure->code, "entitlement_nonce");
  CHECK_EQUAL(world.client->accept_offline("\xFF").failure->code, "entitlement_malformed");
}

TEST(released, "an answer without a connection ends the release of its activation") {
  const Folder folder;
  World world(folder);
  activate(world);
  world.service->answer([](const Request&) { return no_response(Cause::dns); });
  CHECK(!world.client->deactivate());
  CHECK(world.client->offline_request("personal"));
  const auto nonce = Json::parse(folder.read("license.json")).value()["request"]["nonce"];
  CHECK(world.client->accept_offline(sign({{"nonce", nonce}})));
  world.service->take_requests();
  world.service->answer([](const Request&) { return validated(); });
  CHECK(world.client->check());
  CHECK_EQUAL(world.service->take_requests().size(), 1u);
  CHECK(world.client->state().kind == Kind::licensed);
}

TEST(damaged_keys, "damaged keys are an error") {
  const std::string key_text = R"({"kty":"OKP","crv":"Ed25519","kid":"test","x":")" + std::string(43, 'A') + R"("})";
  CHECK_EQUAL(list_keys("[" + key_text + "]").size(), 1u);
  CHECK_EQUAL(list_keys("{\"keys\":[" + key_text + "]}").size(), 1u);
  CHECK(list_keys(R"({"keys":[]})").empty());
  const auto cut = "[" + key_text + R"(,{"kty":"OKP","crv":"Ed25519","kid":"next","x":"AAAA"}])";
  for (const auto& damaged : {std::string(), std::string("<html></html>"), std::string(R"({"keys":[{"kty":)"), std::string("{}"), cut}) {
    std::string message = "no error";
    try {
      list_keys(damaged);
    } catch (const std::invalid_argument& error) {
      message = error.what();
    }
    CHECK_EQUAL(message, "wrong options: public_keys must list Ed25519 keys");
  }
}

TEST(explained, "explains without key, token and machine id") {
  const Folder folder;
  World world(folder);
  activate(world);
  world.service->answer([](const Request&) { return no_response(Cause::tls); });
  world.client->check();
  const auto text = world.client->explain();
  for (const std::string line : {"state: licensed\n", "last request: tls: test\n", "key: …ABC2H\n"}) {
    CHECK(text.find(line) != std::string::npos);
  }
  for (const std::string& secret : {key, key.substr(0, 20), machine_id, std::string("eyJ")}) {
    CHECK(text.find(secret) == std::string::npos);
  }
}
