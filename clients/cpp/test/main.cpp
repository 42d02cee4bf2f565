// Runs all tests, or those whose name contains the argument.
#include <cstring>

#include "support.hpp"

int main(int count, char** arguments) {
  int failed = 0;
  int passed = 0;
  for (const auto& [name, run] : test::all_tests()) {
    if (count > 1 && std::strstr(name, arguments[1]) == nullptr) continue;
    try {
      run();
      ++passed;
    } catch (const std::exception& error) {
      ++failed;
      std::cout << "failed: " << name << "\n  " << error.what() << std::endl;
    }
  }
  std::cout << passed << " passed, " << failed << " failed" << std::endl;
  return failed == 0 && passed > 0 ? 0 : 1;
}
