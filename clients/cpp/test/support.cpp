#include "support.hpp"

#include <openssl/evp.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

namespace test {

const std::string key = "LK-5JQ8M-XK8N0-0R2W4-11T6Y-ABC2H";
const std::string machine_id = "4c4c4544-0044";
const std::string activation_id = "0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d";

namespace {

using PrivateKey = std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)>;

PrivateKey create_key(char seed) {
  const std::string bytes(32, seed);
  const auto* raw = reinterpret_cast<const unsigned char*>(bytes.data());
  return {EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, raw, bytes.size()), EVP_PKEY_free};
}

PublicKey public_key() {
  PublicKey result{"test", {}};
  auto size = result.x.size();
  EVP_PKEY_get_raw_public_key(create_key(7).get(), result.x.data(), &size);
  return result;
}

}  // namespace

std::vector<Test>& all_tests() {
  static std::vector<Test> tests;
  return tests;
}

void fail(const char* file, int line, const std::string& what) {
  throw std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": " + what);
}

Folder::Folder() {
  static std::atomic<int> count{0};
  const auto name = "latchkey-cpp-" + std::to_string(getpid()) + "-" + std::to_string(count++);
  path = std::filesystem::temp_directory_path() / name;
  std::filesystem::create_directories(path);
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

std::string Folder::read(const std::string& name) const { return read_all(path / name); }

void Folder::write(const std::string& name, const std::string& content) const {
  std::ofstream(path / name, std::ios::binary) << content;
}

void Folder::make_unreadable(const std::string& name) const {
  std::filesystem::rename(path / name, path / "elsewhere");
  std::filesystem::create_symlink(name, path / name);
}

void Folder::restore(const std::string& name) const { std::filesystem::rename(path / "elsewhere", path / name); }

std::string read_all(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

void Service::answer(Script script) {
  const std::lock_guard lock(mutex_);
  script_ = std::move(script);
}

Response Service::send(const Request& request) {
  Script script;
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
    script = script_;
  }
  return script ? script(request) : no_response(Cause::connection);
}

std::vector<Request> Service::take_requests() {
  const std::lock_guard lock(mutex_);
  return std::exchange(requests_, {});
}

Options options(const Folder& folder) {
  Options options;
  options.service = "https://license.example.com/";
  options.issuer = "https://license.example.com";
  options.products = {"personal"};
  options.public_keys = {public_key()};
  options.folder = folder.path;
  options.app_version = "2.4.0";
  options.os_version = "6.1";
  options.machine = {{"machine_id", machine_id}};
  return options;
}

World::World(const Folder& folder, const std::function<void(Options&)>& change) {
  auto all = options(folder);
  all.transport = [service = service](const Request& request) { return service->send(request); };
  all.now = [this] { return clock_ms.load(); };
  all.on_problem = [this](const Problem& problem) {
    const std::lock_guard lock(mutex);
    problems.push_back(problem.code);
  };
  if (change) change(all);
  client = std::make_unique<Latchkey>(std::move(all));
}

std::vector<std::string> World::take_problems() {
  const std::lock_guard lock(mutex);
  return std::exchange(problems, {});
}

void activate(World& world) {
  world.service->answer([](const Request&) { return activated(); });
  CHECK(world.client->activate(key));
  world.service->take_requests();
}

std::string sign(const Json::Object& changes, char seed) {
  Json::Object claims = {{"iss", "https://license.example.com"},
                         {"aud", "personal"},
                         {"iat", now_ms / 1000},
                         {"nbf", now_ms / 1000},
                         {"exp", (now_ms + 14 * day_ms) / 1000},
                         {"activation_id", activation_id},
                         {"machine", hash_text(machine_id)},
                         {"tier", "personal"},
                         {"features", Json::Array{"history", "gpu"}},
                         {"license_expires_at", nullptr},
                         {"trial", false}};
  for (const auto& [name, value] : changes) claims[name] = value;
  const Json header = Json::Object{{"alg", "EdDSA"}, {"kid", "test"}, {"typ", "entitlement+jwt"}};
  const auto text = encode_base64url(header.dump()) + "." + encode_base64url(Json(claims).dump());
  std::string signature(64, '\0');
  auto size = signature.size();
  const auto private_key = create_key(seed);
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, private_key.get());
  EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                 reinterpret_cast<const unsigned char*>(text.data()), text.size());
  return text + "." + encode_base64url(signature);
}

Response reply(int status, const Json& body) {
  Response response;
  response.status = status;
  response.content_type = "application/json";
  response.body = body.dump();
  return response;
}

Response problem(int status, const std::string& code) {
  return reply(status, Json::Object{{"title", "Any"}, {"status", static_cast<std::int64_t>(status)}, {"code", code}});
}

Response page(int status) {
  Response response;
  response.status = status;
  response.content_type = "text/html";
  response.body = "<html>Please sign in</html>";
  return response;
}

Response no_response(Cause cause) {
  Response response;
  response.failure = cause;
  response.detail = "test";
  return response;
}

Response activated() {
  return reply(200, Json::Object{{"activation_id", activation_id}, {"entitlement", sign()}, {"license_key", key}});
}

Response validated() { return reply(200, Json::Object{{"valid", true}, {"entitlement", sign()}}); }

}  // namespace test
