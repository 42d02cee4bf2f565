import { BlockList, isIPv6 } from 'node:net';

/**
 * Creates a function that checks whether an IP address belongs to one of the networks. An IPv4-mapped IPv6 address
 * belongs to the networks of its IPv4 address.
 * @param networks addresses and CIDR networks
 */
export function createNetworkCheck(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const network of networks) addToList(list, network);
  return (address) => list.check(address, familyOf(address));
}

function addToList(list: BlockList, network: string): void {
  const [address = '', prefix] = network.split('/');
  if (prefix === undefined) list.addAddress(address, familyOf(address));
  else list.addSubnet(address, Number(prefix), familyOf(address));
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv6(address) ? 'ipv6' : 'ipv4';
}
