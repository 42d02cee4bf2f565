import { createHmac } from 'node:crypto';

import type { CounterStore, Exchange, ExchangeOutcome } from './lib/shared-counters.ts';

/** A request waits no longer than this; then the limits count on this machine. */
const COMMAND_TIMEOUT_MS = 300;

/** A start waits no longer than this for the connection. */
const CONNECT_TIMEOUT_MS = 2_000;

/** Detects a connection that broke without a reset. */
const PING_INTERVAL_MS = 2_000;
const SILENCE_TIMEOUT_MS = 6_000;

const LONGEST_RECONNECT_DELAY_MS = 5_000;

/**
 * Compares and replaces a value in one step: KEYS[1]; ARGV: the expected value, the new one, and how long to keep it in ms. A value
 * begins with `=`, so that an empty text is none. Returns 1, or the value that is there instead.
 */
const EXCHANGE = `
local current = redis.call('GET', KEYS[1]) or ''
if current ~= ARGV[1] then return current end
if ARGV[2] ~= '' then redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
return 1
`;

/** The counters of all processes of an installation, in Redis or Valkey. */
export interface RedisStore extends CounterStore {
  close(): void;
}

/**
 * Connects to Redis or Valkey, and reconnects for as long as the store is open. Returns at the latest after two seconds, connected
 * or not.
 * @param url of the scheme redis, rediss, valkey or valkeys
 * @param secret the names of clients are stored as a keyed hash of it, apart from those of other installations
 */
export async function openRedisStore(url: string, secret: string): Promise<RedisStore> {
  // Imported only here: most services use no Redis.
  const { createClient } = await import('@redis/client');
  const client = createClient({
    url: url.replace(/^valkey/u, 'redis'),
    RESP: 2,
    disableOfflineQueue: true,
    pingInterval: PING_INTERVAL_MS,
    socket: {
      connectTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: SILENCE_TIMEOUT_MS,
      reconnectStrategy: (retries) => Math.min(100 * 2 ** retries, LONGEST_RECONNECT_DELAY_MS),
    },
  });
  let lastError: unknown = new Error('no connection yet');
  client.on('error', (error: unknown) => {
    lastError = error;
  });
  const connecting = client.connect().catch((error: unknown) => {
    lastError = error;
  });
  await Promise.race([connecting, delay(CONNECT_TIMEOUT_MS)]);
  return {
    async exchange(exchange) {
      if (!client.isReady) throw lastError;
      const sent = client.sendCommand(['EVAL', EXCHANGE, '1', ...toArguments(exchange, secret)]);
      return readOutcome(await withTimeout(sent, COMMAND_TIMEOUT_MS));
    },
    close: () => client.destroy(),
  };
}

function toArguments(
  { kind, client, expected, next, keepMs }: Exchange,
  secret: string,
): readonly string[] {
  const hash = createHmac('sha256', secret).update(`${kind} ${client}`).digest('base64url');
  const values = [expected, next].map((value) => (value === null ? '' : `=${value}`));
  return [`latchkey:${kind}:${hash}`, ...values, String(Math.max(1, Math.ceil(keepMs)))];
}

function readOutcome(reply: unknown): ExchangeOutcome {
  if (reply === 1) return true;
  if (typeof reply !== 'string') throw new Error('Redis sent no valid reply');
  return { current: reply === '' ? null : reply.slice(1) };
}

async function delay(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms).unref());
}

/** The client's own limit of time ends when a command is sent. */
async function withTimeout<Value>(work: Promise<Value>, ms: number): Promise<Value> {
  const { promise: expired, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no reply in ${ms} ms`)), ms);
  try {
    return await Promise.race([work, expired]);
  } finally {
    clearTimeout(timer);
  }
}
