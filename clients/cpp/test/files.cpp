// The kept file.
#include <sys/stat.h>

#include "support.hpp"

using namespace test;

TEST(damaged, "a damaged file is put aside and reported") {
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
