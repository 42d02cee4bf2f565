import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { invalidRequest, unsupportedEncoding, unsupportedMediaType } from '#server/errors.ts';
import { locateJsonFault } from './validation/json-fault.ts';

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

/**
 * Reads bodies: JSON when the content type says so or nothing, 415 for any other type.
 * Bodies are read whole before their type is judged, so that an over-long one is 413 whatever its type.
 */
export function addJsonParser(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  // The common type by its name, which is looked up faster; the rest goes through the second.
  app.addContentTypeParser<Buffer>(
    ['application/json', '*'],
    { parseAs: 'buffer' },
    (request, body, done) => {
      try {
        done(null, readBody(request, body));
      } catch (error) {
        done(error instanceof Error ? error : new Error('unreadable body', { cause: error }));
      }
    },
  );
}

function readBody(request: FastifyRequest, body: Buffer): unknown {
  // Nobody will look at it, and 404 says more than a fault in it.
  return request.is404 ? undefined : readJsonBody(request.headers, body);
}

/**
 * Reads a body by what its headers say of it; none is undefined.
 * @throws unsupportedMediaType (415), InvalidRequestError (422)
 */
export function readJsonBody(headers: IncomingHttpHeaders, body: Buffer): unknown {
  const type = headers['content-type'];
  if (type !== undefined && !JSON_TYPE.test(type)) throw unsupportedMediaType();
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') throw unsupportedEncoding();
  return body.length === 0 ? undefined : parseJson(body);
}

/** Hands bodies of any type on as the bytes that came, which a signature covers; in an encapsulated instance. */
export function addRawParser(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>('*', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body);
  });
}

/**
 * Parses a body.
 * @throws InvalidRequestError when it is no JSON in UTF-8 (RFC 8259 §8.1).
 */
export function parseJson(body: Buffer): unknown {
  if (!isUtf8(body)) throw invalidJson(0, 'The body is not UTF-8');
  const text = body.toString();
  try {
    return JSON.parse(text);
  } catch {
    const { offset, reason } = locateJsonFault(text);
    throw invalidJson(offset, reason);
  }
}

function invalidJson(offset: number, reason: string): Error {
  return invalidRequest([
    { loc: ['body', offset], msg: `JSON decode error: ${reason}`, type: 'json_invalid' },
  ]);
}
