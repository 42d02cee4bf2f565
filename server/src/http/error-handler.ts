import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isDatabaseUnavailable } from '#server/db/database-errors.ts';
import {
  InvalidRequestError,
  PublicError,
  badRequest,
  databaseUnavailable,
  internal,
  invalidRequest,
  payloadTooLarge,
  unsupportedMediaType,
  uriTooLong,
} from '#server/errors.ts';
import { PROBLEM_TYPE, renderProblem } from './problem.ts';
import { explainRequest } from './validation/explain.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether the body was read completely before the request was rejected. */
    isBodyRefused: boolean;
  }
}

/** Converts the error of a request to its response. The cause is only logged. */
export function addErrorHandler(app: FastifyInstance, log: FailureLog): void {
  const report = createFailureReporter(log);
  app.decorateRequest('isBodyRefused', false);
  app.setErrorHandler((error, request, reply) => {
    // Fastify closes the connection of every body that cannot be parsed, which is needed only where some of it is
    // unread.
    if (request.isBodyRefused) keepConnection(reply);
    const failure = toPublic(error, request);
    if (failure instanceof InvalidRequestError) return sendFaults(reply, failure);
    if (failure.status >= 500 && failure.cause !== undefined) report(request.id, failure);
    return sendProblem(reply, failure);
  });
}

/** Keeps the connection unless the client asked to close it. */
function keepConnection(reply: FastifyReply): void {
  reply.header('connection', reply.raw.shouldKeepAlive ? 'keep-alive' : 'close');
}

/** Sends problem details. */
export function sendProblem(reply: FastifyReply, error: PublicError): FastifyReply {
  return reply
    .code(error.status)
    .headers(error.headers)
    .type(PROBLEM_TYPE)
    .send(renderProblem(error));
}

function sendFaults(reply: FastifyReply, error: InvalidRequestError): FastifyReply {
  return reply
    .code(422)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ detail: error.items }));
}

function toPublic(error: unknown, request: FastifyRequest): PublicError | InvalidRequestError {
  if (error instanceof PublicError || error instanceof InvalidRequestError) return error;
  // The client disconnected during its body; its error looks like one of the database's connection.
  if (error === request.raw.errored)
    return badRequest('The connection was closed before the request was complete.');
  if (isDatabaseUnavailable(error)) return databaseUnavailable(error);
  if (!isFastifyError(error)) return internal(error);
  if (error.validation !== undefined) return describeFaults(error, request);
  return explainFastifyError(error);
}

function describeFaults(error: FastifyError, request: FastifyRequest): InvalidRequestError {
  const items = explainRequest(request.routeOptions.schema ?? {}, request);
  if (items.length > 0) return invalidRequest(items);
  // Tests verify that `explainRequest` finds every fault of the validator; if not, the validator's message is sent.
  const part = error.validationContext === 'params' ? 'path' : (error.validationContext ?? 'body');
  return invalidRequest([{ loc: [part], msg: error.message, type: 'value_error' }]);
}

/** Responses to requests that Fastify itself rejects, by its error code. */
export function explainFastifyError(error: FastifyError): PublicError {
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return payloadTooLarge();
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return unsupportedMediaType();
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return uriTooLong();
    case 'FST_ERR_BAD_URL':
      return badRequest('The path contains a malformed percent-encoding.');
    default:
      return error.statusCode === 400 ? badRequest() : internal(error);
  }
}

function isFastifyError(error: unknown): error is FastifyError {
  return error instanceof Error && 'statusCode' in error && 'code' in error;
}

/** The log that failed requests are written to. */
export interface FailureLog {
  error(fields: object, message: string): void;
}

/** An outage of the database fails thousands of requests a second for the same reason. */
const OUTAGE_INTERVAL_MS = 1_000;

/**
 * Creates a function that logs failed requests with their cause. While the database is unavailable, it logs one a
 * second, with the number of suppressed lines since the last one: a line for each request would fill the disk.
 * @param now milliseconds of a monotonic clock
 */
export function createFailureReporter(
  log: FailureLog,
  now: () => number = () => performance.now(),
): (requestId: string, failure: PublicError) => void {
  let loggedAt = Number.NEGATIVE_INFINITY;
  let suppressed = 0;
  return (requestId, failure) => {
    const entry = { event: 'request.failed', requestId, code: failure.code, err: failure.cause };
    if (failure.code !== 'database_unavailable') {
      log.error(entry, 'request failed');
    } else if (now() - loggedAt < OUTAGE_INTERVAL_MS) {
      suppressed += 1;
    } else {
      log.error({ ...entry, suppressed }, 'request failed');
      loggedAt = now();
      suppressed = 0;
    }
  };
}
