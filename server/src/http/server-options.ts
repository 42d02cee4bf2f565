import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';

import type { FastifyHttpOptions, FastifyInstance } from 'fastify';

import { badRequest } from '#server/errors.ts';

import { createClientErrorHandler } from './client-errors.ts';
import { explainFastifyError, sendProblem } from './error-handler.ts';

/** The largest body of an operation without a limit of its own. */
export const DEFAULT_BODY_LIMIT_BYTES = 64 * 1024;
/** In characters. */
const MAX_PARAMETER_LENGTH = 200;
const MAX_HEADER_BYTES = 16 * 1024;

const HEADERS_TIMEOUT_MS = 10_000;
/** Until the whole request, its body included, has arrived. */
const REQUEST_TIMEOUT_MS = 30_000;
/** How often the two limits above are enforced. */
const TIMEOUT_CHECK_INTERVAL_MS = 2_000;
/** Longer than the idle time of usual load balancers (60 s), so that they close idle connections first. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;

interface HttpOptions {
  /** See `createResponseHeaders`. */
  readonly responseHeaders: Readonly<Record<string, string>>;
}

/** Returns the options of Fastify and of Node's HTTP server: limits on all input of clients. */
export function createServerOptions({ responseHeaders }: HttpOptions) {
  return {
    bodyLimit: DEFAULT_BODY_LIMIT_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    http: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
      // Node would reject with an empty response; `requireHost` responds with a problem.
      requireHostHeader: false,
    },
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
    genReqId: readRequestId,
    // `observeRequests` logs; a logger for each request would cost more than most requests.
    logger: false,
    // `refuseUnlessReady` responds with a problem.
    return503OnClosing: false,
    clientErrorHandler: createClientErrorHandler(responseHeaders),
    // Errors in the URL occur before the hooks that set these headers.
    frameworkErrors: (error, request, reply) => {
      reply.headers(responseHeaders).header('x-request-id', request.id);
      sendProblem(reply, explainFastifyError(error));
    },
  } satisfies FastifyHttpOptions<Server>;
}

const SANE_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** Returns the caller's `X-Request-Id` if it is valid, else a new one. */
function readRequestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && SANE_ID.test(given) ? given : randomUUID();
}

/**
 * Rejects HTTP/1.1 requests without `Host`, and all requests with several (RFC 9112 §3.2), of which Node uses the
 * first.
 */
export function requireHost(app: FastifyInstance): void {
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    if (raw.headers.host === undefined && raw.httpVersion === '1.1') {
      done(badRequest('The header Host is missing.'));
    } else if (countHosts(raw) > 1) {
      done(badRequest('The header Host occurs more than once.'));
    } else {
      done();
    }
  });
}

/** `headersDistinct` would create a list for every header of every request. */
function countHosts({ rawHeaders }: IncomingMessage): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') count++;
  }
  return count;
}
