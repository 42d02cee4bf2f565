/** How operations prove who calls them, for the interface document. */
import type { FastifyContextConfig, FastifySchema } from 'fastify';

import { isRecord } from '#server/lib/unknown-values.ts';

/** `components.securitySchemes`. */
export const securitySchemes = {
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: 'An API key, created in the console or with `latchkey key create`.',
  },
  bearer: { type: 'http', scheme: 'bearer', description: 'The same API key.' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-latchkey',
    description: 'The session of an operator who signed in to the console.',
  },
  buyerSession: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Buyer-Session',
    description: 'What signing in with a code returned.',
  },
} as const;

type Requirement = Readonly<Record<string, readonly string[]>>;

const API_KEY: readonly Requirement[] = [{ apiKey: [] }, { bearer: [] }];
const SESSION: readonly Requirement[] = [{ session: [] }];

/** The headers that are credentials, with what they stand for. */
const CREDENTIALS: Readonly<Record<string, readonly Requirement[]>> = {
  'X-API-Key': API_KEY,
  'X-Buyer-Session': [{ buyerSession: [] }],
};

/**
 * Describes the credentials of an operation as requirements instead of headers, which generators would make arguments of
 * each method. A header that may be left out is an alternative to none.
 */
export function describeSecurity(
  schema: FastifySchema,
  access: FastifyContextConfig['access'],
): FastifySchema {
  if (typeof access === 'object') return { ...schema, ...requireOperator(access) };
  const { headers } = schema;
  if (!isRecord(headers) || !isRecord(headers['properties'])) return schema;
  const { properties, required } = headers;
  const names = Object.keys(properties).filter((name) => Object.hasOwn(CREDENTIALS, name));
  if (names.length === 0) return schema;
  const needed = new Set(Array.isArray(required) ? required : []);
  const security = names.flatMap((name) => {
    const [header = {}, ...others] = CREDENTIALS[name] ?? [];
    return needed.has(name) ? [header, ...others] : [{}, header];
  });
  return { ...schema, security, headers: withoutHeaders(headers, new Set(names)) };
}

function requireOperator({
  sessionOnly = false,
  permission,
}: {
  readonly sessionOnly?: boolean;
  readonly permission?: string;
}): object {
  const security = sessionOnly ? SESSION : [...API_KEY, ...SESSION];
  return { security, ...(permission === undefined ? {} : { 'x-permission': permission }) };
}

function withoutHeaders(headers: Record<string, unknown>, names: ReadonlySet<string>): object {
  const { properties, required, ...rest } = headers;
  const kept = Object.entries(Object(properties)).filter(([name]) => !names.has(name));
  const needed = Array.isArray(required) ? required.filter((name) => !names.has(String(name))) : [];
  return {
    ...rest,
    properties: Object.fromEntries(kept),
    ...(needed.length === 0 ? {} : { required: needed }),
  };
}
