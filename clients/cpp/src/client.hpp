// The calls of the client: what they ask, and what an answer changes.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

#include "rules.hpp"

namespace latchkey {

class Latchkey::Client {
 public:
  explicit Client(Options options);

  State state() const;
  std::string explain() const;
  void add_listener(std::function<void(const State&)> listener);

  /// Runs a call of the program. Without an answer, the next check in the background is soon.
  template <typename Value = Nothing>
  Result<Value> call(const std::function<Result<Value>()>& work) {
    auto result = run(work);
    if (result.failure && result.failure->cause) signal(result.failure->retry_after);
    return result;
  }

  Result<> activate(std::string_view typed);
  Result<> start_trial();
  Result<> check(Trigger trigger);
  Result<std::vector<Machine>> list_machines();
  Result<> move_here(std::string_view activation_id);
  Result<> deactivate();
  Result<> activate_purchase(std::string_view transaction_id);
  Result<std::string> offline_request(std::string_view product, const std::optional<std::string>& name);
  Result<> accept_offline(std::string_view pasted);

  void keep_checking();
  /// Wakes the thread in the background: a call was not answered, or the program came to the front (nothing).
  void signal(std::optional<std::chrono::seconds> unanswered);
  /// Waits for a time, or until close(). @returns whether the client is closed
  bool wait_for_close(std::chrono::milliseconds time);
  void close();

 private:
  /// What is known while the client is open; locked for moments only.
  struct Memory {
    /// The content of `license.json`, with fields of other versions.
    Json kept = Json::Object{};
    /// Those of the kept entitlement if it is genuine.
    std::optional<Claims> claims;
    bool is_answered = false;
    /// The last request that was not answered, for support.
    std::optional<std::string> last_failure;
    /// The key that was last refused because no machine is free.
    std::optional<std::string> refused_key;
    std::optional<State> shown;
    std::deque<Problem> problems;
    std::vector<std::function<void(const State&)>> listeners;
  };

  /// What a positive answer changes, or why it is none.
  struct Grant;
  struct ListedMachine;
  using Edit = std::function<void(Json& kept)>;

  /// Runs a call after all others, and shows what it changed. No exception, such as one of a transport, reaches the program.
  template <typename Value>
  Result<Value> run(const std::function<Result<Value>()>& work) {
    Result<Value> result;
    {
      const std::lock_guard running(calls_);
      try {
        if (must_read_file_ && !read_again()) write();
        if (must_read_machine_.exchange(false)) adopt_machine();
        result = work();
      } catch (const std::exception& error) {
        result = unexpected(error.what());
      } catch (...) {
        result = unexpected("an exception");
      }
    }
    notify();
    return result;
  }

  Failure unexpected(const std::string& what);
  void watch();
  /// Calls the listeners if the state changed, also by time.
  void notify();
  std::int64_t now_ms() const;
  Json kept() const;
  void report(std::string code, std::string message);
  void load();
  /// Returns the content of a file: nothing without one, and after a damaged one, which is renamed.
  Json parse(const std::optional<std::string>& content);
  /// Reads a file that could not be read before, and adds what this run changed since.
  std::error_code read_again();
  void adopt_machine();
  /// Changes what is kept, and writes it; but never over a file that could not be read.
  void change(const Edit& edit);
  /// Whether there is a license that is no trial.
  bool has_license() const;
  void write();
  void adopt(Json kept);
  TokenReading read_entitlement(std::string_view token, const Json& kept) const;
  std::filesystem::path file() const { return options_.folder / "license.json"; }

  Answer ask(const std::string& path, const std::optional<Json>& body = {});
  /// Returns an answer with 200, or the failure of the call.
  Result<Reply> ask_for_success(const std::string& path, const std::optional<Json>& body = {});
  void note_answer(std::optional<std::string> failure = {});
  Failure report_no_answer(const NoResponse& response);
  /// Refuses a call that needs a license: there is none, or it could not be read.
  Failure refuse_unactivated() const;
  Failure report_refusal(const Reply& reply);

  Json identity() const;
  Json fingerprint(const Json& kept) const;
  Result<> accept_activation(const Reply& reply, std::optional<std::string> key);
  Grant read_grant(const Reply& reply, const std::string& token);
  Json fetch_keys();
  Result<> accept_refusal(const Reply& reply, const std::string& reason);
  Result<> release();
  Result<std::string> choose_key() const;
  Result<std::vector<ListedMachine>> ask_for_machines(const std::string& key);

  Options options_;
  std::mutex calls_;
  mutable std::mutex memory_mutex_;
  Memory memory_;
  /// The kept identity of the machine is used; the next call reads it again.
  std::atomic<bool> must_read_machine_{false};
  /// The file exists, but could not be read; the next call or change reads it again.
  std::atomic<bool> must_read_file_{false};
  /// The run activated a license, apart from a trial, or removed it again, before the file could be read.
  std::atomic<bool> has_own_license_{false};

  std::mutex background_mutex_;
  std::condition_variable background_changed_;
  std::deque<std::optional<std::chrono::seconds>> signals_;
  std::thread background_;
  std::atomic<std::thread::id> background_id_{};
  std::atomic<bool> is_closed_{false};
};

Failure refuse(std::string code);

}  // namespace latchkey
