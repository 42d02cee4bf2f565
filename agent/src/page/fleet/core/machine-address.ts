/** The port of an agent without another in its address. */
const DEFAULT_PORT = '4096';

/** The port of a web server that forwards a path to an agent. */
const WEB_SERVER_PORT = '443';

/** Longer than any host name (253 characters) with a port and the path of a proxy. */
const MAX_ADDRESS_LENGTH = 500;

/** A host name or address, a port, and the path of a proxy: no credentials, query, fragment, escapes or blanks. */
const ADDRESS =
  /^(?<host>\[[\da-f:.]+\]|[^\s/\\?#@%:;[\]]+)(?::(?<port>\d{1,5}))?(?<path>(?:\/[\w.~-]+)*)\/?$/iu;

/**
 * Parses the address of an agent.
 * @returns `host:port` in lower case, an international name in its ASCII form, behind a proxy with its path,
 *   `host:port/path`; null if it is invalid
 */
export function parseMachineAddress(text: string): string | null {
  const trimmed = text.trim();
  const { groups } = (trimmed.length > MAX_ADDRESS_LENGTH ? null : ADDRESS.exec(trimmed)) ?? {};
  if (groups === undefined) return null;
  const { host = '', port: given, path = '' } = groups;
  const whole = `https://${host}:${given ?? (path === '' ? DEFAULT_PORT : WEB_SERVER_PORT)}${path}`;
  if (!URL.canParse(whole)) return null;
  const { hostname, port, pathname } = new URL(whole);
  // `.` and `..` would be another path.
  if (hostname === '' || hostname.length > 253 || port === '0' || pathname !== (path || '/'))
    return null;
  return `${hostname}:${port === '' ? '443' : port}${path}`;
}

/** Returns the host of an address. @param address from `parseMachineAddress` */
export function hostOfMachine(address: string): string {
  return address.replace(/:\d+(?:\/[^]*)?$/u, '');
}

/** Returns an address as people write it, without a port that is usual. @param address from `parseMachineAddress` */
export function shortenMachineAddress(address: string): string {
  return address.replace(/:4096$|:443(?=\/)/u, '');
}

const LOOPBACK = /^localhost$|\.localhost$|^\[::1\]$/u;
const PRIVATE_NAME = /^localhost$|\.(?:localhost|local)$/u;
const PRIVATE_IPV4 =
  /^(?:0|10|127|169\.254|192\.168|172\.(?:1[6-9]|2\d|3[01])|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\./u;
const PRIVATE_IPV6 = /^\[(?:::1\]|::\]|f[cd]|fe[89ab])/u;

/**
 * Whether an address is known to be private or local without a look-up, in the sense of Local Network Access
 * (https://wicg.github.io/local-network-access/).
 * @param address from `parseMachineAddress`
 */
export function isPrivateMachineAddress(address: string): boolean {
  const host = hostOfMachine(address);
  return (
    PRIVATE_NAME.test(host) || (isIpv4(host) && PRIVATE_IPV4.test(host)) || PRIVATE_IPV6.test(host)
  );
}

/** Whether an address is known to be this computer's own. @param address from `parseMachineAddress` */
export function isLoopbackAddress(address: string): boolean {
  const host = hostOfMachine(address);
  return LOOPBACK.test(host) || (isIpv4(host) && host.startsWith('127.'));
}

/** Whether an address is a name, which may stand for a private address. @param address from `parseMachineAddress` */
export function isNamedAddress(address: string): boolean {
  const host = hostOfMachine(address);
  return !isIpv4(host) && !host.startsWith('[');
}

function isIpv4(host: string): boolean {
  return /^\d{1,3}(?:\.\d{1,3}){3}$/u.test(host);
}
