// A small test runner, a service whose answers a test decides, and a client that asks it.
#pragma once

#include <atomic>
#include <functional>
#include <iostream>
#include <mutex>
#include <sstream>
#include <stdexcept>

#include "kept.hpp"
#include "rules.hpp"

namespace test {

struct Test {
  const char* name;
  void (*run)();
};

std::vector<Test>& all_tests();

struct Registration {
  Registration(const char* name, void (*run)()) { all_tests().push_back({name, run}); }
};

template <typename Value>
std::string show(const Value& value) {
  std::ostringstream stream;
  stream << value;
  return stream.str();
}
template <typename Value>
std::string show(const std::optional<Value>& value) {
  return value ? show(*value) : "nothing";
}

[[noreturn]] void fail(const char* file, int line, const std::string& what);

#define TEST(function, name)                                       \
  static void function();                                          \
  static const test::Registration function##_registration(name, function); \
  static void function()

#define CHECK(condition) \
  if (!(condition)) test::fail(__FILE__, __LINE__, #condition)

#define CHECK_EQUAL(actual, expected)                                                                     \
  do {                                                                                                    \
    const auto actual_value = (actual);                                                                   \
    const decltype(actual_value) expected_value = expected;                                               \
    if (!(actual_value == expected_value))                                                                \
      test::fail(__FILE__, __LINE__, #actual " is " + test::show(actual_value) + " instead of " + test::show(expected_value)); \
  } while (false)

using namespace latchkey;

extern const std::string key;
extern const std::string machine_id;
extern const std::string activation_id;
/// 2027-01-15T08:00:00Z
constexpr std::int64_t now_ms = 1'800'000'000'000;
constexpr std::int64_t day_ms = 86'400'000;

/// A folder that is removed at the end.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path path;
  std::string read(const std::string& name) const;
  void write(const std::string& name, const std::string& content) const;
  /// Moves a file away, and puts a link to itself in its place, which nobody can read, but which a rename would replace.
  void make_unreadable(const std::string& name) const;
  /// Brings a file back that make_unreadable moved away.
  void restore(const std::string& name) const;
};

std::string read_all(const std::filesystem::path& path);

/// Answers as a test wants, and remembers what was asked.
class Service {
 public:
  using Script = std::function<Response(const Request&)>;
  void answer(Script script);
  Response send(const Request& request);
  /// Returns addresses and bodies.
  std::vector<Request> take_requests();

 private:
  std::mutex mutex_;
  Script script_;
  std::vector<Request> requests_;
};

/// An open client, and what surrounds it.
struct World {
  explicit World(const Folder& folder, const std::function<void(Options&)>& change = {});
  std::vector<std::string> take_problems();

  std::shared_ptr<Service> service = std::make_shared<Service>();
  std::atomic<std::int64_t> clock_ms{now_ms};
  std::mutex mutex;
  std::vector<std::string> problems;
  std::unique_ptr<Latchkey> client;
};

Options options(const Folder& folder);
/// Activates a license.
void activate(World& world);

/// Signs an entitlement of 14 days with changed claims. @param seed of the signing key; 7 is that of the service
std::string sign(const Json::Object& changes = {}, char seed = 7);
Response reply(int status, const Json& body);
Response problem(int status, const std::string& code);
Response page(int status);
Response no_response(Cause cause);
Response activated();
Response validated();

}  // namespace test
