// Sends requests with libcurl, with the proxy of the environment and the certificates of the system.
#include "latchkey/latchkey.hpp"

#ifdef LATCHKEY_WITH_CURL

#include <curl/curl.h>

namespace latchkey {
namespace {

/// What the functions of libcurl share.
struct Exchange {
  const Request& request;
  Response response;
  bool is_too_large = false;
};

std::size_t receive_body(char* data, std::size_t size, std::size_t count, void* context) {
  auto& exchange = *static_cast<Exchange*>(context);
  exchange.is_too_large = exchange.response.body.size() + size * count > max_body_bytes;
  if (exchange.is_too_large) return 0;
  exchange.response.body.append(data, size * count);
  return size * count;
}

std::string lower(std::string text) {
  for (auto& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return text;
}

std::size_t receive_header(char* data, std::size_t size, std::size_t count, void* context) {
  auto& response = static_cast<Exchange*>(context)->response;
  const std::string line(data, size * count);
  const auto colon = line.find(':');
  if (colon == std::string::npos) return size * count;
  const auto start = line.find_first_not_of(" \t\r\n", colon + 1);
  const auto end = line.find_last_not_of(" \t\r\n");
  const auto value = start == std::string::npos ? "" : line.substr(start, end - start + 1);
  const auto name = lower(line.substr(0, colon));
  if (name == "content-type") response.content_type = value;
  if (name == "date") response.date = value;
  if (name == "retry-after") response.retry_after = value;
  return size * count;
}

int notice_cancellation(void* context, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  const auto& is_cancelled = static_cast<Exchange*>(context)->request.is_cancelled;
  return is_cancelled && is_cancelled() ? 1 : 0;
}

Cause find_cause(CURLcode code, CURL* handle, const Exchange& exchange) {
  long proxy_status = 0;
  curl_easy_getinfo(handle, CURLINFO_HTTP_CONNECTCODE, &proxy_status);
  if (exchange.is_too_large) return Cause::portal;
  if (proxy_status >= 400) return Cause::proxy;
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST: return Cause::dns;
    case CURLE_COULDNT_RESOLVE_PROXY: return Cause::proxy;
    case CURLE_OPERATION_TIMEDOUT: return Cause::timeout;
    case CURLE_WEIRD_SERVER_REPLY: return Cause::portal;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS: return Cause::tls;
    default: return Cause::connection;
  }
}

struct FreeHandle {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
struct FreeHeaders {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

Response send(const Request& request) {
  // The first call of each process initializes the library; the compiler lets only one thread do it.
  static const CURLcode initialized = curl_global_init(CURL_GLOBAL_DEFAULT);
  const std::unique_ptr<CURL, FreeHandle> owner(initialized == CURLE_OK ? curl_easy_init() : nullptr);
  Exchange exchange{request, {}, false};
  if (!owner) {
    exchange.response.failure = Cause::connection;
    exchange.response.detail = "libcurl could not be initialized";
    return exchange.response;
  }
  CURL* handle = owner.get();
  const std::unique_ptr<curl_slist, FreeHeaders> headers(curl_slist_append(nullptr, "content-type: application/json"));
  const auto agent = "latchkey-cpp/" + std::string(version);
  curl_easy_setopt(handle, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(handle, CURLOPT_USERAGENT, agent.c_str());
  curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout.count()));
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, receive_body);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &exchange);
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, receive_header);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, &exchange);
  curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, notice_cancellation);
  curl_easy_setopt(handle, CURLOPT_XFERINFODATA, &exchange);
  curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
#ifdef _WIN32
  curl_easy_setopt(handle, CURLOPT_SSL_OPTIONS, static_cast<long>(CURLSSLOPT_NATIVE_CA));
#endif
  if (request.body) {
    curl_easy_setopt(handle, CURLOPT_POSTFIELDS, request.body->c_str());
    curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE, static_cast<long>(request.body->size()));
  }
  const auto code = curl_easy_perform(handle);
  long status = 0;
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  exchange.response.status = static_cast<int>(status);
  if (code != CURLE_OK) {
    exchange.response.failure = find_cause(code, handle, exchange);
    exchange.response.detail = curl_easy_strerror(code);
  }
  return exchange.response;
}

}  // namespace

Transport curl_transport() { return send; }

}  // namespace latchkey

#else

namespace latchkey {

Transport curl_transport() { return {}; }

}  // namespace latchkey

#endif
