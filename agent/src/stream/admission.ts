import { createHash, timingSafeEqual } from 'node:crypto';

import type { AgentSubprotocol } from '@latchkey/contract';

/** The credentials of a client. */
export interface Credentials {
  /** The header `Authorization`. */
  readonly authorization: string | undefined;
  /** The header `Origin`, which browsers send. */
  readonly origin: string | undefined;
  /** The header `Host`. */
  readonly host: string | undefined;
  readonly offer: readonly string[];
  /** The problem of its certificate, or that it has none; null when it is valid. */
  readonly certificateFault: string | null;
}

/** The rules of who may watch. */
export interface AdmissionRules {
  readonly needsCertificate: boolean;
  /** Null where there are no access tokens. */
  readonly isToken: ((token: string) => boolean) | null;
  /** Origins of other pages that may watch, as `https://example.com`; `*` allows all. */
  readonly allowedOrigins: ReadonlySet<string>;
}

/** A refused request. */
export interface Refusal {
  readonly status: 400 | 401 | 403;
  /** A sentence for the user. */
  readonly text: string;
}

export type Admission =
  | { readonly refusal: Refusal; readonly subprotocol: null }
  | { readonly refusal: null; readonly subprotocol: AgentSubprotocol };

/** Decides whether a client may watch, and in which subprotocol. */
export function decideAdmission(credentials: Credentials, rules: AdmissionRules): Admission {
  const subprotocol = chooseSubprotocol(credentials.offer);
  const refusal = checkOrigin(credentials, rules) ?? checkIdentity(credentials, rules);
  if (refusal !== null) return { refusal, subprotocol: null };
  if (subprotocol !== null) return { refusal: null, subprotocol };
  const text = `None of the subprotocols offered is known here: offer one of ${SUBPROTOCOLS.join(', ')}, or none.`;
  return { refusal: { status: 400, text }, subprotocol: null };
}

/** Whether a page of another origin is listed. */
export function isListedOrigin(origin: string, { allowedOrigins }: AdmissionRules): boolean {
  return allowedOrigins.has('*') || allowedOrigins.has(origin);
}

/** Refuses pages of other origins, which would connect with the certificate of their visitor. */
export function checkOrigin({ origin, host }: Credentials, rules: AdmissionRules): Refusal | null {
  if (origin === undefined) return null;
  const { protocol, host: originHost } = URL.parse(origin) ?? {};
  // Without TLS, an attacker on the path could replace the page's scripts.
  const isOwn = protocol === 'https:' && originHost === host?.toLowerCase();
  if (isOwn || isListedOrigin(origin, rules)) return null;
  const text = 'Pages of this origin may not watch: allow it with latchkey-agent origins add.';
  return { status: 403, text };
}

/**
 * Checks a client's identity: a valid certificate or a token is sufficient. Without both rules, everyone is admitted.
 */
export function checkIdentity(credentials: Credentials, rules: AdmissionRules): Refusal | null {
  if (rules.needsCertificate && credentials.certificateFault === null) return null;
  const token = readBearer(credentials.authorization) ?? findOfferedToken(credentials.offer);
  if (rules.isToken !== null && token !== null) {
    return rules.isToken(token) ? null : { status: 401, text: 'The access token is not known.' };
  }
  if (rules.needsCertificate) return { status: 403, text: credentials.certificateFault ?? '' };
  if (rules.isToken === null) return null;
  const text = 'An access token is needed: send it as "Authorization: Bearer TOKEN".';
  return { status: 401, text };
}

function readBearer(header: string | undefined): string | null {
  return /^Bearer +(?<token>\S+)$/iu.exec(header ?? '')?.groups?.['token'] ?? null;
}

/** Supported subprotocols; the first is the default. */
const SUBPROTOCOLS: readonly AgentSubprotocol[] = [
  'latchkey.snapshot.v1',
  'latchkey.vector.v1',
  'latchkey.otlp-json.v1',
  'latchkey.brief.v1',
];

/**
 * Browsers cannot set headers of a WebSocket, but can offer subprotocols: one with this prefix carries the access token, and is
 * never selected.
 */
const TOKEN_PREFIX = 'latchkey.token.';

/** Parses the header `Sec-WebSocket-Protocol`. */
export function readOffer(header: string | undefined): readonly string[] {
  return (header ?? '').split(',').flatMap((part) => part.trim() || []);
}

/**
 * Selects the first known subprotocol of the offer, or the default of an empty offer.
 * @returns null when only unknown ones were offered
 */
export function chooseSubprotocol(offer: Iterable<string>): AgentSubprotocol | null {
  let isEmpty = true;
  for (const offered of offer) {
    isEmpty = false;
    const known = SUBPROTOCOLS.find((each) => each === offered);
    if (known !== undefined) return known;
  }
  return isEmpty ? 'latchkey.snapshot.v1' : null;
}

/** Returns the access token in the offered subprotocols; null without one. */
function findOfferedToken(offer: readonly string[]): string | null {
  const found = offer.find((each) => each.startsWith(TOKEN_PREFIX));
  return found === undefined ? null : found.slice(TOKEN_PREFIX.length);
}

/**
 * Creates a check for access tokens in constant time: it compares the digests of all tokens.
 * @returns null without tokens
 */
export function openAccessTokens(tokens: readonly string[]): ((token: string) => boolean) | null {
  if (tokens.length === 0) return null;
  const digests = tokens.map(digest);
  return (token) => {
    const given = digest(token);
    return digests.reduce((known, each) => timingSafeEqual(each, given) || known, false);
  };
}

function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
