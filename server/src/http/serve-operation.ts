/** Serves the operations that the contract declares. */
import {
  grantOf,
  type FileContent,
  type InputOf,
  type Operation,
  type OutputOf,
} from '@latchkey/contract';
import type { FastifyContextConfig, FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import type { Readable } from 'node:stream';

import type { App } from './app-instance.ts';
import { operatorOf, type OperatorAccess, type RequestOperator } from './require-operator.ts';

/** A request to an operation: what it sent, which fits the schemas, and its operator unless the operation is public. */
export type OperationRequest<Of extends Operation> = InputOf<Of> &
  (Of['permission'] extends 'public' ? object : { readonly operator: RequestOperator });

/** What a handler returns: the response, or the content of a file. */
type Returned<Of extends Operation> =
  OutputOf<Of> extends FileContent ? Readable | string : OutputOf<Of>;

/** Answers a request. `reply` is for headers and files, `raw` for cookies and the client's network. */
export type OperationHandler<Of extends Operation> = (
  request: OperationRequest<Of>,
  reply: FastifyReply,
  raw: FastifyRequest,
) => Returned<Of> | Promise<Returned<Of>>;

/**
 * Registers the route of an operation.
 * @param config of the route, such as how it takes slots of the database
 */
export function serveOperation<Of extends Operation>(
  app: App,
  of: Of,
  handle: OperationHandler<Of>,
  config: FastifyContextConfig = {},
): void {
  app.route({
    method: of.method,
    url: `/api/v1/admin/${of.path}`,
    config: { ...config, access: accessOf(of) },
    schema: schemaOf(of),
    ...(of.maxBodyBytes === undefined ? {} : { bodyLimit: of.maxBodyBytes }),
    handler: (request, reply) => {
      if (of.status !== undefined) void reply.code(of.status);
      return handle(readRequest(of, request), reply, request);
    },
  });
}

function accessOf({ permission }: Operation): OperatorAccess | 'public' {
  if (permission === 'public') return permission;
  const { role, reauthenticate = false, sessionOnly = false } = grantOf(permission);
  return { role, fresh: reauthenticate, sessionOnly, permission };
}

function readRequest<Of extends Operation>(of: Of, request: FastifyRequest): OperationRequest<Of> {
  const { params, query, body } = request;
  const operator = of.permission === 'public' ? null : operatorOf(request);
  const sent = { params, query, body, operator };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Fastify compared it with the schemas of the operation.
  return sent as unknown as OperationRequest<Of>;
}

function schemaOf(of: Operation): FastifySchema {
  const { params, query, body } = of;
  return {
    operationId: of.id,
    tags: [tagOf(of)],
    summary: of.summary,
    ...(of.description === undefined ? {} : { description: of.description }),
    ...(params === undefined ? {} : { params }),
    ...(query === undefined ? {} : { querystring: query }),
    ...(body === undefined ? {} : { body }),
    response: { [of.status ?? 200]: responseOf(of) },
    ...(of.errors === undefined ? {} : { problems: of.errors }),
  };
}

/** Resources that are documented in the part of another, by the first word of their paths. */
const PARTS: Readonly<Record<string, string>> = {
  'api-keys': 'keys',
  'signing-keys': 'keys',
  catalog: 'health',
  doctor: 'health',
  jobs: 'health',
  'mail-relay': 'mails',
  'mail-templates': 'mails',
  settings: 'health',
  tasks: 'health',
  'fleet-servers': 'fleet',
  'webhook-deliveries': 'webhooks',
  'webhook-endpoints': 'webhooks',
  overview: 'start',
  search: 'start',
  sessions: 'session',
  customer: 'customers',
  installs: 'customers',
  machine: 'customers',
  'key-pools': 'licenses',
  'payment-events': 'payments',
  revenue: 'payments',
};

function tagOf({ path }: Operation): string {
  const [resource = ''] = path.split('/');
  return `admin: ${PARTS[resource] ?? resource}`;
}

function responseOf({ response }: Operation): object {
  if (!('file' in response)) return response;
  const { file, description } = { description: '', ...response };
  const type =
    file === 'application/json'
      ? { type: 'object', additionalProperties: true }
      : { type: 'string' };
  return { description, content: { [String(file)]: { schema: type } } };
}
