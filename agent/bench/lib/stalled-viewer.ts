import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:tls';

/** A connected viewer that reads nothing. */
interface StalledViewer extends Disposable {
  /** Whether the agent keeps the connection. */
  isKept(): boolean;
}

const REQUEST = [
  'GET / HTTP/1.1',
  'Host: 127.0.0.1',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  '\r\n',
].join('\r\n');

/** The state of an established connection in /proc/net/tcp. */
const ESTABLISHED = '01';

/** Connects, reads the answer to the upgrade, and stops. */
export async function connectStalledViewer(port: number): Promise<StalledViewer> {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
  socket.on('error', () => socket.destroy());
  await once(socket, 'secureConnect');
  socket.write(REQUEST);
  await once(socket, 'readable');
  const [agents, viewers] = [port, socket.localPort ?? 0].map(toAddress);
  const line = new RegExp(`: ${agents} ${viewers} (..) `);
  return {
    // An unread socket does not report its end, which follows the unread data. So this reads the state of the agent's side
    // from the kernel.
    isKept: () => line.exec(readFileSync('/proc/net/tcp', 'utf8'))?.[1] === ESTABLISHED,
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

/** In the format of /proc/net/tcp. */
function toAddress(port: number): string {
  return `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
}
