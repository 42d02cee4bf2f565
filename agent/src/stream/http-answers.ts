import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

import type { ClientEvent } from '../log.ts';
import type { PageName } from '../page/page-source.ts';
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

const CLOSE = { Connection: 'close' } as const;

/** The query of pages, since browsers do not expose why a WebSocket was refused. */
const ADMISSION_QUERY = 'admission';

/** The rules of the WebSocket. */
interface Rules {
  readonly findRefusal: (request: IncomingMessage) => Refusal | null;
  /** Whether pages of another origin may watch, and so may read the reason of a refusal. */
  readonly isListedOrigin: (origin: string) => boolean;
  /** Answers an admitted scrape. */
  readonly sendMetrics: (
    request: IncomingMessage,
    response: ServerResponse,
    headers: Readonly<Record<string, string>>,
  ) => Promise<void>;
  /** Called when an answer could not be created; the client gets status 500. */
  readonly onFailure: (event: ClientEvent, error: unknown) => void;
}

const PATHS: ReadonlySet<string | undefined> = new Set(['/', '/fleet', '/health', '/metrics']);

/** Answers plain HTTP requests: health, the pages, metrics for scrapers, and whether a client may watch. */
export async function answerRequest(
  request: IncomingMessage,
  response: ServerResponse,
  rules: Rules,
): Promise<void> {
  const [path] = (request.url ?? '').split('?');
  try {
    await route(request, response, rules);
  } catch (error) {
    const [event, text] = FAILURES[path === '/metrics' ? 'metrics' : 'page'];
    rules.onFailure(event, error);
    if (response.headersSent) response.destroy();
    else send(response, 500, text);
  }
}

const FAILURES = {
  metrics: ['stream.metrics_failed', 'The metrics could not be written; see the log.'],
  page: ['stream.page_build_failed', 'The page could not be built; see the log.'],
} as const satisfies Record<string, readonly [ClientEvent, string]>;

async function route(
  request: IncomingMessage,
  response: ServerResponse,
  rules: Rules,
): Promise<void> {
  const [path, query] = (request.url ?? '').split('?');
  if (path === '/' && query === ADMISSION_QUERY && request.method === 'OPTIONS') {
    sendPreflight(request, response, rules);
    return;
  }
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (!PATHS.has(path)) send(response, 404, 'There is nothing here.');
  else if (!isRead) send(response, 405, 'Only GET and HEAD are supported.', { Allow: 'GET, HEAD' });
  else if (path === '/health') send(response, 200, 'OK');
  else if (path === '/metrics') await sendMetrics(request, response, rules);
  else if (path === '/fleet') await sendPage(request, response, 'fleet');
  else if (query === ADMISSION_QUERY) sendAdmission(request, response, rules);
  else await sendPage(request, response, 'live');
}

function sendAdmission(request: IncomingMessage, response: ServerResponse, rules: Rules): void {
  const refusal = rules.findRefusal(request);
  const shared = describeSharing(request, rules);
  if (refusal === null) send(response, 200, 'OK', shared);
  else
    send(response, refusal.status, refusal.text, { ...shared, ...describeRefusal(refusal.status) });
}

async function sendMetrics(
  request: IncomingMessage,
  response: ServerResponse,
  rules: Rules,
): Promise<void> {
  const refusal = rules.findRefusal(request);
  if (refusal !== null) {
    send(response, refusal.status, refusal.text, describeRefusal(refusal.status));
    return;
  }
  await rules.sendMetrics(request, response, { ...HEADERS, ...CLOSE });
}

/** Browsers ask first whether a page may send a token (CORS). They send no certificate then, so none is needed. */
function sendPreflight(request: IncomingMessage, response: ServerResponse, rules: Rules): void {
  const shared = describeSharing(request, rules);
  const isListed = ALLOW_ORIGIN in shared;
  response.writeHead(isListed ? 204 : 403, { ...shared, ...(isListed ? PREFLIGHT : {}) }).end();
}

const ALLOW_ORIGIN = 'Access-Control-Allow-Origin';

const PREFLIGHT = {
  'Access-Control-Allow-Methods': 'GET',
  'Access-Control-Allow-Headers': 'Authorization',
  'Access-Control-Max-Age': '600',
} as const;

/** Lets pages of listed origins read the answer. Other pages learn nothing, not even that an agent answered. */
function describeSharing(
  { headers: { origin } }: IncomingMessage,
  rules: Rules,
): Readonly<Record<string, string>> {
  const vary = { Vary: 'Origin' };
  if (origin === undefined || !rules.isListedOrigin(origin)) return vary;
  return {
    ...vary,
    [ALLOW_ORIGIN]: origin,
    // With the certificate of the visitor, which the WebSocket shows, too.
    'Access-Control-Allow-Credentials': 'true',
    'Access-Control-Expose-Headers': REFUSED_BY_HEADER,
  };
}

async function sendPage(
  request: IncomingMessage,
  response: ServerResponse,
  name: PageName,
): Promise<void> {
  // Loaded on first use: most agents have only programs as viewers.
  const { answerPage } = await import('../page/answer-page.ts');
  await answerPage(request, response, name);
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
