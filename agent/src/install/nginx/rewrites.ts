import { testExpression } from './names.ts';
import type { Node } from './read-configuration.ts';

const CONDITION = /^\( ?\$(?<variable>\w+) ?(?<sign>!?~\*?|!?=) ?(?<value>.*?) ?\)$/;

/**
 * Finds what answers or rewrites a request before nginx looks at locations: `return`, `rewrite`, and those within an `if`
 * that surely holds.
 * @param directives of the server block
 * @param domain asked for by TLS
 * @param uri the path asked for
 * @returns null when there is none; a condition on something else (a method, an address) counts as one that does not hold
 */
export function findRewrite(directives: readonly Node[], domain: string, uri: string): Node | null {
  for (const node of directives) {
    const { name, args } = node.directive;
    if (name === 'break') return null;
    if (name === 'return') return node;
    if (name === 'rewrite' && testExpression(args[0] ?? '', uri) !== false) return node;
    if (name !== 'if' || !holds(args.join(' '), domain, uri)) continue;
    if (node.children.some(({ directive }) => directive.name === 'break')) return null;
    const inner = findRewrite(node.children, domain, uri);
    if (inner !== null) return inner;
  }
  return null;
}

/** Whether a condition surely holds. */
function holds(condition: string, domain: string, uri: string): boolean {
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
