// The kept file.
#include <sys/stat.h>

#include "support.hpp"
#include "system.hpp"

using namespace test;

namespace {

const std::string name = "license.json";

/// Keeps an activated license that cannot be read.
void keep_unreadable(const Folder& folder) {
  World world(folder);
  activate(world);
  world.client.reset();
  folder.make_unreadable(name);
}

Json kept(const Folder& folder) { return Json::parse(folder.read(name)).value(); }

}  // namespace

TEST(damaged, "a damaged file is renamed and reported") {
  for (const auto& damaged : {std::string("{\"version\":1"), std::string(), std::string(64, '\0'), std::string("[]"), std::string("\xFF")}) {
    const Folder folder;
    folder.write("license.json", damaged);
    World world(folder);
    CHECK(world.take_problems() == std::vector<std::string>{"file_damaged"});
    CHECK_EQUAL(folder.read("license.json.damaged"), damaged);
  }
}

TEST(unwritable, "without a folder everything works until the end") {
  const Folder folder;
  folder.write("file", "no folder");
  World world(folder, [&](Options& options) { options.folder = folder.path / "file" / "client"; });
  activate(world);
  CHECK(world.client->state().may_run);
  const auto problems = world.take_problems();
  CHECK(!problems.empty() && problems.back() == "folder_unwritable");
}

TEST(owner, "only the owner reads the file, and no temporary one stays") {
  const Folder folder;
  World world(folder);
  activate(world);
  struct stat status {};
  CHECK(::stat((folder.path / "license.json").c_str(), &status) == 0);
  CHECK_EQUAL(status.st_mode & 0777, 0600u);
  const auto files = std::filesystem::directory_iterator(folder.path);
  CHECK_EQUAL(std::distance(begin(files), end(files)), 1);
}

TEST(unknown_fields, "fields of another version survive") {
  const Folder folder;
  folder.write("license.json", R"({"version":1,"theme":{"name":"dark"},"seats":[1,2.5]})");
  World world(folder);
  activate(world);
  const auto kept = Json::parse(folder.read("license.json")).value();
  CHECK_EQUAL(kept["theme"].dump() + kept["seats"].dump(), R"({"name":"dark"}[1,2.5])");
}

TEST(unreadable, "a file that cannot be read is not written over") {
  const Folder folder;
  keep_unreadable(folder);
  World world(folder);
  CHECK((world.take_problems() == std::vector<std::string>{"folder_unreadable", "folder_unwritable"}));
  activate(world);
  CHECK(world.client->state().kind == Kind::licensed);
  CHECK(std::filesystem::is_symlink(folder.path / name));
}

TEST(read_before_call, "the file is read again before the next call") {
  const Folder folder;
  keep_unreadable(folder);
  World world(folder);
  folder.restore(name);
  world.service->answer([](const Request&) { return validated(); });
  CHECK(world.client->check());
  CHECK(world.client->state().kind == Kind::licensed);
  CHECK_EQUAL(kept(folder)["key"].text(), key);
}

TEST(read_before_write, "the file is read again before the next write") {
  const Folder folder;
  keep_unreadable(folder);
  World world(folder);
  world.service->answer([&](const Request&) {
    folder.restore(name);  // During the call, which was to start a trial.
    return no_response(Cause::timeout);
  });
  CHECK_EQUAL(world.client->start_trial().failure->code, "no_answer");
  CHECK(world.client->state().kind == Kind::licensed);
  CHECK_EQUAL(kept(folder)["key"].text(), key);
  CHECK(kept(folder)["trial_wanted"].is_false());
}

TEST(busy_file, "a file that is busy for a moment is read") {
  const Folder folder;
  keep_unreadable(folder);
  int pauses = 0;
  const auto reading = read_file_with_retries(folder.path / name, [&](std::chrono::milliseconds) {
    if (++pauses == 2) folder.restore(name);
  });
  CHECK(!reading.error && reading.content);
  CHECK_EQUAL(pauses, 2);
}

TEST(directory, "a directory with the name of the file is reported") {
  const Folder folder;
  std::filesystem::create_directory(folder.path / name);
  CHECK(read_file(folder.path / name).error == std::errc::is_a_directory);
}

TEST(trial_of_the_run, "a trial of the run does not replace a license") {
  const Folder folder;
  keep_unreadable(folder);
  const auto before = read_all(folder.path / "elsewhere");
  World world(folder);
  world.service->answer([](const Request&) {
    return reply(200, Json::Object{{"license_key", "LK-TRIAL"}, {"activation_id", "trial"}, {"entitlement", sign({{"trial", true}})}});
  });
  CHECK(world.client->start_trial());
  CHECK(world.client->state().kind == Kind::trial);
  folder.restore(name);
  world.service->answer([](const Request&) { return no_response(Cause::connection); });
  CHECK_EQUAL(world.client->check().failure->code, "no_answer");
  CHECK(world.client->state().kind == Kind::licensed);
  CHECK_EQUAL(folder.read(name), before);
}

TEST(license_of_the_run, "an activated license replaces that of the file, and is written") {
  const Folder folder;
  keep_unreadable(folder);
  World world(folder);
  world.service->answer([](const Request&) {
    return reply(200, Json::Object{{"activation_id", "another"}, {"entitlement", sign({{"tier", "sellers"}})}});
  });
  CHECK(world.client->activate(key));
  folder.restore(name);
  world.service->answer([](const Request&) { return no_response(Cause::connection); });
  CHECK_EQUAL(world.client->check().failure->code, "no_answer");
  CHECK_EQUAL(World(folder).client->state().tier, "sellers");
}

TEST(unread_calls, "calls report that the license cannot be read") {
  const Folder folder;
  keep_unreadable(folder);
  World world(folder);
  CHECK_EQUAL(world.client->check().failure->code, "folder_unreadable");
  CHECK_EQUAL(world.client->machines().failure->code, "folder_unreadable");
  CHECK_EQUAL(world.client->move_here("any").failure->code, "folder_unreadable");
  CHECK_EQUAL(world.client->deactivate().failure->code, "folder_unreadable");
  CHECK(world.service->take_requests().empty());
}
