// The identity of machines.
#include "support.hpp"
#include "system.hpp"

using namespace test;

namespace {

std::string fixture(const std::string& name) {
  return read_all(std::filesystem::path(CLIENTS_FOLDER) / "typescript" / "test" / "fixtures" / name);
}

Json machine(const char* id) { return Json::Object{{"machine_id", id}}; }

std::string choose(const char* kept_id, bool is_used, const Json& reading) {
  Json kept = Json::Object{};
  if (kept_id != nullptr) kept.set("machine", machine(kept_id));
  if (is_used) kept.set("key", "LK");
  return machine_id_of(choose_machine(kept, reading, "uuid"));
}

}  // namespace

TEST(recorded, "recorded outputs of the systems are read") {
  CHECK_EQUAL(read_registry_output(fixture("reg.txt")), "6f0a1b2c-3d4e-4f60-8182-93a4b5c6d7e8");
  CHECK_EQUAL(read_registry_output(fixture("reg-forbidden.txt")), std::nullopt);
  CHECK_EQUAL(read_registry_output(fixture("reg-missing-de.txt")), std::nullopt);
  CHECK_EQUAL(read_ioreg_output(fixture("ioreg.txt")), "E2A6F3B1-7C4D-5E8F-9A0B-1C2D3E4F5A6B");
}

TEST(linux_files, "Linux is read from files, with the serial number of the board") {
  const auto read = [](const char* dbus, const char* serial) {
    return read_linux_machine([=](const char* path) -> std::string {
      if (path == std::string("/var/lib/dbus/machine-id")) return dbus;
      return path == std::string("/sys/class/dmi/id/board_serial") ? serial : "uninitialized\n";
    });
  };
  const auto* id = "0f3c9a7d5b1e4f2688c4d0a1b2e3f405\n";
  CHECK_EQUAL(read(id, "CN7016355A\n").dump(), R"({"board_serial":"CN7016355A","machine_id":"0f3c9a7d5b1e4f2688c4d0a1b2e3f405"})");
  CHECK_EQUAL(read(id, "Default string\n").dump(), R"({"machine_id":"0f3c9a7d5b1e4f2688c4d0a1b2e3f405"})");
  CHECK(read("", "CN7016355A\n").is_null());
  for (const auto* placeholder : {"", "  \n", "0", "000", "xxx", "-", " . ", "None", "N/A", "To Be Filled By O.E.M."}) {
    CHECK_EQUAL(read_board_serial(placeholder), std::nullopt);
  }
}

TEST(last_reading, "the last good reading is kept, and a random one stays while it is used") {
  CHECK_EQUAL(choose(nullptr, false, {}), "generated-uuid");
  CHECK_EQUAL(choose(nullptr, false, machine("new")), "new");
  CHECK_EQUAL(choose("old", true, {}), "old");
  CHECK_EQUAL(choose("old", true, machine("new")), "new");
  CHECK_EQUAL(choose("generated-1", true, machine("new")), "generated-1");
  CHECK_EQUAL(choose("generated-1", false, machine("new")), "new");
}

TEST(programs, "a program runs without a shell, and ends after its time") {
  const std::chrono::seconds long_time(60);
  CHECK_EQUAL(run_program({"/bin/echo", "$HOME; echo"}, long_time), "$HOME; echo\n");
  CHECK_EQUAL(run_program({"/bin/false"}, long_time), "");
  CHECK_EQUAL(run_program({"/no/such/program"}, long_time), "");
  CHECK_EQUAL(run_program({}, long_time), "");
  CHECK_EQUAL(run_program({"/bin/sleep", "1000"}, std::chrono::milliseconds(50)), "");
}

TEST(this_system, "the identity of this system is kept, and read again") {
  const Folder folder;
  const auto use_system = [](Options& options) { options.machine.clear(); };
  const World first(folder, use_system);
  const auto kept = folder.read("license.json");
  const World second(folder, use_system);
  CHECK_EQUAL(second.client->machines().failure->code, "not_activated");
  CHECK_EQUAL(folder.read("license.json"), kept);
}
