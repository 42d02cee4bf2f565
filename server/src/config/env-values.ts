import { createPrivateKey } from 'node:crypto';
import { isIP, isIPv6 } from 'node:net';

import { parseDatabaseUrl, type SessionKind } from './database-url.ts';
import type { Parsed } from './parsed.ts';

/** Parses the text of a setting. */
export type Parse<T> = (text: string) => Parsed<T>;

/** Requests per second and the burst allowed above it. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** Requests per minute and the burst allowed above it. */
export interface RatePerMinute {
  readonly perMinute: number;
  readonly burst: number;
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** From the most to the least verbose. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Any text that is not blank. */
export const anyText: Parse<string> = (text) => ({ value: text });

/** A whole number from `min` to `max`, in decimal digits. */
export function wholeNumber(min: number, max: number): Parse<number> {
  return (text) => {
    const value = /^\d{1,15}$/u.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max
      ? { value }
      : { must: `be a whole number from ${min} to ${max}` };
  };
}

/** A TCP port; 0: the system chooses a free one. */
export const port: Parse<number> = (text) =>
  text.startsWith('tcp://')
    ? {
        must: 'be a port number; Kubernetes sets this one for a Service of that name, so set enableServiceLinks: false in the pod',
      }
    : wholeNumber(0, 65_535)(text);

/** An IP address or a host name to listen on, without scheme, brackets or port. */
export const host: Parse<string> = (text) =>
  isIP(text) > 0 || /^[a-z\d]([a-z\d.-]{0,251}[a-z\d])?$/iu.test(text)
    ? { value: text }
    : { must: 'be an IP address or a host name such as 127.0.0.1 or 0.0.0.0' };

/** An absolute URL of one of these schemes. @param shape an example for the message */
export function url(schemes: readonly string[], shape: string): Parse<string> {
  return (text) => {
    const parsed = URL.canParse(text) ? new URL(text) : null;
    return parsed !== null && schemes.includes(parsed.protocol)
      ? { value: text }
      : { must: `be a URL such as ${shape}` };
  };
}

/** An http(s) URL without credentials, query or fragment; the value has no trailing slash. */
export const webUrl: Parse<string> = (text) => {
  const parsed = URL.canParse(text) ? new URL(text) : null;
  const plain =
    parsed !== null &&
    (parsed.protocol === 'http:' || parsed.protocol === 'https:') &&
    parsed.username + parsed.password + parsed.search + parsed.hash === '';
  return plain
    ? { value: `${parsed.origin}${parsed.pathname}`.replace(/(?<!\/)\/+$/u, '') }
    : { must: 'be a plain http:// or https:// URL such as https://licenses.example.com' };
};

/**
 * Addresses and CIDR networks of the proxies whose `X-Forwarded-For` is trusted, comma separated; `none` for no proxy.
 * A network of all addresses is rejected: any client could then choose the address that limits count by.
 */
export const trustedProxies: Parse<readonly string[]> = (text) => {
  if (text === 'none') return { value: [] };
  const entries = text.split(',').map((entry) => entry.trim());
  return entries.every(isNetwork)
    ? { value: entries }
    : {
        must: 'be a comma-separated list of proxy addresses or CIDR networks such as 127.0.0.0/8,10.0.0.0/8, or none; trusting everyone is not possible',
      };
};

/** Addresses and CIDR networks, comma separated. */
export const networks: Parse<readonly string[]> = (text) => {
  const entries = text.split(',').map((entry) => entry.trim());
  return entries.every(isNetwork)
    ? { value: entries }
    : {
        must: 'be a comma-separated list of addresses or CIDR networks such as 10.20.0.0/16,fd00::/8',
      };
};

function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  if (isIP(address) === 0 || rest.length > 0) return false;
  if (prefix === undefined) return true;
  const longest = isIPv6(address) ? 128 : 32;
  return /^\d{1,3}$/u.test(prefix) && Number(prefix) >= 1 && Number(prefix) <= longest;
}

/** A claim or an e-mail address, and the role that it assigns. */
export interface RoleRule {
  readonly role: 'viewer' | 'support' | 'admin';
  readonly value: string;
}

