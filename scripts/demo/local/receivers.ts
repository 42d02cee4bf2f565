/** A receiver of outgoing webhooks on this machine, whose endpoints fail as those of other programs do. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';

import type { EventType } from '#server/features/outgoing-webhooks/rules/payload.ts';

interface Receiver {
  readonly description: string;
  /** Empty: all. */
  readonly eventTypes: readonly EventType[];
  /** The status of the answer to the nth request; null: the connection breaks. */
  readonly answer: (number: number) => number | null;
}

/** By the path of their URL. */
export const RECEIVERS = {
  crm: { description: 'Customer records', eventTypes: [], answer: () => 200 },
  chat: {
    description: 'Messages to the sales channel',
    eventTypes: ['license.created', 'license.expired', 'license.status_changed'],
    answer: (number) => (number % 7 === 0 ? 503 : 204),
  },
  warehouse: {
    description: 'Figures for the monthly report',
    eventTypes: ['license.created', 'license.renewed', 'activation.added', 'activation.removed'],
    answer: () => null,
  },
  'old-shop': {
    description: 'The shop before the move',
    eventTypes: ['license.created'],
    answer: () => 410,
  },
  spreadsheet: {
    description: 'Trials, for the marketing plan',
    eventTypes: ['trial.started'],
    answer: () => 200,
  },
} as const satisfies Readonly<Record<string, Receiver>>;

/** Starts the receiver on a port of the loopback interface. */
export async function startReceivers(port: number): Promise<Server> {
  const receivers = new Map<string, Receiver>(Object.entries(RECEIVERS));
  let number = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      number += 1;
      const status = receivers.get((request.url ?? '').slice(1))?.answer(number) ?? null;
      if (status === null) return void request.socket.destroy();
      response.writeHead(status).end();
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
