import { BlockList, isIPv6 } from 'node:net';

/** Creates a function that checks whether an address belongs to a trusted proxy. */
export function createTrustCheck(trustedProxies: readonly string[]): (address: string) => boolean {
  const proxies = new BlockList();
  for (const entry of trustedProxies) addToList(proxies, entry);
  return (address) => proxies.check(address, familyOf(address));
}

function addToList(list: BlockList, entry: string): void {
  const [address = '', prefix] = entry.split('/');
  if (prefix === undefined) list.addAddress(address, familyOf(address));
  else list.addSubnet(address, Number(prefix), familyOf(address));
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv6(address) ? 'ipv6' : 'ipv4';
}
