/** Serves the operations that the contract declares. */
import {
  grantOf,
  type FileContent,
  type InputOf,
  type Operation,
  type OutputOf,
} from '@latchkey/contract';
import type { FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import type { Readable } from 'node:stream';

import type { App } from './app-instance.ts';
import { operatorOf, type RequestOperator } from './require-operator.ts';

/** A request to an operation: its operator, and what it sent, which fits the schemas. */
export type OperationRequest<Of extends Operation> = InputOf<Of> & {
  readonly operator: RequestOperator;
};

/** What a handler returns: the response, or the stream of a file. */
type Returned<Of extends Operation> = OutputOf<Of> extends FileContent ? Readable : OutputOf<Of>;

/** Answers a request. `reply` is for headers and files. */
export type OperationHandler<Of extends Operation> = (
  request: OperationRequest<Of>,
  reply: FastifyReply,
) => Returned<Of> | Promise<Returned<Of>>;

/** Registers the route of an operation. */
export function serveOperation<Of extends Operation>(
  app: App,
  of: Of,
  handle: OperationHandler<Of>,
): void {
  app.route({
    method: of.method,
    url: `/api/v1/admin/${of.path}`,
    config: { access: accessOf(of) },
    schema: schemaOf(of),
    ...(of.maxBodyBytes === undefined ? {} : { bodyLimit: of.maxBodyBytes }),
    handler: (request, reply) => {
      if (of.status !== undefined) void reply.code(of.status);
      return handle(readRequest<Of>(request), reply);
    },
  });
}

function accessOf({ permission }: Operation) {
  const { role, reauthenticate = false } = grantOf(permission);
  return { role, fresh: reauthenticate };
}

function readRequest<Of extends Operation>(request: FastifyRequest): OperationRequest<Of> {
  const { params, query, body } = request;
  const sent = { params, query, body, operator: operatorOf(request) };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Fastify compared it with the schemas of the operation.
  return sent as unknown as OperationRequest<Of>;
}

function schemaOf(of: Operation): FastifySchema {
  const { params, query, body } = of;
  return {
    operationId: of.id,
    tags: [`admin: ${of.path.split('/')[0]}`],
    summary: of.summary,
    ...(of.description === undefined ? {} : { description: of.description }),
    ...(params === undefined ? {} : { params }),
    ...(query === undefined ? {} : { querystring: query }),
    ...(body === undefined ? {} : { body }),
    response: { [of.status ?? 200]: responseOf(of) },
    ...(of.errors === undefined ? {} : { problems: of.errors }),
  };
}

function responseOf({ response }: Operation): object {
  if (!('file' in response)) return response;
  const { file, description } = { description: '', ...response };
  return { description, content: { [String(file)]: { schema: { type: 'string' } } } };
}
