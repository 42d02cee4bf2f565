import type { IncomingMessage } from 'node:http';
import { BlockList, isIPv6 } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { findClientAddress, networkOf } from '#server/lib/client-network.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * The key of limits per client: its IPv4 address or IPv6 /64, from the socket, or from `X-Forwarded-For` behind a
     * trusted proxy. `request.ip` is the address of the socket.
     */
    clientNetwork: string;
  }
}

/** Sets `clientNetwork` on every request. To be called on the root instance, before other hooks. */
export function identifyClients(
  app: FastifyInstance,
  isTrustedProxy: (address: string) => boolean,
): void {
  const readNetwork = createNetworkReader(isTrustedProxy);
  app.decorateRequest('clientNetwork', '');
  app.addHook('onRequest', (request, _reply, done) => {
    request.clientNetwork = readNetwork(request.raw);
    done();
  });
}

function createNetworkReader(isTrusted: (address: string) => boolean) {
  return ({ headers, socket }: IncomingMessage): string => {
    const address = socket.remoteAddress ?? '';
    const forwardedFor = headers['x-forwarded-for'];
    if (typeof forwardedFor !== 'string') return networkOf(address);
    return networkOf(findClientAddress(address, forwardedFor, isTrusted));
  };
}

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