const ROLE_RULE = /^(?<role>viewer|support|admin)=(?<value>\S(?:.*\S)?)$/u;

/** Roles of operators by claims: `admin=anna@example.com,support=helpdesk`. */
export const roleRules: Parse<readonly RoleRule[]> = (text) => {
  const rules = text.split(',').flatMap((entry): RoleRule[] => {
    const { role, value = '' } = ROLE_RULE.exec(entry.trim())?.groups ?? {};
    return role === 'viewer' || role === 'support' || role === 'admin' ? [{ role, value }] : [];
  });
  return rules.length === text.split(',').length
    ? { value: rules }
    : {
        must: 'be a comma-separated list of role=value such as admin=anna@example.com,support=helpdesk',
      };
};

/** The name of a header of requests. */
export const headerName: Parse<string> = (text) =>
  /^[A-Za-z][A-Za-z\d-]{0,63}$/u.test(text)
    ? { value: text.toLowerCase() }
    : { must: 'be the name of a header such as X-Forwarded-Email' };

/** `on` or `off`. */
export const onOrOff: Parse<boolean> = (text) =>
  text === 'on' || text === 'off' ? { value: text === 'on' } : { must: 'be on or off' };

/** One of pino's levels. */
export const logLevel: Parse<LogLevel> = (text) => {
  const level = LOG_LEVELS.find((known) => known === text);
  return level === undefined ? { must: `be one of ${LOG_LEVELS.join(', ')}` } : { value: level };
};

/** `rate/burst`, such as `100/300`: requests per second, and at once. */
export const rate: Parse<Rate> = (text) => {
  const pair = readRateAndBurst(text);
  return pair === null
    ? { must: 'be requests per second and burst such as 100/300, the burst not below the rate' }
    : { value: { perSecond: pair.rate, burst: pair.burst } };
};

/** `rate/burst`, such as `5/10`: requests per minute, and at once. */
export const ratePerMinute: Parse<RatePerMinute> = (text) => {
  const pair = readRateAndBurst(text);
  return pair === null
    ? { must: 'be requests per minute and burst such as 5/10, the burst not below the rate' }
    : { value: { perMinute: pair.rate, burst: pair.burst } };
};

function readRateAndBurst(text: string): { readonly rate: number; readonly burst: number } | null {
  const match = /^(\d{1,7})\/(\d{1,7})$/u.exec(text);
  const pair = { rate: Number(match?.[1] ?? 0), burst: Number(match?.[2] ?? 0) };
  return pair.rate >= 1 && pair.burst >= pair.rate ? pair : null;
}

/** The kinds of hosts that accept writes, or do so through a proxy. */
const WRITABLE: readonly SessionKind[] = ['read-write', 'primary', 'any'];

/** The URL of the database that the service writes to; several hosts are separated by commas. */
export const databaseUrl: Parse<string> = (text) => {
  const parsed = parseDatabaseUrl(text);
  if ('must' in parsed) return parsed;
  const { sessionKind } = parsed.value;
  return sessionKind === null || WRITABLE.includes(sessionKind)
    ? { value: text }
    : {
        must: `have one of these as target_session_attrs, to be written to: ${WRITABLE.join(', ')}`,
      };
};

/** The URL of a database that is only read. */
export const replicaUrl: Parse<string> = (text) => {
  const parsed = parseDatabaseUrl(text);
  return 'must' in parsed ? parsed : { value: text };
};

/** At least `length` characters. */
export function longText(length: number): Parse<string> {
  return (text) =>
    Array.from(text).length >= length
      ? { value: text }
      : { must: `have at least ${length} characters` };
}

/** The prefixes of Standard Webhooks' secrets and public keys, and the bytes that follow them in base64. */
const STANDARD_SECRET = /^(?<kind>whsec_|whpk_)?(?<base64>[A-Za-z\d+/]+)={0,2}$/u;
const MIN_STANDARD_SECRET_BYTES = 24;
const ED25519_KEY_BYTES = 32;

