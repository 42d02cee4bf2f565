import { findHostNameProblem } from './host-name.ts';

/** What a value became, or what is wrong with it: the rest of a sentence that begins with the option's name. */
export type Read<T> = { readonly value: T } | { readonly problem: string };

/** How the text of an option is read. */
export type Rule<T> = (text: string) => Read<T>;

/** As the agent's own configuration allows it. */
const MAX_INTERVAL_SECONDS = 60;

const MAX_PATH_LENGTH = 200;

/** Where certbot's answers lie, on every path of the domain. */
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

/** A rule for one of some words. */
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
      problem: `must lie elsewhere than ${CHALLENGES}, which proves to authorities whose the domain is`,
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

export const readFile: Rule<string> = (text) => {
  // Spaces, control characters and quotes would end a word or a line of nginx's configuration.
  if (/^\/[^\s\p{Cc}"'\\;{}$]{1,4000}$/u.test(text)) return { value: text };
  return {
    problem: 'must be the path of a file, from the root on, without spaces, quotes and the like',
  };
};
