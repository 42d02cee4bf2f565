#include "schedule.hpp"

#include <algorithm>
#include <cstdlib>

namespace latchkey {
namespace {

constexpr std::int64_t minute_ms = 60'000;
/// A longer time between two ticks means that the computer slept, or that its clock was set, forward or back.
constexpr std::int64_t wake_ms = 5 * minute_ms;

/// Returns how long to wait after a number of requests without an answer: a day without one. The wait differs by up to a tenth, so
/// that the machines of a company do not ask at the same time.
std::int64_t wait_ms(int failures, std::chrono::seconds retry_after, double random) {
  static constexpr int minutes[] = {24 * 60, 1, 5, 15, 60};
  const auto wait = std::max<std::int64_t>(minutes[std::min(failures, 4)] * minute_ms, retry_after.count() * 1000);
  return static_cast<std::int64_t>(static_cast<double>(wait) * (0.9 + 0.2 * random));
}

}  // namespace

std::optional<Trigger> Schedule::tick(std::int64_t now_ms, const std::string& network) {
  const auto passed_ms = now_ms - last_tick_ms_;
  last_tick_ms_ = now_ms;
  // A clock that was set back counts as a tick.
  check_in_ms_ -= std::max(passed_ms, minute_ms);
  const bool has_moved = network != network_;
  network_ = network;
  if (std::abs(passed_ms) > wake_ms) return Trigger::wake;
  if (failures_ > 0 && has_moved) return Trigger::reconnect;
  return check_in_ms_ <= 0 ? std::optional(Trigger::scheduled) : std::nullopt;
}

std::optional<Trigger> Schedule::focus(std::int64_t now_ms) {
  if (focused_at_ms_ && std::abs(now_ms - *focused_at_ms_) < minute_ms) return std::nullopt;
  focused_at_ms_ = now_ms;
  return Trigger::foreground;
}

void Schedule::after_check(const Result<>& result, bool is_unread, double random) {
  const bool is_answered = !result.failure || !result.failure->cause;
  failures_ = is_answered && !is_unread ? 0 : failures_ + 1;
  check_in_ms_ = wait_ms(failures_, is_answered ? std::chrono::seconds(0) : result.failure->retry_after, random);
}

void Schedule::unanswered(std::chrono::seconds retry_after, double random) {
  failures_ = std::max(1, failures_);
  check_in_ms_ = std::min(check_in_ms_, wait_ms(failures_, retry_after, random));
}

}  // namespace latchkey
