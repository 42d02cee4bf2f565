import type { Node } from './read-configuration.ts';

/**
 * How well a server name matches a domain, in the order of nginx: an exact name, the longest wildcard in front, the longest at the
 * end, regular expressions. `possible` is one that only nginx can decide.
 */
export type NameMatch =
  | { readonly kind: 'certain'; readonly rank: number }
  | { readonly kind: 'possible' };

const EXACT_RANK = 3000;
const LEADING_WILDCARD_RANK = 2000;
const TRAILING_WILDCARD_RANK = 1000;

/**
 * Returns how a `server_name` matches.
 * @param domain in lower case
 * @returns null when it does not
 */
export function matchName(serverName: string, domain: string): NameMatch | null {
  if (serverName.startsWith('~')) return matchExpression(serverName.slice(1), domain);
  if (serverName.includes('$')) return { kind: 'possible' };
  const name = serverName.toLowerCase();
  // nginx treats a name with a leading dot as an exact name, too: it ignores the second of both.
  if (name === domain || name === `.${domain}`) return { kind: 'certain', rank: EXACT_RANK };
  if (name.startsWith('.') && domain.endsWith(name)) {
    return { kind: 'certain', rank: LEADING_WILDCARD_RANK + name.length };
  }
  if (name.startsWith('*.') && domain.endsWith(name.slice(1))) {
    return { kind: 'certain', rank: LEADING_WILDCARD_RANK + name.length - 1 };
  }
  if (name.endsWith('.*') && domain.startsWith(name.slice(0, -1))) {
    return { kind: 'certain', rank: TRAILING_WILDCARD_RANK + name.length - 1 };
  }
  return null;
}

/** nginx matches case-insensitively. An expression that JavaScript cannot parse may match. */
function matchExpression(expression: string, domain: string): NameMatch | null {
  const matches = testExpression(expression, domain);
  return matches === false ? null : { kind: 'possible' };
}

/** Whether a PCRE expression matches a text; null when JavaScript cannot parse it. */
function testExpression(expression: string, text: string): boolean | null {
  try {
    return new RegExp(expression.replaceAll('(?P<', '(?<'), 'i').test(text);
  } catch {
    // JavaScript cannot parse every expression of PCRE.
    return null;
  }
}

const CONDITION = /^\( ?\$(?<variable>\w+) ?(?<sign>!?~\*?|!?=) ?(?<value>.*?) ?\)$/;

/**
 * Finds a `return` or `rewrite` that nginx runs for a request before it selects a location, also within an `if` whose condition is
 * certainly true.
 * @param directives the directives of the server block
 * @param domain the requested domain
 * @param uri the requested path
 * @returns null without one; conditions on other variables (a method, an address) count as false
 */
export function findRewrite(directives: readonly Node[], domain: string, uri: string): Node | null {
  for (const node of directives) {
    const { name, args } = node.directive;
    if (name === 'break') return null;
    if (name === 'return') return node;
    if (name === 'rewrite' && testExpression(args[0] ?? '', uri) !== false) return node;
    if (name !== 'if' || !isCertainlyTrue(args.join(' '), domain, uri)) continue;
    if (node.children.some(({ directive }) => directive.name === 'break')) return null;
    const inner = findRewrite(node.children, domain, uri);
    if (inner !== null) return inner;
  }
  return null;
}

/** Whether a condition is certainly true. */
function isCertainlyTrue(condition: string, domain: string, uri: string): boolean {
  const { variable = '', sign = '', value = '' } = CONDITION.exec(condition)?.groups ?? {};
  const known = new Map([
    ...['host', 'http_host', 'ssl_server_name'].map((name) => [name, domain] as const),
    ...['uri', 'request_uri', 'document_uri'].map((name) => [name, uri] as const),
    ['scheme', 'https'],
    ['https', 'on'],
    ['server_port', '443'],
  ]).get(variable);
  if (known === undefined) return false;
  const matches = sign.includes('~') ? testExpression(value, known) : known === value;
  return matches !== null && matches !== sign.startsWith('!');
}
