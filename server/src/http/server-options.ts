import type { Server } from 'node:http';
import type { FastifyHttpOptions } from 'fastify';
import { makeClientErrorHandler } from './client-errors.ts';
import { explainFastifyError, sendProblem } from './error-handler.ts';
import { readRequestId } from './request-id.ts';
import { ajvOptions } from './validation/ajv-options.ts';

/** The largest body that an operation takes unless it says otherwise, in bytes. */
export const DEFAULT_BODY_LIMIT_BYTES = 64 * 1024;
/** The longest path parameter that is served, in characters. */
const MAX_PARAMETER_LENGTH = 200;
const MAX_HEADER_BYTES = 16 * 1024;

const HEADERS_TIMEOUT_MS = 10_000;
/** Until the whole request, its body included, has arrived. */
const REQUEST_TIMEOUT_MS = 30_000;
/** How often the two limits above are enforced. */
const TIMEOUT_CHECK_INTERVAL_MS = 2_000;
/** Longer than the idle time of usual load balancers (60 s), so that they are the ones to close. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;

interface HttpOptions {
  /** The headers of every answer, see `makeAnswerHeaders`. */
  readonly answerHeaders: Readonly<Record<string, string>>;
}

/** How Fastify and Node's HTTP server are set up: limits on everything that comes from outside. */
export function makeServerOptions({ answerHeaders }: HttpOptions) {
  return {
    ajv: ajvOptions,
    bodyLimit: DEFAULT_BODY_LIMIT_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    http: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
      // Refused by `requireHost`, with a body.
      requireHostHeader: false,
    },
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
    genReqId: readRequestId,
    // A hook of our own logs what is worth a line; a logger for each request would cost more than most requests.
    logger: false,
    // While closing, requests are refused with a problem of our own.
    return503OnClosing: false,
    clientErrorHandler: makeClientErrorHandler(answerHeaders),
    // Faults in the URL are found before there is a route, hence before the hooks that set these headers.
    frameworkErrors: (error, request, reply) => {
      reply.headers(answerHeaders).header('x-request-id', request.id);
      sendProblem(reply, explainFastifyError(error));
    },
  } satisfies FastifyHttpOptions<Server>;
}
