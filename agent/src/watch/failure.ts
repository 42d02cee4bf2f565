import { clean } from './text.ts';

/** Exit codes of sysexits.h. */
export const EXIT_CODES = {
  /** Nobody answers; it may be different in a minute. */
  unreachable: 69,
  /** Somebody answers who is not trusted, or is not an agent. */
  untrusted: 76,
  /** The agent does not let us in. */
  refused: 77,
} as const;

type FailureKind = keyof typeof EXIT_CODES;

/** Why there is nothing to watch, as a sentence for the person at the terminal. */
export class WatchFailure extends Error {
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'WatchFailure';
    this.kind = kind;
  }
}

const MAX_REASON_CHARACTERS = 200;

/** What connections and handshakes break of: the code, and what it means for an address. */
const MEANINGS: readonly (readonly [RegExp, WatchFailure['kind'], (address: string) => string])[] =
  [
    [/^ECONNREFUSED$/u, 'unreachable', (address) => `Nothing listens on ${address}.`],
    [/^(?:ENOTFOUND|EAI_.*)$/u, 'unreachable', (address) => `The name in ${address} is not known.`],
    [
      /^(?:ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENETDOWN)$/u,
      'unreachable',
      (address) => `${address} is not to be reached.`,
    ],
    [
      /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST/u,
      'untrusted',
      (address) => `What answers at ${address} does not speak TLS, so it is not an agent.`,
    ],
    [
      /ALERT_CERTIFICATE_REQUIRED|ALERT_HANDSHAKE_FAILURE/u,
      'refused',
      (address) => `${address} asks for a client certificate: give --certificate and --key.`,
    ],
    [
      /ALERT_CERTIFICATE_(?:REVOKED|EXPIRED)|ALERT_(?:UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN|UNSUPPORTED_CERTIFICATE)/u,
      'refused',
      (address) =>
        `${address} does not take the client certificate: it was revoked, has expired, or is of another authority.`,
    ],
    [
      /PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|NO_SHARED_CIPHER/u,
      'untrusted',
      (address) => `${address} and this program have no version of TLS in common.`,
    ],
    [/^(?:ECONNRESET|EPIPE)$/u, 'unreachable', (address) => `${address} broke the connection off.`],
  ];

/** What an error of a connection means. */
export function explainError(error: unknown, address: string): WatchFailure {
  if (error instanceof WatchFailure) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const message = error instanceof Error ? error.message : String(error);
  for (const [pattern, kind, tell] of MEANINGS) {
    if (pattern.test(code)) return new WatchFailure(kind, tell(address), { cause: error });
  }
  const text = `The connection to ${address} failed: ${reasonOf(message)}.`;
  return new WatchFailure('unreachable', text, { cause: error });
}

/** What an answer other than a WebSocket means. The text is the agent's reason, or a page of something else. */
export function explainAnswer(status: number, text: string, address: string): WatchFailure {
  const reason = reasonOf(text);
  // nginx says 400 with a page about it, unless its configuration gives 495 and 496 out.
  if (status === 495 || status === 496 || (status === 400 && /SSL certificate/iu.test(text))) {
    const what = `${address} asks for a good client certificate (${status})`;
    return new WatchFailure('refused', `${what}: give --certificate and --key.`);
  }
  if (status === 401 || status === 403) {
    const hint = status === 401 ? ' Give it with --token-file.' : '';
    const why = isSentence(reason) ? ` ${reason}` : '';
    return new WatchFailure('refused', `${address} refuses (${status}).${why}${hint}`);
  }
  if (status === 429 || status >= 500) {
    return new WatchFailure(
      'unreachable',
      `${address} answers ${status}: the agent behind it does not run, or has too much to do.`,
    );
  }
  const why = isSentence(reason) ? ` (${reason})` : '';
  return new WatchFailure(
    'untrusted',
    `What answers at ${address} is not an agent: ${status}${why}.`,
  );
}

/** What the end of a WebSocket means. */
export function explainClose(code: number, reason: string, address: string): WatchFailure {
  const why = reasonOf(reason);
  if (code === 1008) return new WatchFailure('refused', `${address} ended it: ${why}`);
  if (code === 1001) return new WatchFailure('unreachable', why || 'The agent stops.');
  const told = why === '' ? `${code}` : why;
  return new WatchFailure('unreachable', `${address} ended the connection (${told}).`);
}

/** Nothing of a page in HTML is worth telling. */
function isSentence(text: string): boolean {
  return text !== '' && !text.startsWith('<');
}

function reasonOf(text: string): string {
  return clean(text.trim().replaceAll(/\s+/gu, ' ')).slice(0, MAX_REASON_CHARACTERS);
}
