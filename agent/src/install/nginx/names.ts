/**
 * How well a server block's name fits a domain, as nginx chooses: an exact name, then the longest wildcard in front, then the
 * longest at the end, then regular expressions. `perhaps` is one that may fit: nginx alone can tell.
 */
export type Fit = { readonly kind: 'sure'; readonly rank: number } | { readonly kind: 'perhaps' };

const EXACT = 3000;
const IN_FRONT = 2000;
const AT_END = 1000;

/**
 * Tells how a `server_name` fits.
 * @param domain in lower case
 * @returns null when it does not
 */
export function fitName(serverName: string, domain: string): Fit | null {
  if (serverName.startsWith('~')) return fitExpression(serverName.slice(1), domain);
  if (serverName.includes('$')) return { kind: 'perhaps' };
  const name = serverName.toLowerCase();
  // To nginx a name with a dot in front is an exact name, too: it ignores the second of both.
  if (name === domain || name === `.${domain}`) return { kind: 'sure', rank: EXACT };
  if (name.startsWith('.') && domain.endsWith(name)) {
    return { kind: 'sure', rank: IN_FRONT + name.length };
  }
  if (name.startsWith('*.') && domain.endsWith(name.slice(1))) {
    return { kind: 'sure', rank: IN_FRONT + name.length - 1 };
  }
  if (name.endsWith('.*') && domain.startsWith(name.slice(0, -1))) {
    return { kind: 'sure', rank: AT_END + name.length - 1 };
  }
  return null;
}

/** nginx matches without regard to case. What only its own expressions know may fit. */
function fitExpression(expression: string, domain: string): Fit | null {
  const matches = testExpression(expression, domain);
  return matches === false ? null : { kind: 'perhaps' };
}

/** Whether an expression of PCRE matches a text; null when it is beyond JavaScript's. */
export function testExpression(expression: string, text: string): boolean | null {
  try {
    return new RegExp(expression.replaceAll('(?P<', '(?<'), 'i').test(text);
  } catch {
    // An expression that JavaScript has no words for is no fault of the configuration.
    return null;
  }
}
