/** Feature: the license interfaces of Lemon Squeezy and Gumroad, for programs that were sold there; off unless a product offers them. */
import type { FastifyReply, FastifyRequest } from 'fastify';

import { notFound } from '#server/errors.ts';
import type { App } from '#server/http/app-instance.ts';
import { addRawParser } from '#server/http/json-parser.ts';

import type { LicenseDependencies } from '../licenses/dependencies.ts';
import type { Answer } from './answer.ts';
import { isOffered, type CompatibleSystem } from './find-compatible.ts';
import { handleGumroad } from './gumroad/handle.ts';
import { handleLemonSqueezy, LEMON_SQUEEZY_OPERATIONS } from './lemon-squeezy/handle.ts';
import { readFields, type RequestFields } from './read-fields.ts';

/** Their owners document them. */
const OPTIONS = { schema: { hide: true } } as const;

type Handle = (fields: RequestFields, network: string) => Promise<Answer>;

/** Registers the operations. */
export function registerCompatibleRoutes(app: App, deps: LicenseDependencies): void {
  app.register(async (scope: App) => {
    addRawParser(scope);
    const add = (path: string, system: CompatibleSystem, handle: Handle): void => {
      scope.post(path, OPTIONS, async (request, reply) => {
        if (!isOffered(deps, system)) throw notFound();
        return respond(request, reply, handle);
      });
    };
    for (const operation of LEMON_SQUEEZY_OPERATIONS) {
      add(`/v1/licenses/${operation}`, 'lemonSqueezy', (fields, network) =>
        handleLemonSqueezy(deps, operation, fields, network),
      );
    }
    add('/v2/licenses/verify', 'gumroad', (fields, network) =>
      handleGumroad(deps, fields, network),
    );
  });
}

async function respond(
  request: FastifyRequest,
  reply: FastifyReply,
  handle: Handle,
): Promise<FastifyReply> {
  const answer = await handle(await readFields(request), request.clientNetwork);
  return reply
    .code(answer.status)
    .headers(answer.headers ?? {})
    .send(answer.body);
}
