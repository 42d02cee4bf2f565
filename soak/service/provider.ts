import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';

import { addressOfBuyer } from '../load/actors/mails.ts';
import { purchaseOfCustomer } from '../load/actors/purchases.ts';

/** The API of the payment provider, which knows the addresses of the buyers; it can be down for a time. */
export interface Provider {
  readonly url: string;
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** Starts the API on a port of the loopback interface. */
export async function startProvider(port: number): Promise<Provider> {
  let server = await listen(port);
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
    async start() {
      server = await listen(port);
    },
  };
}

async function listen(port: number): Promise<Server> {
  const server = createServer((request, response) => answer(request.url ?? '', response));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function answer(url: string, response: ServerResponse): void {
  const body = url.startsWith('/events') ? { data: [] } : describeCustomer(url);
  response.writeHead(body === null ? 404 : 200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body ?? { error: { code: 'not_found' } }));
}

function describeCustomer(url: string): object | null {
  const id = /^\/customers\/([\w-]+)$/u.exec(url)?.[1] ?? '';
  const purchase = purchaseOfCustomer(id);
  if (purchase === null) return null;
  return { data: { id, email: addressOfBuyer(purchase), name: `Buyer ${purchase}`, locale: 'en' } };
}
