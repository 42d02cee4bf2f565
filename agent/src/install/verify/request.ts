import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { request, type RequestOptions } from 'node:https';

const TIMEOUT_MS = 5_000;
const MAX_BODY_BYTES = 1_000;

/** A local address, with the domain that viewers use. */
export interface Target {
  readonly host: string;
  readonly port: number;
  readonly domain: string;
  readonly path: string;
}

/** A client certificate to present. */
export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
}

export interface Answer {
  /** 101 for an opened WebSocket; null when the connection ended without an answer. */
  readonly status: number | null;
  readonly contentType: string;
  readonly body: string;
  /** Why there is no answer. */
  readonly fault: string | null;
}

/** Requests a page. The server certificate is not verified: locally it may be one for another name. */
export async function requestPage(
  target: Target,
  shown: ClientCertificate | null = null,
): Promise<Answer> {
  return ask(target, { headers: { Host: target.domain }, ...shown });
}

/** Requests a WebSocket, and closes it at once. */
export async function requestWebSocket(
  target: Target,
  shown: ClientCertificate | null = null,
  more: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const headers = {
    ...more,
    Host: target.domain,
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
  };
  return ask(target, { headers, ...shown });
}

async function ask(target: Target, options: RequestOptions): Promise<Answer> {
  const { host, port, domain, path } = target;
  return new Promise((resolve) => {
    const sent = request({
      ...options,
      host,
      port,
      path,
      servername: domain,
      rejectUnauthorized: false,
      agent: false,
    });
    const fail = (fault: string) => resolve({ status: null, contentType: '', body: '', fault });
    sent.setTimeout(TIMEOUT_MS, () => sent.destroy(new Error('no answer within 5 seconds')));
    sent.once('error', (error) => fail(error.message));
    sent.once('upgrade', (response, socket) => {
      socket.destroy();
      resolve(describe(response, ''));
    });
    sent.once('response', (response) => void readBody(response).then(resolve, fail));
    sent.end();
  });
}

async function readBody(response: IncomingMessage): Promise<Answer> {
  let body = '';
  for await (const part of response.setEncoding('utf8')) {
    body += String(part);
    if (body.length > MAX_BODY_BYTES) break;
  }
  return describe(response, body.slice(0, MAX_BODY_BYTES));
}

function describe({ statusCode, headers }: IncomingMessage, body: string): Answer {
  return {
    status: statusCode ?? null,
    contentType: headers['content-type'] ?? '',
    body,
    fault: null,
  };
}

/** Describes an answer in a few words. */
export function describeAnswer({ status, fault, body }: Answer): string {
  if (status === null) return fault ?? 'no answer';
  const [line = ''] = body.trim().split('\n');
  return line === '' || line.startsWith('<') ? `status ${status}` : `status ${status}: ${line}`;
}
