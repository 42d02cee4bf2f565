import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { text } from 'node:stream/consumers';

/** A received request. */
export interface ReceivedWebhook {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** The response of a receiver: a status, a status with headers, or a handler. */
export type WebhookAnswer =
  | number
  | { readonly status: number; readonly headers?: Record<string, string> }
  | ((response: ServerResponse) => void);

/** An HTTP server on the loopback address that stores what it receives. */
export interface WebhookReceiver extends AsyncDisposable {
  readonly url: string;
  readonly received: readonly ReceivedWebhook[];
  /** The next responses; 204 at first. */
  answer(next: WebhookAnswer): void;
  /** Resolves after a number of requests. */
  waitFor(count: number): Promise<void>;
}

/** The setting of a service that sends to receivers, whose address is not public. */
export const ALLOW_LOCAL_RECEIVERS = { LATCHKEY_WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' } as const;

/** Starts a receiver. @param port default: one of its own */
export async function startWebhookReceiver(port = 0): Promise<WebhookReceiver> {
  const received: ReceivedWebhook[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  let current: WebhookAnswer = 204;
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request).catch(() => null);
    // The sender was killed during the request.
    if (body === null) return;
    received.push({ path: request.url ?? '', headers: request.headers, body });
    respond(response, current);
    for (const { count, resolve } of waiting) if (received.length >= count) resolve();
  };
  const server = createServer((request, response) => void take(request, response));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it has no port');
  return {
    url: `http://127.0.0.1:${address.port}/hook`,
    received,
    answer: (next) => {
      current = next;
    },
    waitFor: (count) =>
      new Promise((resolve) => {
        if (received.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

function respond(response: ServerResponse, answer: WebhookAnswer): void {
  if (typeof answer === 'function') return answer(response);
  const { status, headers = {} } = typeof answer === 'number' ? { status: answer } : answer;
  response.writeHead(status, headers).end();
}
