import { startReplyTimer } from '#server/lib/reply-timer.ts';
import type { CounterStore } from '#server/lib/shared-counters.ts';

import { readOutcome, toCommand } from './exchange-command.ts';
import { COMMAND_TIMEOUT_MS, CONNECT_TIMEOUT_MS, optionsOf } from './redis-options.ts';

/** Detects a connection that broke without a reset. */
const PING_INTERVAL_MS = 2_000;
const SILENCE_TIMEOUT_MS = 6_000;

const LONGEST_RECONNECT_DELAY_MS = 5_000;

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
    const client = createClient(storeOptionsOf(url)).on('error', noteError);
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
      const sent = used.client.sendCommand(toCommand(exchange, secret));
      return readOutcome(await withTimeout(sent, (error) => replace(used, error)));
    },
    close: () => connection.client.destroy(),
  };
}

function storeOptionsOf(url: string) {
  return {
    ...optionsOf(url),
    pingInterval: PING_INTERVAL_MS,
    socket: {
      connectTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: SILENCE_TIMEOUT_MS,
      reconnectStrategy: (retries: number) =>
        Math.min(100 * 2 ** retries, LONGEST_RECONNECT_DELAY_MS),
    },
  } as const;
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
