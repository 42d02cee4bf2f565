import { readForm } from '#server/http/read-form.ts';
import { readJsonBody } from '#server/http/json-parser.ts';
import type { FastifyRequest } from 'fastify';

/** The fields of a request: of its address, and of its body, which wins. */
export type RequestFields = ReadonlyMap<string, string>;

/** Also JSON:API, which the official client of Lemon Squeezy declares. */
const JSON_TYPE = /^application\/(?:vnd\.api\+)?json\s*(?:;|$)/iu;

/** The longest value; a key has at most 512 characters. */
const MAX_VALUE_CHARACTERS = 512;

/**
 * Reads the fields of a request as programs send them: a form, JSON with texts, numbers and booleans, or the query. A
 * value that is too long or of another type is left out, as if it were not sent.
 * @throws badRequest (400), InvalidRequestError (422) for a body that its type does not describe
 */
export async function readFields({
  query,
  headers,
  body,
}: Pick<FastifyRequest, 'query' | 'headers' | 'body'>): Promise<RequestFields> {
  const fields = new Map(listTexts(query));
  for (const [name, value] of await readBodyFields(headers, body)) fields.set(name, value);
  return fields;
}

async function readBodyFields(
  headers: FastifyRequest['headers'],
  body: unknown,
): Promise<Iterable<readonly [string, string]>> {
  if (!Buffer.isBuffer(body) || body.length === 0) return [];
  if (!JSON_TYPE.test(headers['content-type'] ?? '')) {
    return listTexts(Object.fromEntries(await readForm(headers['content-type'], body)));
  }
  return listTexts(readJsonBody(headers, body));
}

function listTexts(values: unknown): (readonly [string, string])[] {
  if (typeof values !== 'object' || values === null) return [];
  return Object.entries(values).flatMap(([name, value]) => {
    const text = readText(value);
    return text === null ? [] : [[name, text] as const];
  });
}

function readText(value: unknown): string | null {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string' || value.length > MAX_VALUE_CHARACTERS) return null;
  // PostgreSQL stores neither U+0000 nor lone surrogates.
  const text = value.replaceAll('\0', '').toWellFormed();
  return text.trim() === '' ? null : text;
}
