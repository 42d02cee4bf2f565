import type { ValidationError } from '@latchkey/contract';
import type { FastifySchema } from 'fastify';
import { MAX_FAULTS, explain } from './explain.ts';
import { missing } from './faults.ts';

/** The parts of a request that schemas judge. */
interface RequestParts {
  readonly params: unknown;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

/** Lists the faults of a request: path, then headers, then body. */
export function explainRequest(schema: FastifySchema, request: RequestParts): ValidationError[] {
  return [
    ...explainPart(schema.params, request.params, 'path'),
    ...explainPart(schema.headers, withNamesOf(schema.headers, request.headers), 'header'),
    ...explainBody(schema.body, request.body),
  ].slice(0, MAX_FAULTS);
}

function explainPart(schema: unknown, value: unknown, place: string): ValidationError[] {
  return isSchema(schema) ? explain(schema, value, [place]) : [];
}

/** No body and a body of `null` are the same: what is required is not there. */
function explainBody(schema: unknown, body: unknown): ValidationError[] {
  if (!isSchema(schema)) return [];
  if (body === undefined || body === null) return [{ loc: ['body'], ...missing }];
  return explain(schema, body, ['body']);
}

/** Node has header names in lower case; the contract spells them in title case. */
function withNamesOf(
  schema: unknown,
  headers: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  if (!isSchema(schema) || !('properties' in schema) || !isSchema(schema.properties)) return {};
  const names = Object.keys(schema.properties);
  return Object.fromEntries(names.map((name) => [name, headers[name.toLowerCase()]]));
}

function isSchema(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
