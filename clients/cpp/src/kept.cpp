#include "kept.hpp"

#include <initializer_list>

#include "client.hpp"
#include "system.hpp"

namespace latchkey {

void Latchkey::Client::load() {
  remove_old_temporaries(file());
  const auto reading = read_file_with_retries(file());
  must_read_file_ = static_cast<bool>(reading.error);
  if (reading.error) {
    report("folder_unreadable", "could not read license.json: " + reading.error.message());
  } else {
    adopt(parse(reading.content));
  }
  // The program does not wait for the system while a kept identity can be used.
  must_read_machine_ = options_.machine.empty() && !own_machine_id(kept()).empty();
  if (!must_read_machine_) adopt_machine();
}

Json Latchkey::Client::parse(const std::optional<std::string>& content) {
  if (!content) return Json::Object{};
  auto parsed = Json::parse(*content);
  if (parsed && parsed->is_object()) return *std::move(parsed);
  report("file_damaged", "license.json is damaged and was renamed");
  std::error_code error;
  std::filesystem::rename(file(), file() += ".damaged", error);
  if (error) report("folder_unwritable", "could not rename license.json: " + error.message());
  return Json::Object{};
}

std::error_code Latchkey::Client::read_again() {
  const auto reading = read_file(file());
  if (reading.error) return reading.error;
  must_read_file_ = false;
  adopt(join_run(parse(reading.content), kept(), has_own_license_));
  return {};
}

void Latchkey::Client::adopt_machine() {
  Json reading;
  for (const auto& [name, value] : options_.machine) reading.set(name, value);
  if (reading.is_null()) reading = read_machine();
  if (reading.is_null()) report("machine_unreadable", "could not read the identity of the machine");
  const auto before = kept();
  const auto chosen = choose_machine(before, reading, random_uuid());
  if (chosen.dump() == before["machine"].dump()) return;
  change([&](Json& kept) { kept.set("machine", chosen); });
}

void Latchkey::Client::change(const Edit& edit) {
  auto changed = kept();
  edit(changed);
  changed.set("version", std::int64_t{1});
  adopt(std::move(changed));
  if (must_read_file_ && has_license()) has_own_license_ = true;
  const auto error = must_read_file_ ? read_again() : std::error_code();
  if (!error) return write();
  report("folder_unwritable", "license.json is not written while it cannot be read: " + error.message());
}

bool Latchkey::Client::has_license() const {
  const std::lock_guard lock(memory_mutex_);
  return is_activated(memory_.kept) && !(memory_.claims && memory_.claims->trial);
}

void Latchkey::Client::write() {
  const auto error = replace_file(file(), kept().dump() + "\n");
  if (error) report("folder_unwritable", "could not write license.json: " + error.message());
}

void Latchkey::Client::adopt(Json kept) {
  const auto token = kept["entitlement"].text();
  auto claims = token ? read_entitlement(*token, kept).claims : std::nullopt;
  // Both at once, so that no state is derived from the old one and the new one.
  const std::lock_guard lock(memory_mutex_);
  memory_.kept = std::move(kept);
  memory_.claims = std::move(claims);
}

void cancel_release(Json& kept, const std::optional<std::string>& activation_id) {
  const auto released = kept["release"]["activation_id"].text();
  if (released && released == activation_id) kept.set("release", nullptr);
}

namespace {

constexpr std::string_view generated = "generated-";

/// Whether an identity is a random one, because the system has none.
bool is_generated(const Json& machine) { return machine_id_of(machine).compare(0, generated.size(), generated) == 0; }

bool has(const Json& kept, const char* name) {
  const auto& value = kept[name];
  return !value.is_null() && (value.array() == nullptr || !value.array()->empty());
}

/// Copies the fields that have a value.
void set_present(Json& to, const Json& from, std::initializer_list<const char*> names) {
  for (const auto* name : names) {
    if (has(from, name)) to.set(name, from[name]);
  }
}

void replace_license(Json& joined, const Json& run) {
  const auto id = run["activation_id"].text();
  const bool is_same = run["entitlement"].text() && id == joined["activation_id"].text();
  // The answer to a machine without a connection has no key.
  if (run["key"].text() || !is_same) joined.set("key", run["key"]);
  for (const auto* name : {"activation_id", "entitlement", "refused", "request", "trial_wanted"}) joined.set(name, run[name]);
  cancel_release(joined, id);
  set_present(joined, run, {"release", "keys", "machine"});
}

void keep_license(Json& joined, const Json& file, const Json& run) {
  cancel_release(joined, run["activation_id"].text());
  set_present(joined, run, {"release", "request"});
  if (run["trial_wanted"].is_true() && !is_activated(file)) joined.set("trial_wanted", true);
  if (!has(file, "keys")) set_present(joined, run, {"keys"});
  if (machine_id_of(file["machine"]).empty()) return set_present(joined, run, {"machine"});
  // A system that cannot read the file may not have read the machine either.
  joined.set("machine", choose_machine(file, is_generated(run["machine"]) ? Json() : run["machine"], {}));
}

}  // namespace

bool is_activated(const Json& kept) { return kept["key"].text() || kept["entitlement"].text(); }

Json join_run(const Json& file, const Json& run, bool has_own_license) {
  auto joined = file;
  const bool is_trial_kept = !is_activated(file) || run["activation_id"].text() == file["activation_id"].text();
  if (has_own_license || (is_activated(run) && is_trial_kept)) {
    replace_license(joined, run);
  } else {
    keep_license(joined, file, run);
  }
  joined.set("version", std::int64_t{1});
  joined.set("clock", Clock::of(file).join(Clock::of(run)).write());
  set_present(joined, run, {"last_answer_at"});
  return joined;
}

std::string machine_id_of(const Json& machine) { return machine["machine_id"].text().value_or(""); }

std::string own_machine_id(const Json& kept) { return machine_id_of(kept["machine"]); }

Json choose_machine(const Json& kept, const Json& reading, const std::string& uuid) {
  const auto& before = kept["machine"];
  const bool is_read = !machine_id_of(reading).empty();
  if (!machine_id_of(before).empty() && (!is_read || (is_generated(before) && is_activated(kept)))) return before;
  return is_read ? reading : Json::Object{{"machine_id", std::string(generated) + uuid}};
}

}  // namespace latchkey
