import { once } from 'node:events';
import { request as send, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** A request of a client, as the proxy received it. */
export interface RecordedRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** A complete answer. */
export interface ServiceAnswer {
  readonly status: number;
  /** Names and values in turn, as they were sent. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

/** A request and the means to answer it. */
export interface Exchange {
  readonly request: RecordedRequest;
  readonly response: ServerResponse;
  /** Sends the request to the service. */
  readonly forward: () => Promise<ServiceAnswer>;
}

/** Headers of one connection (RFC 9110, 7.6.1), and the length, which may change. */
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length']);

/**
 * Sends a request to the service.
 * @param clientAddress the address for which the service counts it
 */
export async function forwardTo(
  service: string,
  { method, path, headers, body }: RecordedRequest,
  clientAddress: string,
): Promise<ServiceAnswer> {
  const outgoing = send(new URL(path, service), {
    method,
    headers: {
      ...withoutHopByHop(headers),
      'content-length': body.length,
      'x-forwarded-for': clientAddress,
    },
  });
  outgoing.end(body);
  const [incoming]: unknown[] = await once(outgoing, 'response');
  if (!isMessage(incoming)) throw new Error('the service sent no response');
  const answer = await buffer(incoming);
  return { status: incoming.statusCode ?? 0, rawHeaders: incoming.rawHeaders, body: answer };
}

/** Answers as the service did. */
export function passOn(
  response: ServerResponse,
  { status, rawHeaders, body }: ServiceAnswer,
): void {
  writeHead(response, status, rawHeaders, body.length);
  response.end(body);
}

/** Writes the status and the headers of an answer of the service. */
export function writeHead(
  response: ServerResponse,
  status: number,
  rawHeaders: readonly string[],
  length: number,
): void {
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (!HOP_BY_HOP.has(name.toLowerCase()))
      response.appendHeader(name, rawHeaders[index + 1] ?? '');
  }
  response.setHeader('content-length', length);
  response.writeHead(status);
}

function withoutHopByHop(headers: IncomingMessage['headers']): IncomingMessage['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name)));
}

function isMessage(value: unknown): value is IncomingMessage {
  return typeof value === 'object' && value !== null && 'rawHeaders' in value;
}
