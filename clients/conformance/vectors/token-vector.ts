import { ISSUER, MACHINE_ID, NOW_S, SERVICE_KEY } from './sign-token.ts';
import type { TestPublicJwk } from './test-keys.ts';

/** The result of a verification: `ok`, or the first check that failed, in this order. */
export const VERDICTS = [
  'ok',
  'malformed',
  'algorithm',
  'unknown_key',
  'signature',
  'issuer',
  'audience',
  'machine',
  'early',
  'late',
  'nonce',
] as const;

export type Verdict = (typeof VERDICTS)[number];

/** A token, the circumstances in which it is verified, and the result. */
export interface TokenVector {
  readonly name: string;
  readonly token: string;
  readonly public_keys: readonly object[];
  readonly issuer: string;
  readonly products: readonly string[];
  readonly machine_id: string;
  /** That of the open request of a machine without a connection; null: none is expected. */
  readonly nonce: string | null;
  readonly now_ms: number;
  readonly verdict: Verdict;
}

/** What a vector changes in the usual circumstances. */
export type Circumstances = Partial<Omit<TokenVector, 'name' | 'token' | 'verdict'>>;

const PUBLIC_KEYS: readonly TestPublicJwk[] = [SERVICE_KEY.publicJwk];

/** Creates a vector: the token is verified by a client of two products at the time of the vectors. */
export function vector(
  name: string,
  verdict: Verdict,
  token: string,
  circumstances: Circumstances = {},
): TokenVector {
  return {
    name,
    token,
    public_keys: PUBLIC_KEYS,
    issuer: ISSUER,
    products: ['studio', 'solo'],
    machine_id: MACHINE_ID,
    nonce: null,
    now_ms: NOW_S * 1000,
    ...circumstances,
    verdict,
  };
}
