import { createHash, timingSafeEqual } from 'node:crypto';

import type { AgentSubprotocol } from '@latchkey/contract';

/** What a visitor says of itself. */
export interface Visitor {
  /** The header `Authorization`. */
  readonly authorization: string | undefined;
  /** The header `Origin`, which browsers send. */
  readonly origin: string | undefined;
  /** The header `Host`. */
  readonly host: string | undefined;
  readonly offer: readonly string[];
  /** What is wrong with its certificate, or that it has none; null when it is good. */
  readonly certificateFault: string | null;
}

/** Who may watch. */
export interface AdmissionRules {
  readonly needsCertificate: boolean;
  /** Null where there are no access tokens. */
  readonly isToken: ((token: string) => boolean) | null;
  /** Pages of other places that may watch, as `https://example.com`; `*` is all. */
  readonly allowedOrigins: ReadonlySet<string>;
}

/** An answer other than the stream. */
export interface Refusal {
  readonly status: 400 | 401 | 403;
  /** A sentence for who reads the answer. */
  readonly text: string;
}

export type Admission =
  | { readonly refusal: Refusal; readonly subprotocol: null }
  | { readonly refusal: null; readonly subprotocol: AgentSubprotocol };

/** Decides whether a visitor may watch, and in which subprotocol. */
export function decideAdmission(visitor: Visitor, rules: AdmissionRules): Admission {
  const subprotocol = chooseSubprotocol(visitor.offer);
  const refusal = judgeOrigin(visitor, rules) ?? judgeIdentity(visitor, rules);
  if (refusal !== null) return { refusal, subprotocol: null };
  if (subprotocol !== null) return { refusal: null, subprotocol };
  const text = `None of the subprotocols offered is known here: offer one of ${SUBPROTOCOLS.join(', ')}, or none.`;
  return { refusal: { status: 400, text }, subprotocol: null };
}

/** A page of another place would watch with the certificate of whoever reads it. */
function judgeOrigin({ origin, host }: Visitor, rules: AdmissionRules): Refusal | null {
  if (origin === undefined) return null;
  const { protocol, host: originHost } = URL.parse(origin) ?? {};
  // Who sits between a reader and a page without TLS could write its scripts.
  const isOwn = protocol === 'https:' && originHost === host?.toLowerCase();
  if (isOwn || rules.allowedOrigins.has('*') || rules.allowedOrigins.has(origin)) return null;
  const text =
    'Pages of this origin may not watch: add it to allowed_origins in the configuration.';
  return { status: 403, text };
}

/**
 * Whether a visitor is somebody who may watch: a good certificate or a token lets in; so does nothing at all where neither
 * is asked for.
 */
export function judgeIdentity(visitor: Visitor, rules: AdmissionRules): Refusal | null {
  if (rules.needsCertificate && visitor.certificateFault === null) return null;
  const token = readBearer(visitor.authorization) ?? findOfferedToken(visitor.offer);
  if (rules.isToken !== null && token !== null) {
    return rules.isToken(token) ? null : { status: 401, text: 'The access token is not known.' };
  }
  if (rules.needsCertificate) return { status: 403, text: visitor.certificateFault ?? '' };
  if (rules.isToken === null) return null;
  const text = 'An access token is needed: send it as "Authorization: Bearer TOKEN".';
  return { status: 401, text };
}

function readBearer(header: string | undefined): string | null {
  return /^Bearer +(?<token>\S+)$/iu.exec(header ?? '')?.groups?.['token'] ?? null;
}

/** In the order of preference where a viewer leaves the choice. */
const SUBPROTOCOLS: readonly AgentSubprotocol[] = [
  'latchkey.snapshot.v1',
  'latchkey.vector.v1',
  'latchkey.otlp-json.v1',
];

/**
 * Browsers cannot set headers of a WebSocket, but they can offer subprotocols: one that begins so carries the access
 * token, and is never agreed to.
 */
const TOKEN_PREFIX = 'latchkey.token.';

/** What the header `Sec-WebSocket-Protocol` offers, in its order. */
export function readOffer(header: string | undefined): readonly string[] {
  return (header ?? '').split(',').flatMap((part) => part.trim() || []);
}

/**
 * The subprotocol to agree to: the first known one that was offered, in the order of the offer.
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

/** The access token among the subprotocols that were offered. */
function findOfferedToken(offer: readonly string[]): string | null {
  const found = offer.find((each) => each.startsWith(TOKEN_PREFIX));
  return found === undefined ? null : found.slice(TOKEN_PREFIX.length);
}

/**
 * Knows the access tokens. How long a look takes says nothing of them: digests are compared, and always all of them.
 * @returns null when there are none
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
