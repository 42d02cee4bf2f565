import { createNetworkCheck } from '#server/lib/network-check.ts';

/** Whether an endpoint may have an IP address. */
export type TargetCheck = (address: string) => boolean;

/** The setting that allows endpoints in networks that are not public. */
export const ALLOWED_NETWORKS_SETTING = 'LATCHKEY_WEBHOOK_ALLOWED_NETWORKS';

/**
 * IPv4 networks without public hosts: the entries of IANA's IPv4 Special-Purpose Address Registry (RFC 6890) that are not
 * globally reachable, the anycast of 6to4 relays (RFC 7526), multicast (RFC 5771) and reserved addresses (RFC 1112 §4).
 */
const SPECIAL_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];

/** The only network from which IANA assigns public IPv6 addresses (RFC 4291 §2.4). */
const PUBLIC_IPV6 = '2000::/3';

/**
 * IPv6 networks within it without public hosts: the entries of IANA's IPv6 Special-Purpose Address Registry. 2001::/23
 * contains Teredo, and 2002::/16 is 6to4: both embed IPv4 addresses.
 */
const SPECIAL_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

/** NAT64 (RFC 6052): the last 32 bits are an IPv4 address, to which a gateway connects. */
const NAT64 = '64:ff9b::/96';

const isSpecialIpv4 = createNetworkCheck(SPECIAL_IPV4);
const isPublicIpv6 = createNetworkCheck([PUBLIC_IPV6]);
const isSpecialIpv6 = createNetworkCheck(SPECIAL_IPV6);
/** Also IPv4-mapped IPv6 addresses. */
const isIpv4 = createNetworkCheck(['0.0.0.0/0']);
const isNat64 = createNetworkCheck([NAT64]);
const isSpecialNat64 = createNetworkCheck(SPECIAL_IPV4.map(toNat64));

function toNat64(network: string): string {
  const [address = '', prefix] = network.split('/');
  return `64:ff9b::${address}/${96 + Number(prefix)}`;
}

/**
 * Creates a check that accepts public addresses and those of the allowed networks. An IPv6 address that contains an
 * IPv4 address (mapped, NAT64) is accepted if that one is public.
 */
export function createTargetCheck(allowedNetworks: readonly string[]): TargetCheck {
  const isAllowed = createNetworkCheck(allowedNetworks);
  return (address) => isAllowed(address) || isPublic(address);
}

function isPublic(address: string): boolean {
  if (isIpv4(address)) return !isSpecialIpv4(address);
  if (isNat64(address)) return !isSpecialNat64(address);
  return isPublicIpv6(address) && !isSpecialIpv6(address);
}
