/**
 * A load balancer in front of nodes, as docs/operations/scale-out.md configures nginx: each request goes to the next node in turn,
 * and to another one if the connection is refused. What a node may have received is not sent again.
 */
import { once } from 'node:events';
import {
  Agent,
  createServer,
  IncomingMessage,
  request as send,
  type ServerResponse,
} from 'node:http';
import { buffer } from 'node:stream/consumers';

import { codeOf } from '#server/lib/unknown-values.ts';

import { eventually } from '../../../../server/test/eventually.ts';
import { listenOnFreePort } from '../../../../server/test/ports.ts';

interface Node {
  readonly origin: string;
  /** Keeps connections to the node open, as proxies do. */
  readonly agent: Agent;
  pending: number;
  answered: number;
}

/** A running balancer. */
export interface Balancer extends AsyncDisposable {
  readonly url: string;
  /** Sends requests to a node from now on. */
  add(origin: string): void;
  /** Sends no further requests to a node, and waits until those that it has are answered. */
  remove(origin: string): Promise<void>;
  /** The number of requests that a node answered since it was added. */
  countAnswers(origin: string): number;
}

/** Starts a balancer on a free port of the loopback address. */
export async function startBalancer(): Promise<Balancer> {
  const nodes = new Map<string, Node>();
  let turn = 0;
  const chooseOrder = (): Node[] => {
    const all = [...nodes.values()];
    const first = (turn += 1) % Math.max(all.length, 1);
    return [...all.slice(first), ...all.slice(0, first)];
  };
  const server = createServer(
    (request, response) => void balance(request, response, chooseOrder()),
  );
  const port = await listenOnFreePort(server);
  return {
    url: `http://127.0.0.1:${port}`,
    add: (origin) =>
      void nodes.set(origin, {
        origin,
        agent: new Agent({ keepAlive: true }),
        pending: 0,
        answered: 0,
      }),
    async remove(origin) {
      const node = nodes.get(origin);
      nodes.delete(origin);
      await eventually(() => (node?.pending ?? 0) === 0);
      node?.agent.destroy();
    },
    countAnswers: (origin) => nodes.get(origin)?.answered ?? 0,
    async [Symbol.asyncDispose]() {
      for (const { agent } of nodes.values()) agent.destroy();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function balance(
  request: IncomingMessage,
  response: ServerResponse,
  order: readonly Node[],
): Promise<void> {
  const body = await buffer(request);
  for (const node of order) {
    const answer = await forward(node, request, body);
    if (answer === 'refused') continue;
    return void response.writeHead(answer.status, answer.headers).end(answer.body);
  }
  response.writeHead(502).end('no node accepts connections');
}

interface NodeAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | string;
}

async function forward(
  node: Node,
  { headers, method, url = '/' }: IncomingMessage,
  body: Buffer,
): Promise<NodeAnswer | 'refused'> {
  node.pending += 1;
  try {
    const sent = send(node.origin + url, { agent: node.agent, headers, method }).end(body);
    const [answer]: unknown[] = await once(sent, 'response');
    if (!(answer instanceof IncomingMessage)) throw new Error('there is no answer');
    const content = await buffer(answer);
    node.answered += 1;
    return { status: answer.statusCode ?? 502, headers: selectHeaders(answer), body: content };
  } catch (error) {
    if (codeOf(error) === 'ECONNREFUSED') return 'refused';
    return {
      status: 502,
      headers: {},
      body: `${node.origin} broke the connection: ${String(error)}`,
    };
  } finally {
    node.pending -= 1;
  }
}

/** Not those of the connection to the node. */
function selectHeaders({ headers }: IncomingMessage): Record<string, string> {
  const { 'content-type': type = '', 'retry-after': retryAfter } = headers;
  return {
    'content-type': type,
    ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
  };
}
