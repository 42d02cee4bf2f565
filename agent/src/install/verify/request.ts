import { randomBytes } from 'node:crypto';
import { type IncomingMessage, request as requestByHttp } from 'node:http';
import { request as requestByHttps, type RequestOptions } from 'node:https';

import { codeOf } from '../../errors.ts';
import { REFUSED_BY_AGENT, REFUSED_BY_HEADER } from '../../proxy-identity.ts';

const TIMEOUT_MS = 5_000;
const MAX_BODY_BYTES = 1_000;

/** A local address, with the domain that viewers use. */
export interface Target {
  readonly host: string;
  readonly port: number;
  readonly domain: string;
  readonly path: string;
  /** Whether to request it by http; default: by https. */
  readonly isPlain?: boolean;
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
  /** The target of a redirect; empty without one. */
  readonly location: string;
  /** The origin whose pages may read the answer (CORS); empty without one. */
  readonly sharedWith: string;
  readonly body: string;
  /** Whether the agent itself refused, and not a proxy in front of it. */
  readonly isRefusedByAgent: boolean;
  /** The reason for a missing answer; otherwise null. */
  readonly fault: string | null;
  /** The error code of the failure, such as `ECONNREFUSED`; empty with an answer. */
  readonly code: string;
}

const NO_ANSWER = {
  status: null,
  contentType: '',
  location: '',
  sharedWith: '',
  body: '',
  isRefusedByAgent: false,
} as const;

/** Requests a page. The server certificate is not verified, because a local server may present one for another name. */
export async function requestPage(
  target: Target,
  certificate: ClientCertificate | null = null,
  additional: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return send(target, { headers: { ...additional, Host: target.domain }, ...certificate });
}

/** Requests a WebSocket, and closes it at once. */
export async function requestWebSocket(
  target: Target,
  certificate: ClientCertificate | null = null,
  additional: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const headers = {
    ...additional,
    Host: target.domain,
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
  };
  return send(target, { headers, ...certificate });
}

async function send(target: Target, options: RequestOptions): Promise<Answer> {
  const { host, port, domain, path, isPlain = false } = target;
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const connection = { host, port, path, signal, servername: domain, agent: false };
  return new Promise((resolve) => {
    const request = isPlain ? requestByHttp : requestByHttps;
    const sent = request({ ...options, ...connection, rejectUnauthorized: false });
    const fail = (error: Error) => {
      const fault = signal.aborted ? 'no answer within 5 seconds' : error.message;
      const code = codeOf(error);
      resolve({ ...NO_ANSWER, fault, code });
    };
    sent.once('error', fail);
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
    location: headers.location ?? '',
    sharedWith: headers['access-control-allow-origin'] ?? '',
    body,
    isRefusedByAgent: headers[REFUSED_BY_HEADER.toLowerCase()] === REFUSED_BY_AGENT,
    fault: null,
    code: '',
  };
}

/** Describes an answer in a few words. */
export function describeAnswer({ status, fault, body }: Answer): string {
  if (status === null) return fault ?? 'no answer';
  const [line = ''] = body.trim().split('\n');
  return line === '' || line.startsWith('<') ? `status ${status}` : `status ${status}: ${line}`;
}
