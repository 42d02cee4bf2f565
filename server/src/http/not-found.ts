import type { FastifyInstance } from 'fastify';
import { methodNotAllowed, notFound } from '#server/errors.ts';
import { makePreflightHeaders } from './answer-headers.ts';

interface KnownPath {
  readonly pattern: RegExp;
  readonly methods: Set<string>;
}

/**
 * Answers what no route takes: 405 with `Allow` where the path has other methods, 404 where there is no such path.
 * `OPTIONS` on a known path is answered with 204 and `Allow`. Call it before the routes are registered.
 */
export function addNotFoundHandler(app: FastifyInstance): void {
  const paths = new Map<string, KnownPath>();
  app.addHook('onRoute', ({ url, method }) => {
    const known = paths.get(url) ?? { pattern: toPattern(url), methods: new Set(['OPTIONS']) };
    paths.set(url, known);
    for (const each of [method].flat()) known.methods.add(each);
  });

  // Fastify would answer 415 to a content type that it cannot read, and 400 to QUERY without one, before it looks whether
  // there is such a path. The parser of JSON leaves these bodies unread.
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.is404) request.raw.headers['content-type'] = 'application/json';
    done();
  });

  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const allow = new Set<string>();
    for (const { pattern, methods } of paths.values()) {
      if (pattern.test(path)) for (const method of methods) allow.add(method);
    }
    if (allow.size === 0) throw notFound();
    if (request.method !== 'OPTIONS') throw methodNotAllowed([...allow]);
    const methods = [...allow].join(', ');
    return reply.code(204).header('allow', methods).headers(makePreflightHeaders(methods)).send();
  });
}

/** `/a/:b/c` as a regular expression; a parameter is one part of a path, `*` all that is left of it. */
function toPattern(url: string): RegExp {
  const parts = url.split('/').map((part) => {
    if (part === '*') return '.*';
    return part.startsWith(':') ? '[^/]+' : RegExp.escape(part);
  });
  return new RegExp(`^${parts.join('/')}$`);
}
