import { isIPv4, isIPv6 } from 'node:net';

/**
 * What counts as one visitor: an IPv4 address, or the 64 bits of an IPv6 address that belong to one network.
 * @param address as a socket tells it; undefined when the visitor has gone already
 */
export function toVisitor(address: string | undefined): string {
  if (address === undefined) return 'unknown';
  const mapped = address.replace(/^::ffff:(?=\d+\.)/iu, '');
  if (isIPv4(mapped) || !isIPv6(mapped)) return mapped;
  const [head = '', tail] = (mapped.split('%')[0] ?? '').split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const gap = tail === undefined ? 0 : 8 - before.length - after.length;
  const groups = [...before, ...Array<string>(Math.max(0, gap)).fill('0'), ...after];
  return `${groups.slice(0, 4).join(':')}::/64`;
}

/** Programs on this machine; a reverse proxy among them stands for many visitors. */
export function isLoopback(address: string | undefined): boolean {
  return address !== undefined && /^(?:::ffff:)?127\.|^::1$/iu.test(address);
}
