import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import { HTTPValidationError, Problem, ref } from '@latchkey/contract';
import type { FastifySchema } from 'fastify';
import {
  type ErrorCode,
  errorCatalogue,
  errorDocumentationPath,
} from '@latchkey/contract/error-catalogue';

import { refusalsOf } from '../require-operator.ts';
import { describeSecurity, securitySchemes } from './describe-security.ts';
import { separateTypes } from './separate-types.ts';
import { shareRefusals } from './share-refusals.ts';

/** The version of the interface, not of the program. */
export const INTERFACE_VERSION = '1.0.0';

const DESCRIPTION = `Activates, validates and deactivates licenses, grants trials, turns payments into licenses, counts
daily use, collects events, keeps subscribers and sends outreach e-mail.

**Formats.** \`uuid\` is the 8-4-4-4-12 form. \`date-time\` in an answer is RFC 3339 in UTC with \`Z\`; in a request an
offset up to ±15:59 is taken, and none means UTC. \`text\` is any text without U+0000 and lone surrogates. Unknown fields
are ignored; operations of operators (below \`/api/v1/admin\`) refuse them with 422, so that a misspelt one is noticed.

**Refusals.** A request that does not fit its schema is answered with 422 and one item per fault. All other refusals are
problem details (RFC 9457) with a stable \`code\`; [all codes](/docs/errors). Every answer carries \`X-Request-Id\`.
What comes instead of any operation's answer: 400 for a request that cannot be read, 404 for an unknown path, 405 with
\`Allow\` for a method that a path does not serve, 408 for a request that does not arrive in time, 431 for too large headers.
Limits on requests are reported in \`RateLimit-Policy\` and \`RateLimit\` (draft-ietf-httpapi-ratelimit-headers-11).`;

/** Creates the interface document from the routes' schemas. */
export const interfaceDescription: FastifyDynamicSwaggerOptions = {
  openapi: {
    openapi: '3.1.0',
    info: {
      title: 'Latchkey',
      version: INTERFACE_VERSION,
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'This service' }],
    security: [],
    components: { securitySchemes },
    tags: [
      { name: 'licenses', description: 'Activation and validation of licenses' },
      { name: 'buyers', description: 'The licenses of the owner of an e-mail address' },
      { name: 'entitlements', description: 'Signed tokens that prove a license offline' },
      { name: 'trial', description: 'The one-time trial of a machine' },
      { name: 'usage', description: 'Daily use, per machine' },
      { name: 'events', description: 'Analytics events' },
      { name: 'subscribers', description: 'Newsletter subscribers' },
      { name: 'outreach', description: 'E-mail in bulk' },
      { name: 'billing', description: 'Events of payment providers' },
      { name: 'admin: session', description: 'Signing in to the operator interface' },
      { name: 'admin: licenses', description: 'Licenses and their machines, for operators' },
      { name: 'admin: operators', description: 'The accounts of the console' },
      { name: 'admin: outreach', description: 'Campaigns: mails to subscribers and customers' },
      { name: 'admin: subscribers', description: 'Newsletter subscribers, for operators' },
      {
        name: 'admin: suppressions',
        description: 'Addresses without newsletter and outreach, for operators',
      },
      { name: 'admin: keys', description: 'API keys, and the keys that sign entitlements' },
      { name: 'admin: audit', description: 'The audit log and its chain' },
      { name: 'admin: payments', description: 'Events of payment providers, for operators' },
      { name: 'admin: usage', description: 'Reports of use, for operators' },
      { name: 'admin: events', description: 'Reports of events, for operators' },
      { name: 'admin: start', description: 'The search and the overview of the console' },
      { name: 'admin: trials', description: 'Trials and their conversion' },
      { name: 'admin: customers', description: 'Customers, installs and machines' },
      { name: 'admin: webhooks', description: 'Outgoing webhooks, for operators' },
      {
        name: 'admin: health',
        description: 'Health, jobs, catalogue and settings, for operators',
      },
      { name: 'admin: fleet', description: 'Servers watched by agents, for operators' },
      { name: 'admin: mails', description: 'Mails of all kinds, for operators' },
      { name: 'health', description: 'Probes and the health report' },
      { name: 'service', description: 'The service itself' },
    ],
  },
  refResolver: {
    buildLocalReference: (schema, _baseUri, _fragment, index) =>
      typeof schema['$id'] === 'string' ? schema['$id'] : `schema-${index}`,
  },
  transform: ({ schema, url, route }) => ({
    schema: documentRefusals(
      describeSecurity(schema, route.config?.access),
      url,
      refusalsOf(route.config?.access, route.method),
    ),
    url,
  }),
  transformObject: (document) =>
    'openapiObject' in document
      ? separateTypes(shareRefusals(document.openapiObject))
      : document.swaggerObject,
};

/**
 * Adds the refusals that every operation of its kind shares to those that the route declares; probes are never refused.
 * @param ofAccess those of signing in and of the role
 */
function documentRefusals(
  schema: FastifySchema,
  url: string,
  ofAccess: readonly ErrorCode[],
): FastifySchema {
  const { problems = [], ...described } = schema;
  const { response } = schema;
  if (url.startsWith('/api/v1/health') || typeof response !== 'object') return described;
  const takesBody = schema.body !== undefined;
  const codes = new Set<ErrorCode>([
    ...problems,
    ...ofAccess,
    ...(takesBody ? (['payload_too_large', 'unsupported_media_type'] as const) : []),
    ...(schema.params === undefined ? [] : (['bad_request', 'uri_too_long'] as const)),
    ...(url === '/' ? [] : (['internal_error', 'database_unavailable'] as const)),
    'overloaded',
    'starting',
    'draining',
  ]);
  const { params, querystring, headers } = schema;
  const takesInput = takesBody || (params ?? querystring ?? headers) !== undefined;
  return {
    ...described,
    response: { ...response, ...(takesInput ? { 422: faults } : {}), ...describeProblems(codes) },
  };
}

const faults = {
  description: 'The request does not fit its schema.',
  content: { 'application/json': { schema: ref(HTTPValidationError) } },
};

function describeProblems(codes: Iterable<ErrorCode>): Record<string, object> {
  const byStatus = Object.groupBy(codes, (code) => String(errorCatalogue[code].status));
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, ofStatus = []]) => [
      status,
      {
        description: ofStatus
          .map((code) => `\`${code}\`: ${errorCatalogue[code].meaning}`)
          .join('\n\n'),
        ...(status === '429' || status === '503' ? { headers: retryAfter } : {}),
        content: {
          'application/problem+json': {
            schema: ref(Problem),
            examples: Object.fromEntries(ofStatus.map((code) => [code, exampleOf(code)])),
          },
        },
      },
    ]),
  );
}

const retryAfter = {
  'Retry-After': { type: 'integer', description: 'Seconds to wait before a retry.' },
};

function exampleOf(code: ErrorCode): { value: Problem } {
  const { status, title, meaning } = errorCatalogue[code];
  return {
    value: { type: errorDocumentationPath(code), title, status, detail: meaning, code },
  };
}
