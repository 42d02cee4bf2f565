import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { after } from 'node:test';

import type { PaddleEvent } from './paddle-events.ts';

export type StubAnswer = (request: IncomingMessage, response: ServerResponse) => void;

/** A stub of Paddle's API. */
export interface PaddleApiStub {
  readonly url: string;
  /** The received requests. */
  readonly requests: readonly {
    readonly url: string;
    readonly authorization: string | undefined;
  }[];
  /** The next responses; none at first. */
  answer: StubAnswer;
}

/** Starts a stub, which stops at the end of the test file. */
export async function startPaddleApiStub(): Promise<PaddleApiStub> {
  const resources = new AsyncDisposableStack();
  after(() => resources.disposeAsync());
  return openPaddleApiStub(resources);
}

/** Starts a stub for a program that is not a test. @param resources stops it */
export async function openPaddleApiStub(resources: AsyncDisposableStack): Promise<PaddleApiStub> {
  const requests: { url: string; authorization: string | undefined }[] = [];
  const server = createServer((request, response) => {
    requests.push({ url: request.url ?? '', authorization: request.headers.authorization });
    stub.answer(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  resources.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the stub has no port');
  const stub: PaddleApiStub = {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    answer: () => {},
  };
  return stub;
}

/** Responds with JSON, or with a text as it is. */
export function answerJson(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): StubAnswer {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

const EVENTS_PER_PAGE = 2;

/** Responds with a page of Paddle's event log. */
export function answerLog(events: readonly PaddleEvent[]): StubAnswer {
  return (request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://localhost');
    const start = events.findIndex(({ event_id: id }) => id === searchParams.get('after')) + 1;
    answerJson(200, { data: events.slice(start, start + EVENTS_PER_PAGE) })(request, response);
  };
}
