#include "system.hpp"

#include <openssl/rand.h>

#include <atomic>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <thread>

#ifdef _WIN32
#include <windows.h>
#else
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>
extern char** environ;
#endif

namespace latchkey {
namespace {

std::error_code last_error() { return {errno, std::generic_category()}; }

std::string read_text(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Json name_machine(const std::optional<std::string>& id) { return id ? Json(Json::Object{{"machine_id", *id}}) : Json(); }

/// The name of a file beside another one, which no other process or thread uses.
std::filesystem::path temporary_name(const std::filesystem::path& path) {
  static std::atomic<unsigned> written{0};
#ifdef _WIN32
  const auto process = GetCurrentProcessId();
#else
  const auto process = getpid();
#endif
  auto name = path;
  name += "." + std::to_string(process) + "." + std::to_string(written++) + ".tmp";
  return name;
}

/// More than one, because a virus scanner or a backup may hold a file for a moment.
constexpr int file_attempts = 5;

std::chrono::milliseconds pause_after(int attempt) { return std::chrono::milliseconds(20 * attempt); }

#ifdef _WIN32

std::error_code write_file(const std::filesystem::path& path, const std::string& content) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << content << std::flush;
  return file ? std::error_code() : std::make_error_code(std::errc::io_error);
}

#else

/// A file descriptor that is closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }

 private:
  int number_;
};

std::error_code write_file(const std::filesystem::path& path, const std::string& content) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (file.get() < 0) return last_error();
  for (std::size_t written = 0; written < content.size();) {
    const auto count = ::write(file.get(), content.data() + written, content.size() - written);
    if (count < 0 && errno != EINTR) return last_error();
    if (count > 0) written += static_cast<std::size_t>(count);
  }
  return ::fsync(file.get()) == 0 ? std::error_code() : last_error();
}

/// Reads until the end, or until the time is over.
std::optional<std::string> read_until_end(int descriptor, std::chrono::steady_clock::time_point deadline) {
  std::string output;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd waiting{descriptor, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&waiting, 1, static_cast<int>(left.count())) == 0) return std::nullopt;
    char buffer[4096];
    const auto count = ::read(descriptor, buffer, sizeof buffer);
    if (count == 0) return output;
    if (count < 0 && errno != EINTR) return std::nullopt;
    if (count > 0) output.append(buffer, static_cast<std::size_t>(count));
  }
}

#endif

}  // namespace

std::string host_of(const std::string& service) {
  const auto start = service.rfind("https://", 0) == 0 ? 8 : service.rfind("http://", 0) == 0 ? 7 : 0;
  if (start == 0) return {};
  auto authority = service.substr(static_cast<std::size_t>(start));
  authority = authority.substr(0, authority.find_first_of("/?#"));
  if (const auto at = authority.rfind('@'); at != std::string::npos) authority = authority.substr(at + 1);
  if (!authority.empty() && authority[0] == '[') return authority.substr(1, authority.find(']') - 1);
  return authority.substr(0, authority.find(':'));
}

bool is_trustworthy(const std::string& service) {
  const auto host = host_of(service);
  const bool is_address = host.find_first_not_of("0123456789.") == std::string::npos;
  const bool is_loopback = host == "localhost" || host == "::1" || (is_address && host.rfind("127.", 0) == 0);
  return service.rfind("https://", 0) == 0 || is_loopback;
}

std::int64_t system_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

std::string random_bytes() {
  std::string bytes(16, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), 16) != 1) throw std::runtime_error("no random numbers");
  return bytes;
}

std::string random_uuid() {
  static constexpr char digits[] = "0123456789abcdef";
  auto bytes = random_bytes();
  bytes[6] = static_cast<char>((bytes[6] & 0x0F) | 0x40);
  bytes[8] = static_cast<char>((bytes[8] & 0x3F) | 0x80);
  std::string uuid;
  for (std::size_t index = 0; index < bytes.size(); ++index) {
    if (index == 4 || index == 6 || index == 8 || index == 10) uuid += '-';
    const auto byte = static_cast<unsigned char>(bytes[index]);
    uuid += {digits[byte >> 4], digits[byte & 15]};
  }
  return uuid;
}

std::string describe_platform() {
#if defined(_WIN32)
  return "Windows";
#elif defined(__APPLE__)
  return "macOS";
#else
  return "Linux";
#endif
}

#ifdef _WIN32

std::optional<std::string> system_version() { return std::nullopt; }

// A change is then found by the next scheduled check.
std::string describe_network() { return {}; }

Json read_machine() {
  char guid[64] = "";
  DWORD size = sizeof guid;
  // A 32-bit program would read another part of the registry.
  const auto status = RegGetValueA(HKEY_LOCAL_MACHINE, "SOFTWARE\\Microsoft\\Cryptography", "MachineGuid",
                                   RRF_RT_REG_SZ | RRF_SUBKEY_WOW6464KEY, nullptr, guid, &size);
  return status == ERROR_SUCCESS && guid[0] != '\0' ? name_machine(guid) : Json();
}

