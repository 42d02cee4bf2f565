import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { gunzipSync } from 'node:zlib';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import {
  invalidEncoding,
  invalidRequest,
  payloadTooLarge,
  unsupportedEncoding,
  unsupportedMediaType,
} from '#server/errors.ts';
import { hasCode, messageOf } from '#server/lib/unknown-values.ts';
import { findStructureProblem } from './json-structure.ts';
import { reserveInflatedBytes } from './limit-load.ts';
import { readBody } from './read-body.ts';

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

/**
 * Reads bodies: JSON when the content type says so or is missing, 415 for any other type.
 * Bodies are read whole before their type is checked, so that a body beyond the limit is 413 for any type.
 */
export function addJsonParser(app: FastifyInstance): void {
  addParser(app, parseUnlessUnrouted);
}

type ParseBody = (request: FastifyRequest, body: Buffer) => unknown;

function addParser(app: FastifyInstance, parse: ParseBody): void {
  app.removeAllContentTypeParsers();
  // The lookup of a type by its name is faster than that of `*`.
  app.addContentTypeParser(['application/json', '*'], (request, payload, done) => {
    readBody(request, payload, (error, body) => {
      const parsed = error === null ? tryToParse(parse, request, body) : { error };
      if ('error' in parsed) done(parsed.error);
      else done(null, parsed.value);
    });
  });
}

function tryToParse(
  parse: ParseBody,
  request: FastifyRequest,
  body: Buffer,
): { readonly value: unknown } | { readonly error: Error } {
  try {
    return { value: parse(request, body) };
  } catch (error) {
    request.isBodyRefused = true;
    return {
      error: error instanceof Error ? error : new Error('unreadable body', { cause: error }),
    };
  }
}

/** Without a route the body is not used, and the response is 404. */
function parseUnlessUnrouted(request: FastifyRequest, body: Buffer): unknown {
  return request.is404 ? undefined : readJsonBody(request.headers, body);
}

/**
 * Reads a body as its headers describe it; undefined when there is none.
 * @throws unsupportedMediaType (415), InvalidRequestError (422)
 */
export function readJsonBody(headers: IncomingHttpHeaders, body: Buffer): unknown {
  requireJsonType(headers);
  if (readEncoding(headers) !== 'identity') throw unsupportedEncoding(['identity']);
  return body.length === 0 ? undefined : parseJson(body);
}

function requireJsonType({ 'content-type': type }: IncomingHttpHeaders): void {
  if (type !== undefined && !JSON_TYPE.test(type)) throw unsupportedMediaType();
}

function readEncoding({ 'content-encoding': encoding }: IncomingHttpHeaders): string {
  return encoding?.trim().toLowerCase() ?? 'identity';
}

/** `x-gzip` is another name of it (RFC 9110 §8.4.1.3). */
const GZIP = new Set(['gzip', 'x-gzip']);

/**
 * How far a body may inflate. gzip can make a thousand times as much of a body, and 500 events with the same text of four kilobytes
 * are compressed to an 80th: a stranger needs a connection of that size to keep this process busy.
 */
const MAX_INFLATION = 100;

/** A smaller body is inflated whatever its factor: that takes as long as an ordinary request. */
const ALWAYS_INFLATED_BYTES = 256 * 1024;

/** A batch of 500 events with all properties has 20,000 parts and four levels. */
const STRUCTURE_LIMITS = { depth: 64, parts: 50_000 };

/**
 * Reads JSON bodies like {@link addJsonParser}, also compressed by gzip; for an encapsulated instance. Bodies with more than 50,000
 * values or 64 levels are 422.
 * @param maxBytes the limit of an inflated body; a larger one, and one of more than 256 KiB that is a hundred times as large as the
 * compressed one, is 413 and is not inflated completely
 */
export function addGzipJsonParser(app: FastifyInstance, maxBytes: number): void {
  addParser(app, (request, body) => {
    const { headers } = request;
    requireJsonType(headers);
    const encoding = readEncoding(headers);
    if (encoding === 'identity') return body.length === 0 ? undefined : parseModestJson(body);
    if (!GZIP.has(encoding)) throw unsupportedEncoding(['gzip', 'identity']);
    const usualBytes = Math.max(ALWAYS_INFLATED_BYTES, MAX_INFLATION * body.length);
    const inflated = inflate(body, Math.min(maxBytes, usualBytes));
    reserveInflatedBytes(request, inflated.length);
    return parseModestJson(inflated);
  });
}

function parseModestJson(body: Buffer): unknown {
  const problem = findStructureProblem(body, STRUCTURE_LIMITS);
  if (problem !== null) throw invalidJson(problem);
  return parseJson(body);
}

/** Synchronously: hundreds of concurrent bodies would be in memory at the same time. */
function inflate(body: Buffer, maxBytes: number): Buffer {
  try {
    return gunzipSync(body, { maxOutputLength: maxBytes });
  } catch (error) {
    throw hasCode(error, 'ERR_BUFFER_TOO_LARGE') ? payloadTooLarge() : invalidEncoding(error);
  }
}

/** Reads bodies of any type as bytes, which a signature covers; for an encapsulated instance. */
export function addRawParser(app: FastifyInstance): void {
  addParser(app, (_request, body) => body);
}

const BYTE_ORDER_MARK = 0xfeff;

/**
 * Parses a body. A byte order mark is ignored (RFC 8259 §8.1): some platforms cannot write UTF-8 without one.
 * @throws InvalidRequestError when it is not JSON in UTF-8
 */
function parseJson(body: Buffer): unknown {
  if (!isUtf8(body)) throw invalidJson('The body is not UTF-8');
  const decoded = body.toString();
  const text = decoded.charCodeAt(0) === BYTE_ORDER_MARK ? decoded.slice(1) : decoded;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalidJson(messageOf(error));
  }
}

/** @param reason may quote the body, whose control characters and lone surrogates a database does not store */
function invalidJson(reason: string): Error {
  const shown = reason.replaceAll(/[\p{Cc}\p{Cs}]/gu, '\u{FFFD}');
  return invalidRequest([
    { loc: ['body'], msg: `JSON decode error: ${shown}`, type: 'json_invalid' },
  ]);
}
