// When the client checks in the background.
#include "schedule.hpp"

#include "support.hpp"

using namespace test;

namespace {

constexpr std::int64_t minute = 60'000;

Result<> unanswered(int seconds = 0) {
  Failure failure;
  failure.code = "no_answer";
  failure.cause = Cause::dns;
  failure.retry_after = std::chrono::seconds(seconds);
  return failure;
}

Schedule start(const Result<>& result) {
  Schedule schedule(0, "home");
  schedule.after_check(result, false, 0.5);
  return schedule;
}

/// Passes minutes, and returns those with a scheduled check.
std::string pass(Schedule schedule, int minutes, const Result<>& result) {
  std::string checked;
  for (int at = 1; at <= minutes; ++at) {
    const auto trigger = schedule.tick(at * minute, "home");
    if (!trigger) continue;
    CHECK(*trigger == Trigger::scheduled);
    checked += std::to_string(at) + " ";
    schedule.after_check(result, false, 0.5);
  }
  return checked;
}

}  // namespace

TEST(daily, "checks daily, and sooner without an answer") {
  CHECK_EQUAL(pass(start({}), 2 * 24 * 60, {}), "1440 2880 ");
  CHECK_EQUAL(pass(start(unanswered()), 150, unanswered()), "1 6 21 81 141 ");
  CHECK_EQUAL(pass(start(unanswered(1800)), 60, {}), "30 ");
}

TEST(unread, "checks as soon as after no answer while the file cannot be read") {
  Schedule schedule(0, "home");
  schedule.after_check({}, true, 0.5);
  CHECK(schedule.tick(minute, "home") == Trigger::scheduled);
  schedule.after_check({}, true, 0.5);
  for (int at = 2; at <= 5; ++at) CHECK(!schedule.tick(at * minute, "home"));
  CHECK(schedule.tick(6 * minute, "home") == Trigger::scheduled);
  schedule.after_check({}, false, 0.5);
  for (int at = 7; at < 6 + 24 * 60; ++at) CHECK(!schedule.tick(at * minute, "home"));
}

TEST(woken, "checks after sleep, and when the clock is set back") {
  auto schedule = start({});
  CHECK(!schedule.tick(minute, "home"));
  CHECK(schedule.tick(10 * minute, "home") == Trigger::wake);
  schedule.after_check({}, false, 0.5);
  CHECK(!schedule.tick(9 * minute, "home"));
  CHECK(schedule.tick(minute, "home") == Trigger::wake);
}

TEST(moved, "checks in another network if the last request was not answered") {
  auto answered = start({});
  CHECK(!answered.tick(minute, "train"));
  auto waiting = start(unanswered(3600));
  CHECK(waiting.tick(minute, "train") == Trigger::reconnect);
}

TEST(front, "checks at the front, once a minute at most") {
  auto schedule = start({});
  CHECK(schedule.focus(0) == Trigger::foreground);
  CHECK(!schedule.focus(minute - 1));
  CHECK(schedule.focus(minute) == Trigger::foreground);
}

TEST(forward, "a call of the program without an answer brings the next check forward") {
  auto schedule = start({});
  schedule.unanswered(std::chrono::seconds(0), 0.5);
  CHECK_EQUAL(pass(schedule, 60, {}), "1 ");
}
