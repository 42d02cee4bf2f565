import { isIPv6 } from 'node:net';

/** How a socket that takes IPv4 and IPv6 alike names an IPv4 address (RFC 4291 §2.5.5.2). */
const MAPPED_IPV4 = /^::ffff:(\d+(?:\.\d+){3})$/i;

/**
 * What limits on clients count by: an IPv4 address, or the /64 of an IPv6 address, since a household or a server has a
 * whole /64 to choose from. Anything that is not an address is returned as it is.
 */
export function networkOf(address: string): string {
  const [, mapped] = MAPPED_IPV4.exec(address) ?? [];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address;
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