/**
 * Secrets of the Standard Webhooks specification, separated by commas. Malformed base64 is rejected: Node decodes only
 * its valid start, which may be empty.
 */
export const standardSecretList: Parse<readonly string[]> = (text) => {
  const entries = text.split(',').map((entry) => entry.trim());
  return entries.every(isStandardSecret)
    ? { value: entries }
    : {
        must: `be secrets of the Standard Webhooks form separated by commas: whsec_ and at least ${MIN_STANDARD_SECRET_BYTES} bytes in base64, or whpk_ and an Ed25519 public key in base64`,
      };
};

function isStandardSecret(text: string): boolean {
  const { kind, base64 = '' } = STANDARD_SECRET.exec(text)?.groups ?? {};
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.toString('base64').replace(/(?<!=)=+$/u, '') !== base64) return false;
  if (kind === 'whpk_') return bytes.length === ED25519_KEY_BYTES;
  return bytes.length >= MIN_STANDARD_SECRET_BYTES;
}

const MASTER_SECRET_MUST =
  'have at least 32 characters without commas, chosen at random (make one with: openssl rand -base64 32)';

/**
 * The master secret: at least 32 characters (UTF-8), at least 10 of them different, so that a placeholder such as
 * `xxxx…` is rejected. 32 random bytes as base64 or hex fit. A comma separates previous secrets.
 */
export const masterSecret: Parse<string> = (text) =>
  isMasterSecret(text) ? { value: text } : { must: MASTER_SECRET_MUST };

function isMasterSecret(text: string): boolean {
  return Array.from(text).length >= 32 && new Set(text).size >= 10 && !text.includes(',');
}

/** Each costs a failed look-up another hash. */
const MAX_PREVIOUS_SECRETS = 3;

/** Master secrets that rows may still be stored under, separated by commas or line breaks; at most 3. */
export const masterSecretList: Parse<readonly string[]> = (text) => {
  const entries = text.split(/[,\n]/u).map((entry) => entry.trim());
  return entries.every(isMasterSecret) && entries.length <= MAX_PREVIOUS_SECRETS
    ? { value: entries }
    : {
        must: `be at most ${MAX_PREVIOUS_SECRETS} master secrets separated by commas, each of at least 32 characters`,
      };
};

/** Secrets separated by commas, all of which are valid (for rotation). @param minLength of each, in characters */
export function secretList(minLength: number): Parse<readonly string[]> {
  return (text) => {
    const entries = text.split(',').map((entry) => entry.trim());
    return entries.every((entry) => Array.from(entry).length >= minLength)
      ? { value: entries }
      : {
          must: `be secrets of at least ${minLength} characters each, separated by single commas`,
        };
  };
}

/** Patterns separated by commas; `*` matches any characters. */
export const patternList: Parse<readonly string[]> = (text) => {
  const entries = text.split(',').map((entry) => entry.trim());
  return entries.every((entry) => entry !== '' && entry.length <= 120) && entries.length <= 1_000
    ? { value: entries }
    : { must: 'be patterns separated by single commas such as app_*,export_finished' };
};

/** A private key as PEM; `\n` may represent a line break, since many tools store variables on one line. */
export const privateKeyPem: Parse<string> = (text) => {
  const pem = text.replaceAll(String.raw`\n`, '\n');
  try {
    createPrivateKey(pem);
    return { value: pem };
  } catch {
    return { must: 'be a private key in PEM form (-----BEGIN PRIVATE KEY----- …)' };
  }
};

/** `Name <address>` or an address alone, on one line. */
export const mailbox: Parse<string> = (text) =>
  /^[^\r\n<>]*<[^\s<>@]+@[^\s<>@]+>$|^[^\s<>@]+@[^\s<>@]+$/u.test(text)
    ? { value: text }
    : { must: 'be an address such as Example <licenses@example.com>' };

/** A domain name for DKIM's `d=` or `s=`. */
export const domainName: Parse<string> = (text) =>
  /^[a-z\d]([a-z\d.-]{0,251}[a-z\d])?$/iu.test(text)
    ? { value: text }
    : { must: 'be a name such as example.com' };
