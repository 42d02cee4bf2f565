import { STATUS_CODES } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Who is refused has this long to read why. */
const FAREWELL_MS = 2000;

const HEADERS = {
  'Content-Type': 'text/plain; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
} as const;

/** Answers what is no WebSocket: the question whether the agent is well, and nothing else. */
export function answerRequest(request: IncomingMessage, response: ServerResponse): void {
  const [path] = (request.url ?? '').split('?');
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (path !== '/health')
    send(response, 404, 'There is nothing here but /health and the WebSocket.');
  else if (isRead) send(response, 200, 'OK');
  else send(response, 405, 'Only GET is taken here.', { Allow: 'GET, HEAD' });
}

function send(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const body = `${text}\n`;
  const length = { 'Content-Length': Buffer.byteLength(body), Connection: 'close' };
  response.writeHead(status, { ...HEADERS, ...headers, ...length }).end(body);
}

/** Refuses over a bare connection, which Node.js has handed over, and ends it. */
export function refuse(socket: Duplex, status: number, text: string): void {
  const body = `${text}\n`;
  const headers = Object.entries({
    ...HEADERS,
    ...(status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}),
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.once('finish', () => socket.destroy());
  setTimeout(() => socket.destroy(), FAREWELL_MS).unref();
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers.join('')}\r\n${body}`);
}
