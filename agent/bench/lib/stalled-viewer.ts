import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:tls';

/** A viewer that has connected and reads nothing. */
interface StalledViewer extends Disposable {
  /** Whether the agent still keeps the connection. */
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

/** State of a connection of which neither side has said that it ends, by proc_net_tcp. */
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
    // A socket that is not read does not hear that it was closed: the end stands behind what it has not read. So the
    // kernel is asked what the agent's side says.
    isKept: () => line.exec(readFileSync('/proc/net/tcp', 'utf8'))?.[1] === ESTABLISHED,
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

/** As proc_net_tcp writes it. */
function toAddress(port: number): string {
  return `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
}
