import { BlockList, isIPv6 } from 'node:net';

import type { HostFacts } from '../facts.ts';

/** Addresses that are unreachable from the internet (RFC 1918, 6598, 3927, 4193, 4291). */
const UNREACHABLE = new BlockList();
for (const [network, prefix, type] of [
  ['10.0.0.0', 8, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['fc00::', 7, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
] as const) {
  UNREACHABLE.addSubnet(network, prefix, type);
}

export interface AddressCheck {
  readonly notes: readonly string[];
  readonly objections: readonly string[];
}

/**
 * Checks whether an authority that resolves a domain reaches this machine. Behind NAT a machine does not know its public
 * address, so the result is a note.
 */
export function checkAddresses(
  domain: string,
  {
    addresses,
    domainAddresses,
    resolverFault,
  }: Pick<HostFacts, 'addresses' | 'domainAddresses' | 'resolverFault'>,
): AddressCheck {
  const own = new Set(addresses.map(normalizeAddress));
  const elsewhere = domainAddresses.filter((address) => !own.has(normalizeAddress(address)));
  const there = domainAddresses.join(', ');
  const here = addresses.length === 0 ? 'none that is reachable' : addresses.join(', ');
  if (domainAddresses.length === 0 && resolverFault !== null) {
    return objectTo(
      `The name servers of this machine do not answer for ${domain} (${resolverFault}), so its addresses are unknown: correct /etc/resolv.conf or the service behind it (resolvectl status), or skip this check with --skip-dns-check.`,
    );
  }
  if (domainAddresses.length === 0) {
    return objectTo(
      `${domain} has no address in the DNS, so no certificate can be issued for it: add a record with the address of this machine (${here}), or skip this check with --skip-dns-check.`,
    );
  }
  if (elsewhere.length === 0) return { notes: [], objections: [] };
  if (elsewhere.length < domainAddresses.length) {
    return note(
      `${domain} also resolves to ${elsewhere.join(', ')}, which is not an address of this machine: an authority that validates there issues no certificate.`,
    );
  }
  if (elsewhere.some((address) => mayBeBehindNat(address, addresses))) {
    return note(
      `${domain} resolves to ${there}, and this machine has only private addresses (${here}): port 80 must be forwarded to it for the certificate.`,
    );
  }
  return objectTo(
    `${domain} resolves to ${there} and not to this machine (${here}): correct its record in the DNS, or skip this check with --skip-dns-check where a proxy or a router forwards port 80.`,
  );
}

/**
 * Whether connections to an address may reach a machine that does not have it: a public one, where the machine's own of the
 * same family are private.
 */
export function mayBeBehindNat(address: string, own: readonly string[]): boolean {
  const alike = own.filter((each) => isIPv6(each) === isIPv6(address));
  const isHidden = alike.length > 0 ? alike.every(isUnreachable) : own.length === 0;
  return isHidden && !isUnreachable(address);
}

function isUnreachable(address: string): boolean {
  return UNREACHABLE.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** Returns the canonical notation of an address. */
function normalizeAddress(address: string): string {
  return isIPv6(address) ? new URL(`http://[${address}]`).hostname : address;
}

function note(text: string): AddressCheck {
  return { notes: [text], objections: [] };
}

function objectTo(text: string): AddressCheck {
  return { notes: [], objections: [text] };
}
