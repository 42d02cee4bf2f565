import { isStorableText, isUuid, parseDateTime, parseEmail } from '@latchkey/contract';
import type { FastifyServerOptions } from 'fastify';

/**
 * How Fastify's validator judges requests: the fast path, which only says yes or no. Nothing is coerced or removed, and
 * the formats are our own, stricter than usual wherever the database is. `explain` says why a request is refused.
 */
export const ajvOptions: NonNullable<FastifyServerOptions['ajv']> = {
  customOptions: {
    allErrors: false,
    allowUnionTypes: true,
    coerceTypes: false,
    removeAdditional: false,
    useDefaults: true,
    // The linter of openapi.json holds the schemas to their meta-schema; doing so here would slow every start.
    validateSchema: false,
  },
  onCreate: (ajv) => {
    ajv.addFormat('text', isStorableText);
    ajv.addFormat('uuid', isUuid);
    ajv.addFormat('date-time', (text: string) => parseDateTime(text) !== undefined);
    ajv.addFormat('email', (text: string) => 'email' in parseEmail(text));
  },
};
