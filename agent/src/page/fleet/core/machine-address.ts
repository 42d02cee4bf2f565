/** The port of an agent without another in its address. */
const DEFAULT_PORT = '4096';

/** Longer than any host name (253 characters) with a port. */
const MAX_ADDRESS_LENGTH = 300;

/** The characters of a host name or address with a port: no credentials, path, query, fragment, escapes or blanks. */
const ADDRESS = /^(?:\[[\da-f:.]+\]|[^\s/\\?#@%:;[\]]+)(?::(?<port>\d{1,5}))?$/iu;

/**
 * Parses the address of an agent.
 * @returns `host:port` in lower case, an international name in its ASCII form; null if it is invalid
 */
export function parseMachineAddress(text: string): string | null {
  const trimmed = text.trim();
  const found = trimmed.length > MAX_ADDRESS_LENGTH ? null : ADDRESS.exec(trimmed);
  if (found === null) return null;
  const whole = found.groups?.['port'] === undefined ? `${trimmed}:${DEFAULT_PORT}` : trimmed;
  if (!URL.canParse(`https://${whole}`)) return null;
  const { hostname, port, pathname } = new URL(`https://${whole}`);
  if (hostname === '' || hostname.length > 253 || port === '0' || pathname !== '/') return null;
  return `${hostname}:${port === '' ? '443' : port}`;
}

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
  const host = address.replace(/:\d+$/u, '');
  return (
    PRIVATE_NAME.test(host) || (isIpv4(host) && PRIVATE_IPV4.test(host)) || PRIVATE_IPV6.test(host)
  );
}

function isIpv4(host: string): boolean {
  return /^\d{1,3}(?:\.\d{1,3}){3}$/u.test(host);
}
