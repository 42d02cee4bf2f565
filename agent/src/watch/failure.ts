import { codeOf, messageOf } from '../errors.ts';
import { sanitize } from './text.ts';

/** Exit codes of sysexits.h. */
export const EXIT_CODES = {
  /** The agent does not answer; a retry may help. */
  unreachable: 69,
  /** The peer is not trusted, or is not an agent. */
  untrusted: 76,
  /** The agent refuses the viewer. */
  refused: 77,
} as const;

type FailureKind = keyof typeof EXIT_CODES;

/** A failed connection, as a sentence for the user. */
export class WatchFailure extends Error {
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'WatchFailure';
    this.kind = kind;
  }
}

const MAX_REASON_CHARACTERS = 200;

/** Meanings of error codes of connections and handshakes. */
const MEANINGS: readonly (readonly [RegExp, WatchFailure['kind'], (address: string) => string])[] =
  [
    [/^ECONNREFUSED$/u, 'unreachable', (address) => `Nothing listens on ${address}.`],
    [
      /^(?:ENOTFOUND|EAI_.*)$/u,
      'unreachable',
      (address) => `The name in ${address} does not resolve.`,
    ],
    [
      /^(?:ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENETDOWN)$/u,
      'unreachable',
      (address) => `${address} is unreachable.`,
    ],
    [
      /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST/u,
      'untrusted',
      (address) => `The server at ${address} does not use TLS, so it is not an agent.`,
    ],
    [
      /ALERT_CERTIFICATE_REQUIRED|ALERT_HANDSHAKE_FAILURE/u,
      'refused',
      (address) => `${address} requires a client certificate: use --certificate and --key.`,
    ],
    [
      /ALERT_CERTIFICATE_(?:REVOKED|EXPIRED)|ALERT_(?:UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN|UNSUPPORTED_CERTIFICATE)/u,
      'refused',
      (address) =>
        `${address} rejects the client certificate: it was revoked, has expired, or is from another authority.`,
    ],
    [
      /PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|NO_SHARED_CIPHER/u,
      'untrusted',
      (address) => `${address} and this program have no version of TLS in common.`,
    ],
    [/^(?:ECONNRESET|EPIPE)$/u, 'unreachable', (address) => `${address} closed the connection.`],
  ];

/** Explains a connection error. */
export function explainError(error: unknown, address: string): WatchFailure {
  if (error instanceof WatchFailure) return error;
  const code = codeOf(error);
  const message = messageOf(error);
  for (const [pattern, kind, explain] of MEANINGS) {
    if (pattern.test(code)) return new WatchFailure(kind, explain(address), { cause: error });
  }
  const text = `The connection to ${address} failed: ${reasonOf(message)}.`;
  return new WatchFailure('unreachable', text, { cause: error });
}

/** Explains an answer other than a WebSocket. The text is the agent's reason, or a page of another server. */
export function explainAnswer(status: number, text: string, address: string): WatchFailure {
  const reason = reasonOf(text);
  // nginx answers 400 with a page, unless its configuration exposes 495 and 496.
  if (status === 495 || status === 496 || (status === 400 && /SSL certificate/iu.test(text))) {
    const what = `${address} requires a valid client certificate (${status})`;
    return new WatchFailure('refused', `${what}: use --certificate and --key.`);
  }
  if (status === 401 || status === 403) {
    const hint = status === 401 ? ' Use --token-file.' : '';
    const why = isSentence(reason) ? ` ${reason}` : '';
    return new WatchFailure('refused', `${address} refuses (${status}).${why}${hint}`);
  }
  if (status === 429 || status >= 500) {
    return new WatchFailure(
      'unreachable',
      `${address} answers ${status}: the agent behind it is not running or is overloaded.`,
    );
  }
  const why = isSentence(reason) ? ` (${reason})` : '';
  return new WatchFailure(
    'untrusted',
    `The server at ${address} is not an agent: ${status}${why}.`,
  );
}

/** Explains the close of a WebSocket. */
export function explainClose(code: number, reason: string, address: string): WatchFailure {
  const why = reasonOf(reason);
  if (code === 1008) return new WatchFailure('refused', `${address} closed the connection: ${why}`);
  if (code === 1001) return new WatchFailure('unreachable', why || 'The agent stops.');
  const closeReason = why === '' ? `${code}` : why;
  return new WatchFailure('unreachable', `${address} ended the connection (${closeReason}).`);
}

/** Whether a text is a sentence and not an HTML page. */
function isSentence(text: string): boolean {
  return text !== '' && !text.startsWith('<');
}

function reasonOf(text: string): string {
  return sanitize(text.trim().replaceAll(/\s+/gu, ' ')).slice(0, MAX_REASON_CHARACTERS);
}
