import type { IncomingMessage } from 'node:http';
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
