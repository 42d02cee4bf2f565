import { isObject, textOrNull } from '../json.ts';

/**
 * Why the service did not answer: its name was not found, no connection, its certificate, a proxy between, no answer in time, an
 * answer of something else (a login page, a firewall), or too much work (429, 5xx).
 */
export type Cause = 'dns' | 'connection' | 'tls' | 'proxy' | 'timeout' | 'portal' | 'busy';

/** Codes and messages of Node.js (undici, OpenSSL), of Chromium's network, which Electron uses, and of Bun and Deno; the first that fits counts. */
const PATTERNS: readonly (readonly [Cause, RegExp])[] = [
  ['portal', /redirect/i],
  // Node.js reports 407 as an error without a message.
  ['proxy', /proxy|tunnel|fetch failed; Error$/i],
  ['dns', /ENOTFOUND|EAI_|NAME_NOT_RESOLVED|dns error/],
  ['tls', /CERT|certificate|_SIGNATURE|_TLS_|_SSL_|EPROTO/],
  ['timeout', /TIMED_?OUT|_TIMEOUT/],
];

/** Finds the cause of a failed request in the error that `fetch` throws. */
export function findCause(error: unknown): Cause {
  const text = describeError(error);
  return PATTERNS.find(([, sign]) => sign.test(text))?.[0] ?? 'connection';
}

/** Deeper than any error of Node.js. */
const MAX_DEPTH = 4;

/** Returns names, codes and messages of an error and of what caused it. */
export function describeError(error: unknown, depth = 0): string {
  if (!isObject(error) || depth > MAX_DEPTH) return textOrNull(error) ?? '';
  const own = [error['name'], error['code'], error['message']].filter(
    (each) => typeof each === 'string' && each !== '',
  );
  const { cause } = error;
  return [own.join(' '), describeError(cause, depth + 1)].filter((each) => each !== '').join('; ');
}
