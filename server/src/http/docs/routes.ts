import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

import { RootResponse, ref } from '@latchkey/contract';
import type { FastifyReply } from 'fastify';

import type { App } from '../app-instance.ts';
import { INTERFACE_VERSION } from './describe-interface.ts';
import { documentationPage, renderErrorPage } from './pages.ts';

/** Scripts and styles are loaded only from this service; Swagger UI loads small images from `data:`. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const CACHE_CONTROL = 'public, max-age=3600';

const ASSETS = {
  'docs.css': new URL('./assets/docs.css', import.meta.url),
  'docs.js': new URL('./assets/docs.js', import.meta.url),
  'swagger-ui.css': swaggerUi('swagger-ui.css'),
  'swagger-ui-bundle.js': swaggerUi('swagger-ui-bundle.js'),
};

/** Generated from the routes' schemas by `npm run openapi`. */
const INTERFACE_DOCUMENT = new URL('../../../../openapi.json', import.meta.url);

/** Registers the interface document, its page, and the page of error codes. */
export function registerDocumentationRoutes(app: App): void {
  const hidden = { schema: { hide: true } };
  // A process that dropped root may be unable to read a clone below /root.
  if (process.getuid?.() === 0) preload();

  app.get('/openapi.json', hidden, async (_request, reply) =>
    send(reply, 'application/json; charset=utf-8', await readOnce(INTERFACE_DOCUMENT)),
  );
  app.get('/docs', hidden, (_request, reply) => sendPage(reply, documentationPage));
  app.get('/docs/errors', hidden, (_request, reply) => sendPage(reply, renderErrorPage()));
  for (const [name, url] of Object.entries(ASSETS)) {
    const type = name.endsWith('.css') ? 'text/css' : 'text/javascript';
    app.get(`/docs/${name}`, hidden, async (_request, reply) =>
      send(reply, `${type}; charset=utf-8`, await readOnce(url)),
    );
  }
}

/** Registers `GET /`: name, version and links. */
export function registerRootRoute(app: App): void {
  const root: RootResponse = {
    name: 'Latchkey',
    version: INTERFACE_VERSION,
    description: 'Licensing, trials, usage and analytics for desktop software.',
    links: { documentation: '/docs', openapi: '/openapi.json', health: '/api/v1/health' },
  };
  app.get(
    '/',
    {
      schema: {
        operationId: 'getRoot',
        tags: ['service'],
        summary: 'Get the name and version of the service',
        response: { 200: ref(RootResponse, 'Name, version and links.') },
      },
    },
    async () => root,
  );
}

function sendPage(reply: FastifyReply, html: string): FastifyReply {
  reply.header('content-security-policy', PAGE_POLICY);
  return send(reply, 'text/html; charset=utf-8', html);
}

function send(reply: FastifyReply, type: string, body: string | Buffer): FastifyReply {
  return reply.type(type).header('cache-control', CACHE_CONTROL).send(body);
}

const files = new Map<string, Buffer>();

/** Reads a file at its first request and caches it. */
async function readOnce(url: URL): Promise<Buffer> {
  const file = files.get(url.href) ?? (await readFile(url));
  files.set(url.href, file);
  return file;
}

function preload(): void {
  for (const url of [INTERFACE_DOCUMENT, ...Object.values(ASSETS)]) {
    if (!files.has(url.href)) files.set(url.href, readFileSync(url));
  }
}

function swaggerUi(file: string): URL {
  return new URL(import.meta.resolve(`@fastify/swagger-ui/static/${file}`));
}
