-- Sends the bodies of a file, one on each line, with a number in place of `#`: no two bodies are alike. For wrk.ts.
local before, after = {}, {}
local total, count = 0, 0

function init()
  for line in io.lines(os.getenv("BENCH_BODIES")) do
    total = total + 1
    before[total], after[total] = line:match("^(.-)#(.*)$")
  end
  count = tonumber(os.getenv("BENCH_FIRST"))
  wrk.method = "POST"
  wrk.headers["Content-Type"] = "application/json"
end

function request()
  count = count + 1
  local index = count % total + 1
  return wrk.format(nil, nil, nil, before[index] .. string.format("%012x", count) .. after[index])
end

function done(summary, latency)
  local errors = summary.errors
  local failures = errors.status + errors.connect + errors.read + errors.write + errors.timeout
  io.write(string.format(
    'RESULT {"requests":%d,"microseconds":%d,"p50":%d,"p99":%d,"max":%d,"failures":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), latency.max, failures))
end
