import { createHmac } from 'node:crypto';

import type { Exchange, ExchangeOutcome } from '#server/lib/shared-counters.ts';

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

/**
 * Returns the command of an exchange.
 * @param secret the names of clients are stored as a keyed hash of it, apart from those of other installations
 */
export function toCommand(
  { kind, client, expected, next, keepMs }: Exchange,
  secret: string,
): readonly string[] {
  const hash = createHmac('sha256', secret).update(`${kind} ${client}`).digest('base64url');
  const values = [expected, next].map((value) => (value === null ? '' : `=${value}`));
  const key = `latchkey:${kind}:${hash}`;
  return ['EVAL', EXCHANGE, '1', key, ...values, String(Math.max(1, Math.ceil(keepMs)))];
}

/** Reads the reply to an exchange. @throws {Error} when it is none */
export function readOutcome(reply: unknown): ExchangeOutcome {
  if (reply === 1) return true;
  if (typeof reply !== 'string') throw new Error('Redis sent no valid reply');
  return { current: reply === '' ? null : reply.slice(1) };
}
