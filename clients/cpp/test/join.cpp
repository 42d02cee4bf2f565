// A file that is joined with the changes of a run that could not read it.
#include "support.hpp"

using namespace test;

namespace {

Json json(std::string_view text) { return Json::parse(text).value(); }

/// Returns a copy with changes.
Json with(Json kept, std::string_view changes) {
  const auto changed = json(changes);
  for (const auto& [name, value] : *changed.object()) kept.set(name, value);
  return kept;
}

/// A field that is not set counts as null.
std::string present(const Json& kept) {
  Json::Object fields;
  for (const auto& [name, value] : *kept.object()) {
    if (!value.is_null()) fields.emplace(name, value);
  }
  return Json(fields).dump();
}

const auto file = json(R"({"version":1,"key":"LK-FILE","activation_id":"a","entitlement":"file.e.e","clock":{"offset_ms":5,"latest_ms":9},
    "machine":{"machine_id":"m"},"install_id":"i","sharing":true,"seats":1,"last_answer_at":"2027-01-15T08:00:00.000Z",
    "release":{"key":"LK-OLD","activation_id":"old","machine_id":"m"}})");
const auto run = json(R"({"machine":{"machine_id":"m"}})");
constexpr std::string_view licensed = R"({"key":"LK-RUN","activation_id":"b","entitlement":"run.e.e"})";
constexpr std::string_view unlicensed = R"({"key":null,"activation_id":null,"entitlement":null})";
constexpr std::string_view generated = R"({"machine":{"machine_id":"generated-u"}})";
const auto licensed_run = with(run, licensed);

std::string joined_machine(const Json& before, const Json& changes, bool has_own_license) {
  return machine_id_of(join_run(before, changes, has_own_license)["machine"]);
}

}  // namespace

TEST(join_nothing, "a run that changed nothing leaves the file") {
  CHECK_EQUAL(present(join_run(file, Json::Object{}, false)), present(file));
  CHECK_EQUAL(present(join_run(file, run, false)), present(file));
}

TEST(join_empty, "everything of the run is kept beside an empty file") {
  const auto all = with(file, R"({"keys":[{"kid":"any"}],"install_id":null,"sharing":null,"seats":null})");
  for (const bool has_own_license : {true, false}) CHECK_EQUAL(present(join_run(Json::Object{}, all, has_own_license)), present(all));
}

TEST(join_trial, "a trial is kept only without a license") {
  CHECK_EQUAL(present(join_run(file, licensed_run, false)), present(file));
  CHECK_EQUAL(present(join_run(with(file, unlicensed), licensed_run, false)), present(with(file, licensed)));
  const auto release = R"({"release":{"key":"LK-RUN","activation_id":"b","machine_id":"m"}})";
  CHECK_EQUAL(present(join_run(file, with(licensed_run, release), false)), present(with(file, release)));
}

TEST(join_license, "an activated license replaces that of the file") {
  CHECK_EQUAL(present(join_run(file, licensed_run, true)), present(with(file, licensed)));
  const auto refused = with(file, R"({"refused":{"reason":"license_revoked"}})");
  CHECK_EQUAL(present(join_run(refused, licensed_run, true)), present(with(file, licensed)));
  CHECK_EQUAL(present(join_run(refused, run, false)), present(refused));
}

TEST(join_release, "an activation that is wanted again is not released") {
  CHECK(join_run(file, with(licensed_run, R"({"activation_id":"old"})"), true)["release"].is_null());
}

TEST(join_removed, "a removed license stays removed") {
  CHECK_EQUAL(present(join_run(file, run, true)), present(with(file, unlicensed)));
}

TEST(join_offline, "an activation without a connection keeps its key") {
  const auto same = json(R"({"activation_id":"a","entitlement":"run.e.e","key":null})");
  const auto joined = join_run(file, same, true);
  CHECK_EQUAL(joined["key"].text(), "LK-FILE");
  CHECK_EQUAL(joined["entitlement"].text(), "run.e.e");
  CHECK(join_run(file, with(same, R"({"activation_id":"b"})"), true)["key"].is_null());
}

TEST(join_same_trial, "a trial replaces an older copy of itself, and calls its release off") {
  const auto again = R"({"key":"LK-RUN","activation_id":"a","entitlement":"run.e.e"})";
  const auto refused = with(file, R"({"refused":{"reason":"trial_expired"}})");
  CHECK_EQUAL(present(join_run(refused, with(run, again), false)), present(with(file, again)));
  const auto released = with(licensed_run, R"({"activation_id":"old"})");
  CHECK_EQUAL(present(join_run(file, released, false)), present(with(file, R"({"release":null})")));
}

TEST(join_wanted_trial, "a wanted trial is kept unless there is a license") {
  const auto wanted = with(run, R"({"trial_wanted":true})");
  const auto offline = with(file, R"({"key":null})");
  CHECK_EQUAL(present(join_run(offline, wanted, false)), present(offline));
  CHECK_EQUAL(present(join_run(file, wanted, false)), present(file));
  CHECK(join_run(Json::Object{}, wanted, false)["trial_wanted"].is_true());
  CHECK(join_run(wanted, run, false)["trial_wanted"].is_true());
}

TEST(join_request, "a request of the run replaces that of the file") {
  constexpr std::string_view before = R"({"request":{"nonce":"file"}})";
  constexpr std::string_view after = R"({"request":{"nonce":"run"}})";
  CHECK_EQUAL(present(join_run(with(file, before), with(run, after), false)), present(with(file, after)));
  CHECK_EQUAL(present(join_run(with(file, before), run, false)), present(with(file, before)));
}

TEST(join_clock, "the latest time never decreases") {
  const std::int64_t cases[][3] = {{0, 9, 5}, {8, 9, 7}, {10, 10, 7}};
  for (const auto& [learnt, latest, offset] : cases) {
    const Json changes = Json::Object{{"clock", Clock{7, learnt}.write()}};
    for (const bool has_own_license : {true, false}) {
      const auto clock = Clock::of(join_run(file, changes, has_own_license));
      CHECK_EQUAL(clock.latest_ms, latest);
      CHECK_EQUAL(clock.offset_ms, offset);
    }
  }
}

TEST(join_machine, "a random machine is kept only with its license") {
  CHECK_EQUAL(joined_machine(file, with(licensed_run, generated), false), "m");
  CHECK_EQUAL(joined_machine(file, with(licensed_run, generated), true), "generated-u");
  CHECK_EQUAL(joined_machine(with(file, generated), run, false), "generated-u");
  CHECK_EQUAL(joined_machine(with(file, R"({"machine":null})"), json(generated), false), "generated-u");
  CHECK_EQUAL(joined_machine(file, json(R"({"machine":{"machine_id":"read"}})"), false), "read");
}

TEST(join_keys, "fetched keys are those of the license that remains") {
  const auto before = with(file, R"({"keys":["file"]})");
  const auto fetched = with(run, R"({"keys":["run"]})");
  CHECK_EQUAL(join_run(before, fetched, false)["keys"].dump(), R"(["file"])");
  CHECK_EQUAL(join_run(before, fetched, true)["keys"].dump(), R"(["run"])");
  CHECK_EQUAL(join_run(file, fetched, false)["keys"].dump(), R"(["run"])");
  CHECK_EQUAL(join_run(before, json(R"({"keys":[]})"), true)["keys"].dump(), R"(["file"])");
}
