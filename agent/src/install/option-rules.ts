import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';

import { normalizeOrigin, ORIGIN } from '../config/load-config.ts';

/** A parsed value, or the problem with it: the rest of a sentence that begins with the option's name. */
export type Read<T> = { readonly value: T } | { readonly problem: string };

/** Parses the text of an option. */
export type Rule<T> = (text: string) => Read<T>;

/** The limit of the agent's own configuration. */
const MAX_INTERVAL_SECONDS = 60;

const MAX_PATH_LENGTH = 200;

/** The path of certbot's answers on every domain. */
const CHALLENGES = '/.well-known';

export const readDomain: Rule<string> = (text) => {
  const name = text.toLowerCase().replace(/\.$/u, '');
  const problem = findHostNameProblem(name);
  return problem === null ? { value: name } : { problem };
};

export const readEmail: Rule<string> = (text) => {
  const [, host] = /^[\w.!#$%&*+/=?^`{|}~][\w.!#$%&*+/=?^`{|}~-]{0,63}@(.+)$/u.exec(text) ?? [];
  const isAddress = host !== undefined && findHostNameProblem(host.toLowerCase()) === null;
  if (isAddress && text.length <= 254) return { value: text };
  return { problem: 'must be one e-mail address, such as operations@example.com' };
};

/** Returns a rule that accepts one of these words. */
export function oneOf<T extends string>(...words: readonly T[]): Rule<T> {
  return (text) => {
    const value = words.find((word) => word === text);
    if (value !== undefined) return { value };
    return { problem: `must be ${words.slice(0, -1).join(', ')} or ${words.at(-1) ?? ''}` };
  };
}

export const readFlag: Rule<boolean> = (text) => {
  if (text === 'yes' || text === 'no') return { value: text === 'yes' };
  return { problem: 'must be yes, or left out' };
};

export const readProxyPath: Rule<string> = (text) => {
  if (!text.startsWith('/')) return { problem: 'must begin with a slash, such as /latchkey' };
  if (text === '/')
    return { problem: 'must be a path of its own, such as /latchkey: / is the whole site' };
  if (text.endsWith('/')) return { problem: 'must end without a slash, such as /latchkey' };
  if (
    text
      .split('/')
      .slice(1)
      .some((part) => ['', '.', '..'].includes(part))
  ) {
    return { problem: 'must not have empty parts, . or .. in it' };
  }
  if (!/^[\w/.~-]+$/u.test(text) || text.length > MAX_PATH_LENGTH) {
    return { problem: `must have letters, digits and - . _ ~ / only, ${MAX_PATH_LENGTH} at most` };
  }
  if (text === CHALLENGES || text.startsWith(`${CHALLENGES}/`)) {
    return {
      problem: `must not be below ${CHALLENGES}, by which authorities validate domains`,
    };
  }
  return { value: text };
};

export const readInterval: Rule<number> = (text) => {
  const value = /^\d{1,5}$/u.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= MAX_INTERVAL_SECONDS) return { value };
  return { problem: `must be a whole number of seconds from 1 to ${MAX_INTERVAL_SECONDS}` };
};

export const readAcmeServer: Rule<string> = (text) => {
  const url = URL.parse(text);
  const isPlain = url?.protocol === 'https:' && url.username === '' && url.password === '';
  if (isPlain && text.length <= 2000 && !/\s/u.test(text)) return { value: text };
  return {
    problem:
      'must be the https address of an ACME directory, such as https://acme.example.com/directory',
  };
};

/** Reads origins that are separated by commas; `none` is an empty list. */
export const readOrigins: Rule<readonly string[]> = (text) => {
  if (text === 'none') return { value: [] };
  const origins = text.split(',').map((each) => each.trim());
  if (origins.every((each) => ORIGIN.pattern.test(each))) {
    return { value: [...new Set(origins.map(normalizeOrigin))] };
  }
  return {
    problem: 'must be origins such as https://console.example.com, separated by commas, or none',
  };
};

export const readFile: Rule<string> = (text) => {
  // Spaces, control characters and quotes would end a word or a line of nginx's configuration.
  if (/^\/[^\s\p{Cc}"'\\;{}$]{1,4000}$/u.test(text)) return { value: text };
  return {
    problem: 'must be the path of a file, from the root on, without spaces, quotes and the like',
  };
};

/** RFC 1123, section 2.1: letters, digits and hyphens, at most 63, no hyphen at either end. */
const LABEL = /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/u;

const MAX_LENGTH = 253;

/**
 * Returns the problem with a host name, with the name that was probably meant.
 * @param name in lower case, without a dot at its end
 * @returns the rest of a sentence that begins with the name's source; null when the name is valid
 */
export function findHostNameProblem(name: string): string | null {
  const { host, extra } = splitAddress(name);
  if (extra !== null) return `must be a host name alone, without ${extra}: write ${host}`;
  if (isIP(name.replaceAll(/[[\]]/gu, '')) !== 0) {
    return 'must be a name and no address, because certificates are issued for names';
  }
  if (name.startsWith('*.'))
    return `must be one name and no wildcard, such as monitor.${name.slice(2)}`;
  if (!/^\p{ASCII}*$/u.test(name)) return explainUnicode(name);
  return isHostName(name) ? null : explainForm(name);
}

function splitAddress(name: string): { readonly host: string; readonly extra: string | null } {
  const scheme = /^[a-z][a-z\d+.-]*:\/\//u.exec(name)?.[0] ?? '';
  const host = name
    .slice(scheme.length)
    .replace(/[/?#][^]*/u, '')
    .replace(/^.*@/u, '');
  const port = /^[^:]+(?<port>:\d*)$/u.exec(host)?.groups?.['port'] ?? '';
  const alone = host.slice(0, host.length - port.length);
  if (!isHostName(alone)) return { host: alone, extra: null };
  if (scheme !== '') return { host: alone, extra: scheme };
  if (host !== name) return { host: alone, extra: 'a path' };
  return { host: alone, extra: port === '' ? null : 'a port' };
}

function isHostName(name: string): boolean {
  const labels = name.split('.');
  return (
    name.length <= MAX_LENGTH &&
    labels.length > 1 &&
    labels.every((label) => LABEL.test(label)) &&
    // RFC 1123: a name whose last label is numeric is indistinguishable from an address.
    !/^\d+$/u.test(labels.at(-1) ?? '')
  );
}

function explainUnicode(name: string): string {
  const encoded = domainToASCII(name);
  const hint = isHostName(encoded) ? `: write ${encoded}` : '';
  return `must be an ASCII name (punycode)${hint}`;
}

function explainForm(name: string): string {
  if (!name.includes('.'))
    return 'must be a full name, such as monitor.example.com, and no single word';
  return 'must have parts of letters, digits and hyphens, 63 at most in each and 253 in all, such as monitor.example.com';
}
