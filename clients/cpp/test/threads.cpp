// Several threads, and functions of the program that throw.
#include <condition_variable>
#include <future>
#include <thread>

#include "support.hpp"

using namespace test;

TEST(serialized, "calls run one after the other") {
  const Folder folder;
  World world(folder);
  activate(world);
  std::atomic<int> running{0};
  std::atomic<int> most{0};
  world.service->answer([&](const Request&) {
    most = std::max(most.load(), ++running);
    std::this_thread::yield();
    --running;
    return validated();
  });
  std::atomic<int> worked{0};
  std::vector<std::thread> threads;
  for (int count = 0; count < 8; ++count) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) worked += world.client->check() && world.client->state().may_run ? 1 : 0;
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK_EQUAL(worked.load(), 160);
  CHECK_EQUAL(most.load(), 1);
}

TEST(readable, "the state is read while a call waits for the service") {
  const Folder folder;
  World world(folder);
  std::promise<void> asked;
  std::promise<void> may_answer;
  world.service->answer([&](const Request&) {
    asked.set_value();
    may_answer.get_future().wait();
    return activated();
  });
  auto call = std::async(std::launch::async, [&] { return world.client->activate(key); });
  asked.get_future().wait();
  CHECK(world.client->state().kind == Kind::none);
  may_answer.set_value();
  CHECK(call.get());
  CHECK(world.client->state().kind == Kind::licensed);
}

TEST(exceptions, "an exception of a transport ends its call only") {
  const Folder folder;
  World world(folder);
  activate(world);
  world.service->answer([](const Request&) -> Response { throw std::runtime_error("a transport of a test"); });
  CHECK_EQUAL(world.client->check().failure->code, "unexpected");
  world.service->answer([](const Request&) -> Response { throw 1; });
  CHECK_EQUAL(world.client->check().failure->code, "unexpected");
  world.service->answer([](const Request&) { return validated(); });
  CHECK(world.client->check());
}

TEST(functions, "exceptions of the functions of the program end nothing") {
  const Folder folder;
  folder.write("license.json", "damaged");
  World world(folder, [](Options& options) {
    options.on_problem = [](const Problem&) { throw std::runtime_error("a function of a test"); };
  });
  world.client->on_change([](const State&) { throw std::runtime_error("a listener of a test"); });
  activate(world);
  CHECK(world.client->explain().find("problem: listener: a listener threw an exception\n") != std::string::npos);
}

TEST(nested, "a listener may call the client") {
  const Folder folder;
  World world(folder);
  int failed = 0;
  world.client->on_change([&](const State&) { failed += world.client->machines() ? 0 : 1; });
  activate(world);
  CHECK_EQUAL(failed, 1);
}

TEST(background_trial, "a trial that was not answered is started in the background") {
  const Folder folder;
  World world(folder);
  CHECK(!world.client->start_trial());
  std::promise<Kind> changed;
  world.client->on_change([&](const State& state) { changed.set_value(state.kind); });
  world.service->answer([](const Request&) { return activated(); });
  world.client->keep_checking();
  world.client->keep_checking();
  auto kind = changed.get_future();
  CHECK(kind.wait_for(std::chrono::seconds(60)) == std::future_status::ready);
  CHECK(kind.get() == Kind::licensed);
  world.client->close();
  CHECK_EQUAL(world.service->take_requests().size(), 2u);
}

TEST(background_front, "the background checks at the front, and close ends a request that runs") {
  const Folder folder;
  World world(folder);
  activate(world);
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> bodies;
  world.service->answer([&](const Request& request) {
    const std::lock_guard lock(mutex);
    bodies.push_back(request.body.value_or(""));
    changed.notify_all();
    return no_response(Cause::dns);
  });
  const auto wait_for = [&](std::size_t count) {
    std::unique_lock lock(mutex);
    CHECK(changed.wait_for(lock, std::chrono::seconds(60), [&] { return bodies.size() >= count; }));
    return bodies.at(count - 1);
  };
  world.client->notice_focus();
  world.client->keep_checking();
  CHECK(wait_for(1).find("startup") != std::string::npos);
  world.client->notice_focus();
  CHECK(wait_for(2).find("foreground") != std::string::npos);
  std::promise<void> asked;
  world.service->answer([&](const Request& request) {
    asked.set_value();
    while (!request.is_cancelled()) std::this_thread::yield();
    return no_response(Cause::connection);
  });
  auto call = std::async(std::launch::async, [&] { return world.client->check(); });
  asked.get_future().wait();
  world.client->close();
  CHECK_EQUAL(call.get().failure->code, "no_answer");
}
