/** The console at `/console`: one document for every page, and its hashed files. */
import type { FastifyReply } from 'fastify';

import { notFound } from '#server/errors.ts';
import type { App } from '#server/http/app-instance.ts';
import { sendPage } from '#server/http/send-page.ts';

import { chooseEncoding } from './choose-encoding.ts';
import { openConsole } from './console-files.ts';

export interface ConsoleDependencies {
  /** Whether anybody could sign in. */
  readonly isAnyOperator: () => Promise<boolean>;
}

/** Nothing inline, nothing from elsewhere. Mail previews are documents of this service in a frame, with a policy of their own. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

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
export function registerConsoleRoutes(app: App, { isAnyOperator }: ConsoleDependencies): void {
  let hasOperator = false;
  for (const path of ['/console', '/console/*']) {
    app.get(path, hidden, async (_request, reply) => {
      hasOperator ||= await isAnyOperator();
      return hasOperator ? sendDocument(reply) : sendFirstSteps(reply);
    });
  }
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
