import type { FastifyInstance } from 'fastify';
import { methodNotAllowed, notFound } from '#server/errors.ts';

interface KnownPath {
  readonly pattern: RegExp;
  readonly methods: Set<string>;
}

/**
 * Responds to requests without a route: 405 with `Allow` if the path has other methods, 404 if there is no such path, and
 * 204 with `Allow` to `OPTIONS` on a known path. To be called before the routes are registered.
 */
export function addNotFoundHandler(app: FastifyInstance): void {
  const paths = new Map<string, KnownPath>();
  app.addHook('onRoute', ({ url, method }) => {
    const known = paths.get(url) ?? { pattern: toPattern(url), methods: new Set(['OPTIONS']) };
    paths.set(url, known);
    for (const each of [method].flat()) known.methods.add(each);
  });

  // Before it looks for a route, Fastify would respond with 415 to an unknown content type, and with 400 to QUERY without
  // one. The parser of JSON ignores these bodies.
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
    return reply.code(204).header('allow', methods).headers(preflightHeaders(methods)).send();
  });
}

/** How long a browser may keep the response to a preflight request. */
const PREFLIGHT_MAX_AGE_SECONDS = 86_400;

/** Returns the headers of the response to a browser's preflight request. */
function preflightHeaders(methods: string): Record<string, string> {
  return {
    'access-control-allow-methods': methods,
    'access-control-allow-headers': 'Content-Type, Content-Encoding, X-Buyer-Session, X-Request-Id',
    'access-control-max-age': String(PREFLIGHT_MAX_AGE_SECONDS),
  };
}

/** Converts `/a/:b/c`: a parameter is one part of a path, `*` the rest of it. */
function toPattern(url: string): RegExp {
  const parts = url.split('/').map((part) => {
    if (part === '*') return '.*';
    return part.startsWith(':') ? '[^/]+' : RegExp.escape(part);
  });
  return new RegExp(`^${parts.join('/')}$`);
}
