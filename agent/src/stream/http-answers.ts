import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

import type { Refusal } from './admission.ts';

/** Who is refused has this long to read why. */
const FAREWELL_MS = 2000;

const HEADERS = {
  'Content-Type': 'text/plain; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
} as const;

/** Asks of the live page, which is not told why its WebSocket was refused. */
const ADMISSION_QUERY = 'admission';

/**
 * Answers what is no WebSocket: whether the agent is well, the live page, and why somebody may not watch.
 * @param findRefusal judges a visitor as the WebSocket does
 */
export async function answerRequest(
  request: IncomingMessage,
  response: ServerResponse,
  findRefusal: (request: IncomingMessage) => Refusal | null,
): Promise<void> {
  const [path, query] = (request.url ?? '').split('?');
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (path !== '/health' && path !== '/') send(response, 404, 'There is nothing here.');
  else if (!isRead) send(response, 405, 'Only GET is taken here.', { Allow: 'GET, HEAD' });
  else if (path === '/health') send(response, 200, 'OK');
  else if (query === ADMISSION_QUERY) sendAdmission(response, findRefusal(request));
  else await sendPage(request, response);
}

function sendAdmission(response: ServerResponse, refusal: Refusal | null): void {
  if (refusal === null) send(response, 200, 'OK');
  else send(response, refusal.status, refusal.text, challenge(refusal.status));
}

async function sendPage(request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    // Loaded for the first one who looks at it: most agents are watched by programs alone.
    const { answerPage } = await import('../page/answer-page.ts');
    await answerPage(request, response);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    send(response, 500, 'The page could not be made; the log says why.');
    throw new Error(`The live page could not be made: ${why}`, { cause: error });
  }
}

function challenge(status: number): Readonly<Record<string, string>> {
  return status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {};
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
    ...challenge(status),
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.once('finish', () => socket.destroy());
  setTimeout(() => socket.destroy(), FAREWELL_MS).unref();
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers.join('')}\r\n${body}`);
}
