/** The console at `/console`: one document for every page, and its hashed files. */
import type { FastifyReply, FastifyRequest } from 'fastify';

import { notFound } from '#server/errors.ts';
import type { App } from '#server/http/app-instance.ts';
import { sendPage } from '#server/http/send-page.ts';

import { chooseEncoding } from './choose-encoding.ts';
import { openConsole } from './console-files.ts';
import { FLEET_POLICY, limitConnections, POLICY } from './policy.ts';

export interface ConsoleDependencies {
  /** Whether anybody could sign in. */
  readonly isAnyOperator: () => Promise<boolean>;
  /** The hosts with ports that the fleet page connects to; none for a visitor who is not signed in. */
  readonly findFleetHosts: (request: FastifyRequest) => Promise<readonly string[]>;
}

const DOCUMENT_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'x-frame-options': 'DENY',
} as const;

const FILE_HEADERS = {
  'cache-control': 'public, max-age=31536000, immutable',
  'cross-origin-resource-policy': 'same-origin',
  vary: 'Accept-Encoding',
} as const;

const hidden = { schema: { hide: true } };

/** Registers the console. Other responses are `no-store` and `nosniff` already. */
export function registerConsoleRoutes(app: App, deps: ConsoleDependencies): void {
  let hasOperator = false;
  /** Answers the first steps while nobody could sign in. */
  const answer = async (reply: FastifyReply, send: () => Promise<FastifyReply>) => {
    hasOperator ||= await deps.isAnyOperator();
    return hasOperator ? send() : sendFirstSteps(reply);
  };
  for (const path of ['/console', '/console/*']) {
    app.get(path, hidden, (_request, reply) => answer(reply, () => sendDocument(reply)));
  }
  app.get('/console/fleet', hidden, (request, reply) =>
    answer(reply, async () => sendFleetDocument(reply, await deps.findFleetHosts(request))),
  );
  // Also for the link that creates the first operator.
  app.get('/console/welcome', hidden, (_request, reply) => sendDocument(reply));
  app.get<{ Params: { name: string } }>(
    '/console/assets/:name',
    hidden,
    async ({ params, headers }, reply) => {
      const file = (await openConsole()).files.get(params.name);
      if (file === undefined) throw notFound();
      const encoding = chooseEncoding(headers['accept-encoding'] ?? '');
      reply.type(file.type).headers(FILE_HEADERS);
      if (encoding === 'identity') return reply.send(file.body);
      reply.header('content-encoding', encoding);
      return reply.send(encoding === 'br' ? file.brotli : file.gzip);
    },
  );
  app.get('/console/assets/*', hidden, () => {
    throw notFound();
  });
}

async function sendDocument(reply: FastifyReply): Promise<FastifyReply> {
  const { document } = await openConsole();
  return reply.headers(DOCUMENT_HEADERS).send(document);
}

/** The document of the fleet page, the only one that connects to other hosts than the service. */
async function sendFleetDocument(
  reply: FastifyReply,
  hosts: readonly string[],
): Promise<FastifyReply> {
  if (hosts.length === 0) return sendDocument(reply);
  const { document } = await openConsole();
  const headers = { ...DOCUMENT_HEADERS, 'content-security-policy': FLEET_POLICY };
  return reply.headers(headers).send(limitConnections(document, hosts));
}

/** Nobody can sign in: names the command, because a page that creates the first operator would serve the first visitor. */
function sendFirstSteps(reply: FastifyReply): FastifyReply {
  return sendPage(reply, 200, {
    language: 'en',
    sender: 'Latchkey',
    title: 'Create the first operator',
    paragraphs: [
      'The console has no operator yet. Run this command where the service runs:',
      'npx latchkey operator create EMAIL',
      'It prints a link that works once, for 30 minutes. Open it to choose a password and sign in.',
    ],
    button: null,
    note: null,
  });
}
