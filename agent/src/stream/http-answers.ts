import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

import { REFUSED_BY_AGENT, REFUSED_BY_HEADER } from '../proxy-identity.ts';
import type { Refusal } from './admission.ts';

/** How long a refused client has to read the reason. */
const LINGER_MS = 2000;

const HEADERS = {
  'Content-Type': 'text/plain; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
} as const;

/** The query of the live page, since browsers do not expose why a WebSocket was refused. */
const ADMISSION_QUERY = 'admission';

/**
 * Answers plain HTTP requests: health, the live page, and whether a client may watch.
 * @param findRefusal applies the rules of the WebSocket
 */
export async function answerRequest(
  request: IncomingMessage,
  response: ServerResponse,
  findRefusal: (request: IncomingMessage) => Refusal | null,
): Promise<void> {
  const [path, query] = (request.url ?? '').split('?');
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (path !== '/health' && path !== '/') send(response, 404, 'There is nothing here.');
  else if (!isRead) send(response, 405, 'Only GET and HEAD are supported.', { Allow: 'GET, HEAD' });
  else if (path === '/health') send(response, 200, 'OK');
  else if (query === ADMISSION_QUERY) sendAdmission(response, findRefusal(request));
  else await sendPage(request, response);
}

function sendAdmission(response: ServerResponse, refusal: Refusal | null): void {
  if (refusal === null) send(response, 200, 'OK');
  else send(response, refusal.status, refusal.text, describeRefusal(refusal.status));
}

async function sendPage(request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    // Loaded on first use: most agents have only programs as viewers.
    const { answerPage } = await import('../page/answer-page.ts');
    await answerPage(request, response);
  } catch (error) {
    send(response, 500, 'The page could not be built; see the log.');
    throw error;
  }
}

function describeRefusal(status: number): Readonly<Record<string, string>> {
  const challenge = status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {};
  return { [REFUSED_BY_HEADER]: REFUSED_BY_AGENT, ...challenge };
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

/** Writes a refusal to a raw connection and closes it. */
export function refuse(socket: Duplex, status: number, text: string): void {
  const body = `${text}\n`;
  const headers = Object.entries({
    ...HEADERS,
    ...describeRefusal(status),
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.once('finish', () => socket.destroy());
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers.join('')}\r\n${body}`);
}
