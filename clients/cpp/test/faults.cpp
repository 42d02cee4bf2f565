// 10,000 faults of the network: nothing throws, no state changes, nobody is locked out.
#include "support.hpp"

using namespace test;

namespace {

Response body(std::string content) {
  Response response;
  response.status = 200;
  response.body = std::move(content);
  return response;
}

/// Returns all that may arrive instead of an answer.
std::vector<Response> list_faults() {
  const auto valid = [](const Json& entitlement) { return reply(200, Json::Object{{"valid", true}, {"entitlement", entitlement}}); };
  return {no_response(Cause::connection),
          no_response(Cause::dns),
          no_response(Cause::timeout),
          no_response(Cause::tls),
          no_response(Cause::proxy),
          page(200),
          page(302),
          page(403),
          page(404),
          page(407),
          page(502),
          body(""),
          body("null"),
          body("[{}]"),
          body("{\"valid\":true,\"entitlem"),
          body("\xEF\xBB\xBF{\"valid\":false,\"reason\":1}"),
          body(std::string("\xFF\0\xC3", 3)),
          body(std::string(100'000, '[')),
          reply(200, Json::Object{{"valid", true}}),
          valid("a.b.c"),
          valid(sign({}, 9)),
          valid(sign({{"aud", "other"}})),
          valid(sign({{"exp", 1.0}})),
          valid(sign({{"exp", 1e300}})),
          reply(200, Json::Object{{"valid", false}, {"reason", nullptr}}),
          reply(403, Json::Object{{"error", "blocked by policy"}}),
          reply(403, Json::Object{{"code", "license_revoked"}, {"status", 200.0}}),
          problem(429, "rate_limited"),
          problem(500, "internal_error"),
          problem(503, "overloaded")};
}

/// Makes one of the calls, in turn.
std::optional<Failure> call(Latchkey& client, int count) {
  switch (count % 7) {
    case 0: return client.machines().failure;
    case 1: return client.move_here("any").failure;
    case 2:
    case 3: return client.activate(key).failure;
    default: return client.check(Trigger::scheduled).failure;
  }
}

}  // namespace

TEST(faults, "10,000 faults change no state") {
  const Folder folder;
  World world(folder);
  activate(world);
  auto before = world.client->state();
  before.is_answered = false;
  const auto kept = folder.read("license.json");
  const auto faults = list_faults();
  for (int count = 0; count < 10'000; ++count) {
    // Each call meets each fault, because the numbers of both have no common divisor.
    const auto& fault = faults[static_cast<std::size_t>(count) % faults.size()];
    world.service->answer([&fault](const Request&) { return fault; });
    const auto failure = call(*world.client, count);
    CHECK(failure && failure->code == "no_answer");
    CHECK(world.client->state() == before);
  }
  CHECK_EQUAL(folder.read("license.json"), kept);
  CHECK(world.take_problems().empty());
  world.service->answer([](const Request&) { return validated(); });
  CHECK(world.client->check());
}
