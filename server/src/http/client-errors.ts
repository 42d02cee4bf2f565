import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import {
  type PublicError,
  badRequest,
  headersTooLarge,
  payloadTooLarge,
  requestTimeout,
} from '#server/errors.ts';
import { PROBLEM_TYPE, renderProblem } from './problem.ts';

/** Creates the handler of errors of Node's HTTP parser: it writes a response to the socket and closes it. */
export function createClientErrorHandler(
  headers: Readonly<Record<string, string>>,
): (error: NodeJS.ErrnoException, socket: Socket) => void {
  return (error, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const problem = fromParser(error.code);
    const body = renderProblem(problem);
    const lines = Object.entries({
      ...headers,
      'x-request-id': randomUUID(),
      date: new Date().toUTCString(),
      'content-type': PROBLEM_TYPE,
      'content-length': String(Buffer.byteLength(body)),
      connection: 'close',
    }).map(([name, value]) => `${name}: ${value}\r\n`);
    const start = `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n`;
    socket.end(`${start}${lines.join('')}\r\n${body}`, () => socket.destroySoon());
  };
}

function fromParser(code = ''): PublicError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return headersTooLarge();
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return payloadTooLarge();
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return requestTimeout();
    default:
      return badRequest();
  }
}
