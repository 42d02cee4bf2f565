import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { text } from 'node:stream/consumers';

/** A request as a receiver of webhooks got it. */
export interface ReceivedWebhook {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** What a receiver answers with: a status, one with headers, or whatever it does itself. */
export type WebhookAnswer =
  | number
  | { readonly status: number; readonly headers?: Record<string, string> }
  | ((response: ServerResponse) => void);

/** A real HTTP server on the loopback address that keeps what it is sent. */
export interface WebhookReceiver extends AsyncDisposable {
  readonly url: string;
  readonly received: readonly ReceivedWebhook[];
  /** What it answers from now on; at first 204. */
  answer(next: WebhookAnswer): void;
  /** Resolves once it has received so many. */
  waitFor(count: number): Promise<void>;
}

/** Starts a receiver on a port of its own. */
export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const received: ReceivedWebhook[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  let current: WebhookAnswer = 204;
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request).catch(() => null);
    // A sender that was killed in the middle of its message sent none.
    if (body === null) return;
    received.push({ path: request.url ?? '', headers: request.headers, body });
    respond(response, current);
    for (const { count, resolve } of waiting) if (received.length >= count) resolve();
  };
  const server = createServer((request, response) => void take(request, response));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
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
