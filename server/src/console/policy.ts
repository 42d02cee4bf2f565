/** The content security policy of the console's documents. */

const BEFORE_CONNECT = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
];

const AFTER_CONNECT = [
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
];

/** Nothing inline, nothing from elsewhere. Mail previews are documents of this service in a frame, with a policy of their own. */
export const POLICY = joinPolicy("connect-src 'self'");

/**
 * The policy in the header of a document that has {@link limitConnections} in its body. Both apply, so that the header need
 * not name the hosts: proxies limit the size of headers, nginx to 4 or 8 kB for all of them by default.
 */
export const FLEET_POLICY = joinPolicy("connect-src 'self' https: wss:");

function joinPolicy(connect: string): string {
  return [...BEFORE_CONNECT, connect, ...AFTER_CONNECT].join('; ');
}

const FIRST_ELEMENT = '<meta charset="utf-8">';

/**
 * Returns a document that connects only to the service and to agents: a policy in its body names each host.
 * @param hosts with ports, without characters that HTML or a policy gives a meaning
 * @throws Error for a document or a host of another form
 */
export function limitConnections(document: string, hosts: readonly string[]): string {
  const [head, rest, ...others] = document.split(FIRST_ELEMENT);
  if (head === undefined || rest === undefined || others.length > 0) {
    throw new Error('the document of the console has no place for a policy');
  }
  if (!hosts.every((host) => /^[a-z0-9.-]+:\d+$/.test(host))) {
    throw new Error('a host of the fleet cannot be named in a policy');
  }
  const sources = hosts.map((host) => ` wss://${host} https://${host}`).join('');
  const policy = `<meta http-equiv="content-security-policy" content="connect-src 'self'${sources}">`;
  // Before anything that connects.
  return `${head}${FIRST_ELEMENT}\n    ${policy}${rest}`;
}
