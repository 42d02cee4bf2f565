// When a client checks in the background.
#pragma once

#include "latchkey/latchkey.hpp"

namespace latchkey {

/// Decides when to check; its times are milliseconds of the clock of the device.
class Schedule {
 public:
  Schedule(std::int64_t now_ms, std::string network) : last_tick_ms_(now_ms), network_(std::move(network)) {}

  /// Returns why to check now, a minute or more after the last call.
  std::optional<Trigger> tick(std::int64_t now_ms, const std::string& network);
  /// Returns why to check when the program came to the front: at most once a minute.
  std::optional<Trigger> focus(std::int64_t now_ms);
  /// Plans the next check: as soon as after no answer while the kept file cannot be read. @param random from 0 to 1
  void after_check(const Result<>& result, bool is_unread, double random);
  /// Brings the next check forward after a call of the program without an answer, so that a trial does not wait for a day.
  void unanswered(std::chrono::seconds retry_after, double random);

 private:
  std::int64_t last_tick_ms_;
  std::string network_;
  std::int64_t check_in_ms_ = 0;
  /// How many requests in a row were not answered.
  int failures_ = 0;
  std::optional<std::int64_t> focused_at_ms_;
};

}  // namespace latchkey
