import { createHmac } from 'node:crypto';

import { startReplyTimer } from './lib/reply-timer.ts';
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
  let lastError: unknown = new Error('no connection yet');
  const noteError = (error: unknown): void => {
    lastError = error;
  };
  const connect = () => {
    const client = createClient(optionsOf(url)).on('error', noteError);
    return { client, connected: client.connect().catch(noteError) };
  };
  let connection = connect();
  await Promise.race([connection.connected, delay(CONNECT_TIMEOUT_MS)]);

  /** Each command resets the client's own detection of a connection that broke without a reset. */
  const replace = (broken: typeof connection, error: unknown): void => {
    lastError = error;
    if (broken !== connection) return;
    broken.client.destroy();
    connection = connect();
  };

  return {
    async exchange(exchange) {
      const used = connection;
      if (!used.client.isReady) throw lastError;
      const command = ['EVAL', EXCHANGE, '1', ...toArguments(exchange, secret)];
      const sent = used.client.sendCommand(command);
      return readOutcome(await withTimeout(sent, (error) => replace(used, error)));
    },
    close: () => connection.client.destroy(),
  };
}

function optionsOf(url: string) {
  return {
    url: url.replace(/^valkey/iu, 'redis'),
    RESP: 2,
    disableOfflineQueue: true,
    pingInterval: PING_INTERVAL_MS,
    socket: {
      connectTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: SILENCE_TIMEOUT_MS,
      reconnectStrategy: (retries: number) =>
        Math.min(100 * 2 ** retries, LONGEST_RECONNECT_DELAY_MS),
    },
  } as const;
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
async function withTimeout<Value>(
  work: Promise<Value>,
  onTimeout: (error: Error) => void,
): Promise<Value> {
  const { promise: expired, reject } = Promise.withResolvers<never>();
  const cancel = startReplyTimer(COMMAND_TIMEOUT_MS, () => {
    const error = new Error(`no reply in ${COMMAND_TIMEOUT_MS} ms`);
    reject(error);
    onTimeout(error);
  });
  try {
    return await Promise.race([work, expired]);
  } finally {
    cancel();
  }
}
