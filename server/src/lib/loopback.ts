import { isIP } from 'node:net';

/** Whether a host name or an address, without brackets, is of the machine itself. */
export function isLoopback(host: string): boolean {
  const address = host.replace(/^::ffff:/iu, '');
  if (isIP(address) === 4) return address.startsWith('127.');
  return address === 'localhost' || address === '::1';
}
