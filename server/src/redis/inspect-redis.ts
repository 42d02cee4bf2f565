import { withDeadline } from '#server/lib/deadline.ts';
import { messageOf } from '#server/lib/unknown-values.ts';

import { readOutcome, toCommand } from './exchange-command.ts';
import { COMMAND_TIMEOUT_MS, CONNECT_TIMEOUT_MS, optionsOf } from './redis-options.ts';

/** What a Redis or Valkey reports about itself; null: it does not permit INFO, or does not report it. */
export interface RedisFacts {
  /** `Redis` or `Valkey`. */
  readonly product: string | null;
  readonly version: string | null;
  /** `noeviction`, or which keys it evicts when its memory is full. */
  readonly evictionPolicy: string | null;
  /** 0: no limit. */
  readonly maxMemoryBytes: number | null;
  readonly isCluster: boolean;
}

/** The outcome of an inspection. */
export interface RedisInspection {
  readonly facts: RedisFacts;
  /** Why it does not store a value; null: it does. */
  readonly writeProblem: string | null;
}

/** The value expires at once. */
const PROBE = { kind: 'doctor', client: '', expected: null, next: '', keepMs: 1 };

type Send = (command: readonly string[]) => Promise<unknown>;

/**
 * Connects to Redis or Valkey as the service does, reads its facts, and stores a value for a millisecond.
 * @throws Error when it does not accept the connection, or does not reply in the time that a request waits
 */
export async function inspectRedis(url: string): Promise<RedisInspection> {
  const { createClient, ErrorReply } = await import('@redis/client');
  const socket = { connectTimeout: CONNECT_TIMEOUT_MS, reconnectStrategy: false } as const;
  const client = createClient({ ...optionsOf(url), socket });
  // Without a listener, an error would end the process; the promises reject, too.
  client.on('error', () => {});
  const send: Send = (command) => {
    const message = `no reply in ${COMMAND_TIMEOUT_MS} ms`;
    return withDeadline(COMMAND_TIMEOUT_MS, message, client.sendCommand(command));
  };
  /** Returns the message of an error reply; other errors are of the connection. */
  const refusalOf = (error: unknown): string => {
    if (error instanceof ErrorReply) return messageOf(error);
    throw error;
  };
  try {
    const connected = client.connect();
    await withDeadline(CONNECT_TIMEOUT_MS, `no connection in ${CONNECT_TIMEOUT_MS} ms`, connected);
    const info = await send(['INFO']).catch((error: unknown) => void refusalOf(error));
    return {
      facts: readFacts(typeof info === 'string' ? info : ''),
      writeProblem: await probe(send, refusalOf),
    };
  } finally {
    client.destroy();
  }
}

async function probe(send: Send, refusalOf: (error: unknown) => string): Promise<string | null> {
  try {
    const outcome = readOutcome(await send(toCommand(PROBE, '')));
    return outcome === true || outcome.current === '' ? null : 'it stores another value';
  } catch (error) {
    return refusalOf(error);
  }
}

/** Reads the reply to INFO: lines with a name, a colon and a value. */
export function readFacts(info: string): RedisFacts {
  const fields = new Map(
    [...info.matchAll(/^(?<name>\w+):(?<value>[^\r\n]*)/gmu)].map(({ groups }) => [
      groups?.['name'],
      groups?.['value'],
    ]),
  );
  const memory = fields.get('maxmemory');
  const ofValkey = fields.get('valkey_version');
  const version = ofValkey ?? fields.get('redis_version') ?? null;
  return {
    product: version === null ? null : ofValkey === undefined ? 'Redis' : 'Valkey',
    version,
    evictionPolicy: fields.get('maxmemory_policy') ?? null,
    maxMemoryBytes: memory === undefined ? null : Number(memory),
    isCluster: fields.get('cluster_enabled') === '1',
  };
}
