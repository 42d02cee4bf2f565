import { sign, type WrittenEvent } from '../../soak/year/writers/delivery.ts';
import {
  closeConnections,
  openConnections,
  type HttpConnection,
  type SignedBody,
  type Target,
} from './http-connection.ts';

/**
 * Sends the events of buyers to the service as fast as it answers: those of a buyer in their order, and those of as many
 * buyers at once as there are connections.
 * @param buyers the events of each one, all of one provider
 * @throws if an event is not answered with 200
 */
export async function deliverEvents(
  target: Target,
  buyers: readonly (readonly WrittenEvent[])[],
  connections: number,
): Promise<void> {
  const [first] = buyers.flat();
  if (first === undefined) return;
  const { path } = sign(first, new Date());
  const opened = await openConnections({ target, path, connections });
  const queue = buyers.values();
  await Promise.all(
    opened.map(async (connection) => {
      for (const events of queue) for (const event of events) await deliver(connection, event);
    }),
  );
  await closeConnections(opened);
}

async function deliver(connection: HttpConnection, event: WrittenEvent): Promise<void> {
  const status = await new Promise<number>((resolve) =>
    connection.send(toSignedBody(event), resolve),
  );
  if (status !== 200) throw new Error(`${event.eventId} was answered with ${status}`);
}

function toSignedBody(event: WrittenEvent): SignedBody {
  const { headers } = sign(event, new Date());
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return { body: event.body, headerLines: lines.join('') };
}