std::string run_program(const std::vector<std::string>&, std::chrono::milliseconds) { return {}; }

#else

std::optional<std::string> system_version() {
  utsname name{};
  return ::uname(&name) == 0 ? std::optional<std::string>(name.release) : std::nullopt;
}

std::string describe_network() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return {};
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> list(first, ::freeifaddrs);
  std::string description;
  for (const auto* each = list.get(); each != nullptr; each = each->ifa_next) {
    const auto* address = each->ifa_addr;
    if (address == nullptr || (each->ifa_flags & IFF_LOOPBACK) != 0) continue;
    if (address->sa_family != AF_INET && address->sa_family != AF_INET6) continue;
    const auto size = address->sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    char host[NI_MAXHOST];
    const auto failed = ::getnameinfo(address, static_cast<socklen_t>(size), host, sizeof host, nullptr, 0, NI_NUMERICHOST);
    if (failed == 0) description += std::string(host) + " ";
  }
  return description;
}

Json read_machine() {
#ifdef __APPLE__
  const std::vector<std::string> command = {"/usr/sbin/ioreg", "-rd1", "-c", "IOPlatformExpertDevice"};
  return name_machine(read_ioreg_output(run_program(command, std::chrono::seconds(5))));
#else
  return read_linux_machine(read_text);
#endif
}

std::string run_program(const std::vector<std::string>& command, std::chrono::milliseconds timeout) {
  int ends[2];
  if (command.empty() || ::pipe(ends) != 0) return {};
  const Descriptor reading(ends[0]);
  auto writing = std::make_unique<Descriptor>(ends[1]);
  for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);
  std::vector<char*> arguments;
  for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  writing.reset();
  if (failed != 0) return {};
  const auto output = read_until_end(reading.get(), std::chrono::steady_clock::now() + timeout);
  if (!output) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return output && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? *output : std::string();
}

#endif

Json read_linux_machine(const std::function<std::string(const char*)>& read) {
  auto id = read_machine_id_file(read("/etc/machine-id"));
  if (!id) id = read_machine_id_file(read("/var/lib/dbus/machine-id"));
  auto machine = name_machine(id);
  const auto serial = read_board_serial(read("/sys/class/dmi/id/board_serial"));
  if (id && serial) machine.set("board_serial", *serial);
  return machine;
}

#ifdef _WIN32

FileReading read_file(const std::filesystem::path& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open() && errno == ENOENT) return {};
  std::string content{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad()) return {errno == 0 ? std::make_error_code(std::errc::io_error) : last_error(), {}};
  return {{}, std::move(content)};
}

#else

FileReading read_file(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return errno == ENOENT ? FileReading{} : FileReading{last_error(), {}};
  std::string content;
  for (;;) {
    char buffer[4096];
    const auto count = ::read(file.get(), buffer, sizeof buffer);
    if (count == 0) return {{}, std::move(content)};
    if (count < 0 && errno != EINTR) return {last_error(), {}};
    if (count > 0) content.append(buffer, static_cast<std::size_t>(count));
  }
}

#endif

void sleep_for(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }

FileReading read_file_with_retries(const std::filesystem::path& path, const Pause& pause) {
  auto reading = read_file(path);
  for (int attempt = 1; reading.error && attempt < file_attempts; ++attempt) {
    pause(pause_after(attempt));
    reading = read_file(path);
  }
  return reading;
}

namespace {

/// More than writing takes, and than the clocks of a network differ.
constexpr std::chrono::hours temporary_lifetime(1);

bool is_temporary_of(const std::filesystem::path& path, const std::string& name) {
  const auto start = path.filename().string() + ".";
  const std::string end = ".tmp";
  return name.size() > start.size() + end.size() && name.rfind(start, 0) == 0 &&
         name.compare(name.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

void remove_old_temporaries(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::directory_iterator entry(path.parent_path(), error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (!is_temporary_of(path, entry->path().filename().string())) continue;
    std::error_code ignored;
    const auto written = std::filesystem::last_write_time(entry->path(), ignored);
    const auto age = std::filesystem::file_time_type::clock::now() - written;
    if (!ignored && age > temporary_lifetime) std::filesystem::remove(entry->path(), ignored);
  }
}

std::error_code replace_file(const std::filesystem::path& path, const std::string& content) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  if (error) return error;
  const auto temporary = temporary_name(path);
  error = write_file(temporary, content);
  if (!error) std::filesystem::rename(temporary, path, error);
#ifdef _WIN32
  for (int attempt = 1; error && attempt < file_attempts; ++attempt) {
    sleep_for(pause_after(attempt));
    std::filesystem::rename(temporary, path, error);
  }
#endif
  std::error_code ignored;
  if (error) std::filesystem::remove(temporary, ignored);
  return error;
}

}  // namespace latchkey
