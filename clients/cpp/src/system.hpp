// What the client needs of the operating system: files, the identity of the machine, random numbers, the network.
#pragma once

#include <system_error>

#include "rules.hpp"

namespace latchkey {

/// Returns the host of an http or https address; empty if it is none.
std::string host_of(const std::string& service);
/// Whether keys that arrive from an address may be trusted: https, or this computer.
bool is_trustworthy(const std::string& service);

std::int64_t system_ms();
std::string random_bytes();
/// Returns a random UUID (RFC 9562, version 4).
std::string random_uuid();
std::string describe_platform();
std::optional<std::string> system_version();

/// Describes the network by the addresses of this computer; another text means another network.
std::string describe_network();

/// Reads the identity of this machine, without a shell; null if the system has none.
Json read_machine();
/// Reads the identity of a computer with Linux. `read` returns the content of a file, or an empty text.
Json read_linux_machine(const std::function<std::string(const char*)>& read);
/// Runs a program, without a shell, for a time at most; an empty text if it fails. Not on Windows.
std::string run_program(const std::vector<std::string>& command, std::chrono::milliseconds timeout);

struct FileReading {
  std::error_code error;
  /// Nothing if the file does not exist.
  std::optional<std::string> content;
};

FileReading read_file(const std::filesystem::path& path);
using Pause = std::function<void(std::chrono::milliseconds)>;
void sleep_for(std::chrono::milliseconds time);
/// Reads a file up to five times within 200 ms.
FileReading read_file_with_retries(const std::filesystem::path& path, const Pause& pause = sleep_for);
/// Replaces a file that only this user can read, so that a process that is killed leaves the old one or the new one. The folder is
/// created.
std::error_code replace_file(const std::filesystem::path& path, const std::string& content);
/// Removes the temporary files of replace_file that killed programs left beside a file. Nothing is lost if they stay.
void remove_old_temporaries(const std::filesystem::path& path);

}  // namespace latchkey
