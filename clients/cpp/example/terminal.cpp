// A program with a license: `terminal help` lists what it does.
#include <cstdlib>
#include <iostream>
#include <latchkey/latchkey.hpp>

namespace {

std::string variable(const char* name, const std::string& otherwise) {
  const auto* value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

latchkey::Options read_options() {
  latchkey::Options options;
  options.service = variable("LICENSE_SERVICE", "http://127.0.0.1:8080");
  options.issuer = variable("LICENSE_ISSUER", options.service);
  options.products = {"personal", "sellers"};
  options.public_keys = {};  // compile in read_public_keys(...) of /.well-known/jwks.json of your service
  options.folder = variable("LICENSE_FOLDER", variable("HOME", ".") + "/.example-program");
  options.app_version = "1.0.0";
  options.on_problem = [](const auto& problem) { std::cerr << problem.code << ": " << problem.message << "\n"; };
  return options;
}

void describe(const latchkey::State& state) {
  const auto days = state.days_left.value_or(0);
  if (state.kind == latchkey::Kind::licensed) {
    std::cout << "Licensed: " << state.tier.value_or("") << ". Runs without a network for " << days << " days.\n";
  } else if (state.kind == latchkey::Kind::trial) {
    std::cout << "Trial: " << days << " days left.\n";
  } else if (state.reason == "not_activated") {
    std::cout << "No license yet: activate KEY, or trial.\n";
  } else {
    std::cout << "May not run: " << state.reason.value_or("") << ".\n";
  }
}

void report(const latchkey::Latchkey& license, const std::optional<latchkey::Failure>& failure) {
  if (!failure) {
    describe(license.state());
  } else if (failure->cause) {
    std::cout << "No answer of the service: " << to_string(*failure->cause) << ".\n";
  } else {
    std::cout << "Refused: " << failure->code << ".\n";
  }
}

void list_machines(latchkey::Latchkey& license) {
  const auto machines = license.machines();
  if (!machines) return report(license, machines.failure);
  for (const auto& machine : machines.value) {
    std::cout << machine.activation_id << "  " << (machine.is_active ? "active" : "free") << (machine.is_this ? "  (this one)" : "") << "\n";
  }
}

void run(latchkey::Latchkey& license, const std::string& command, const std::string& argument) {
  if (command == "state") return describe(license.state());
  if (command == "activate") return report(license, license.activate(argument).failure);
  if (command == "trial") return report(license, license.start_trial().failure);
  if (command == "check") return report(license, license.check().failure);
  if (command == "machines") return list_machines(license);
  if (command == "move") return report(license, license.move_here(argument).failure);
  if (command == "deactivate") return report(license, license.deactivate().failure);
  if (command == "explain") {
    std::cout << license.explain();
    return;
  }
  std::cout << "Commands: state, activate KEY, trial, check, machines, move ID, deactivate, explain, help\n";
}

}  // namespace

int main(int count, char** arguments) {
  try {
    latchkey::Latchkey license(read_options());
    run(license, count > 1 ? arguments[1] : "state", count > 2 ? arguments[2] : "");
  } catch (const std::invalid_argument& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
