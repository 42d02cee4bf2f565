import type { Parse } from './env-values.ts';

const SCHEMES = new Set(['redis:', 'rediss:', 'valkey:', 'valkeys:']);

/** The URL of a Redis or Valkey: a host, and optionally user, password, port and the number of a database. */
export const redisUrl: Parse<string> = (text) => {
  const parsed = URL.canParse(text) ? new URL(text) : null;
  if (parsed === null || !SCHEMES.has(parsed.protocol) || parsed.hostname === '') {
    return { must: 'be a URL such as redis://:password@host:6379' };
  }
  if (!isDecodable(parsed.username) || !isDecodable(parsed.password)) {
    return { must: 'have a percent-encoded user name and password: write % as %25' };
  }
  return /^(?:\/\d{0,9})?$/u.test(parsed.pathname)
    ? { value: text }
    : { must: 'end after the port, or with the number of a database such as /0' };
};

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    // A % without two hexadecimal digits.
    return false;
  }
}
