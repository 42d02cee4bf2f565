import { isIP, isIPv6 } from 'node:net';

/** The forms in which a socket for both families names an IPv4 address (RFC 4291 §2.5.5.2). */
const MAPPED_IPV4 = /^::ffff:(\d+(?:\.\d+){3})$/i;
const MAPPED_IPV4_HEX = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/i;

/**
 * Returns the key of limits per client: an IPv4 address, or the /64 of an IPv6 address, all of which a household or a
 * server can use. Text that is not an address, and a network, are returned unchanged.
 */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  return readMappedIpv4(address) ?? readPrefix64(address);
}

const SITE_GROUPS = 3;

/**
 * Returns the site of a network of {@link networkOf}: an IPv4 address, or the /48 of an IPv6 network, all of which one customer
 * of a provider can have (RFC 6177).
 */
export function siteOf(network: string): string {
  return network.split(':').slice(0, SITE_GROUPS).join(':');
}

function readMappedIpv4(address: string): string | null {
  const [, dotted] = MAPPED_IPV4.exec(address) ?? [];
  if (dotted !== undefined) return dotted;
  const [, high, low] = MAPPED_IPV4_HEX.exec(address) ?? [];
  if (high === undefined || low === undefined) return null;
  const bits = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return bits.flatMap((group) => [group >> 8, group & 255]).join('.');
}

function readPrefix64(address: string): string {
  const [head = '', tail = ''] = address.split('::');
  const leading = head === '' ? [] : head.split(':');
  const trailing = tail === '' ? [] : tail.split(':');
  const zeros = Array.from(
    { length: Math.max(0, 8 - leading.length - trailing.length) },
    () => '0',
  );
  return [...leading, ...zeros, ...trailing]
    .slice(0, 4)
    .map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''))
    .join(':');
}

/**
 * An entry of `X-Forwarded-For` with what proxies put around the address: a port, brackets, quotes, or the parameters
 * of `Forwarded` (RFC 7239 §6: `for="[2001:db8::1]:4711";proto=https`).
 */
const FORWARDED_ENTRY =
  /^(?:for=)?"?(?:\[(?<ipv6>[^\]%]+)(?:%[^\]]*)?\]|(?<ipv4>\d{1,3}(?:\.\d{1,3}){3}))(?::(?:\d{1,5}|_[\w.-]+))?"?(?:;.*)?$/i;

/** Returns the address in an entry of `X-Forwarded-For`, without its port; null when there is none. */
export function readForwardedAddress(entry: string): string | null {
  if (isIP(entry) !== 0) return entry.split('%', 1)[0] ?? null;
  const { ipv4, ipv6 } = FORWARDED_ENTRY.exec(entry)?.groups ?? {};
  const address = ipv6 ?? ipv4;
  return address !== undefined && isIP(address) !== 0 ? address : null;
}

/**
 * Returns the address of the client behind trusted proxies. Each proxy appends the address of its client, so the
 * entries are read from the last to the first, up to the first one that is no trusted proxy. An entry without an
 * address ends the search at the previous hop: a client could otherwise change the text to count as a new client each
 * time.
 * @param socketAddress the other end of the connection
 * @param forwardedFor the value of `X-Forwarded-For`
 */
export function findClientAddress(
  socketAddress: string,
  forwardedFor: string,
  isTrusted: (address: string) => boolean,
): string {
  let client = socketAddress;
  let end = forwardedFor.length;
  while (end >= 0 && isTrusted(client)) {
    const comma = end === 0 ? -1 : forwardedFor.lastIndexOf(',', end - 1);
    const entry = forwardedFor.slice(comma + 1, end).trim();
    end = comma;
    if (entry === '') continue;
    const address = readForwardedAddress(entry);
    if (address === null) return client;
    client = address;
  }
  return client;
}
