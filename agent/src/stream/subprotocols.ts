import type { AgentSubprotocol } from '@latchkey/contract';

/** In the order of preference where a viewer leaves the choice. */
export const SUBPROTOCOLS: readonly AgentSubprotocol[] = [
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
export function findOfferedToken(offer: readonly string[]): string | null {
  const found = offer.find((each) => each.startsWith(TOKEN_PREFIX));
  return found === undefined ? null : found.slice(TOKEN_PREFIX.length);
}
