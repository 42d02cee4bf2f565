import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

/** A message of PostgreSQL's protocol: type, length, content. */
function message(type: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(4 + content.length);
  return Buffer.concat([Buffer.from(type), length, content]);
}

/** AuthenticationOk and ReadyForQuery: accepts a connection without a password. */
export const AUTHENTICATION_OK = Buffer.concat([
  message('R', Buffer.alloc(4)),
  message('Z', Buffer.from('I')),
]);

/** AuthenticationCleartextPassword. */
export const PASSWORD_REQUEST = message('R', Buffer.from([0, 0, 0, 3]));

/** Returns an ErrorResponse that rejects a connection. */
export function errorResponse(sqlState: string, text: string): Buffer {
  return message('E', Buffer.from(`SFATAL\0C${sqlState}\0M${text}\0\0`));
}

/** Returns the response to a query: one row with one text column. */
export function textRow(name: string, value: string): Buffer {
  const type = Buffer.alloc(18);
  // The type `text`, of varying length.
  type.writeInt32BE(25, 6);
  type.writeInt16BE(-1, 10);
  const column = Buffer.concat([Buffer.from(`${name}\0`), type]);
  const length = Buffer.alloc(4);
  length.writeInt32BE(value.length);
  const one = Buffer.from([0, 1]);
  return Buffer.concat([
    message('T', Buffer.concat([one, column])),
    message('D', Buffer.concat([one, length, Buffer.from(value)])),
    message('C', Buffer.from('SHOW\0')),
    message('Z', Buffer.from('I')),
  ]);
}

/** How to connect to a fake server. */
export interface FakePostgres {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
}

/** SSLRequest (PostgreSQL, "Message Formats"): asks whether the connection continues with TLS. */
const TLS_REQUEST = Buffer.from([0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f]);

/**
 * Starts a server without TLS, with the part of PostgreSQL's protocol that a test needs; it stops when the test ends.
 * @param accept called with each connection and its startup message
 */
export async function startFakePostgres(
  t: TestContext,
  accept: (socket: Socket, startup: Buffer) => void,
): Promise<FakePostgres> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    const read = (startup: Buffer): void => {
      if (!startup.equals(TLS_REQUEST)) return accept(socket, startup);
      socket.write('N');
      socket.once('data', read);
    };
    socket.once('data', read);
  });
  server.listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return { host: address.address, port: address.port, user: 'latchkey', database: 'latchkey' };
}
