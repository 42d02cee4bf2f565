/** The port of an agent. */
const DEFAULT_PORT = 4096;

/** An address in the form in which it is stored, or why it is not one. */
export type ParsedAddress = { readonly address: string } | { readonly problem: string };

const MAX_PORT = 65_535;

/** The port of a web server that forwards a path to an agent. */
const WEB_SERVER_PORT = 443;

const ADDRESS = /^(?<host>[^:/]+)(?::(?<port>[0-9]{1,5}))?(?<path>(?:\/[\w.~-]+)*)\/?$/;

/** Labels of a host name (RFC 1123 §2.1) after the URL parser lowered it and encoded other scripts. */
const HOST_NAME =
  /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;

const IPV4 = /^\d{1,3}(?:\.\d{1,3}){3}$/;

/**
 * Parses `host`, `host:port` or, behind a web server, `host/path`: a host name or an IPv4 address. The host is normalised as
 * browsers do it (WHATWG URL), and a default port is omitted, so that equal addresses are equal texts. Every character of host and
 * port is allowed in a source expression of a content security policy.
 */
export function parseAddress(text: string): ParsedAddress {
  const trimmed = text.trim();
  if (/:\/\/|[?#@\\]/.test(trimmed)) {
    return { problem: 'Enter only host, port and path, without a scheme, a query or a password' };
  }
  if (trimmed.startsWith('[') || trimmed.split(':').length > 2) {
    return {
      problem:
        'Enter a host name instead of the IPv6 address: browsers cannot allow connections to an IPv6 address',
    };
  }
  const { host = '', port, path = '' } = ADDRESS.exec(trimmed)?.groups ?? {};
  const name = normalizeHost(host);
  if (name === null || /\/\.{1,2}(?:\/|$)/.test(path)) {
    return { problem: 'Enter a host name or an IPv4 address' };
  }
  const usual = defaultPort(path);
  const number = port === undefined ? usual : Number(port);
  if (number < 1 || number > MAX_PORT) {
    return { problem: `Enter a port from 1 to ${MAX_PORT}` };
  }
  return { address: `${name}${number === usual ? '' : `:${number}`}${path}` };
}

function defaultPort(path: string): number {
  return path === '' ? DEFAULT_PORT : WEB_SERVER_PORT;
}

function normalizeHost(host: string): string | null {
  // The URL parser decodes percent signs and ignores spaces inside of a text.
  if (/[%\s]/.test(host) || !URL.canParse(`https://${host}`)) return null;
  const { hostname } = new URL(`https://${host}`);
  // It also reads 010.0.0.1 as octal and 1 as 0.0.0.1.
  if (IPV4.test(hostname)) return hostname === host ? hostname : null;
  return HOST_NAME.test(hostname) ? hostname : null;
}

/** Returns the host and the port of a stored address, such as `web-1.example.com:4096`. */
export function toHost(address: string): string {
  const [host = ''] = address.split('/', 1);
  const path = address.slice(host.length);
  return host.includes(':') ? host : `${host}:${defaultPort(path)}`;
}
