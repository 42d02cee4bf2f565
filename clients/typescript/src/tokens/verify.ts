import { isObject, parseJson, type JsonObject } from '../json.ts';
import { decodeBase64url, encodeBase64url } from './base64url.ts';
import { readClaims, type Claims } from './claims.ts';
import type { Cryptography } from './cryptography.ts';
import { isCanonicalSignature, isSafePublicKey } from './ed25519.ts';
import type { PublicKey } from './public-keys.ts';

/** What an entitlement must fit. */
export interface Trust {
  readonly keys: readonly PublicKey[];
  readonly issuer: string;
  readonly products: readonly string[];
  readonly machineId: string;
}

/** Why an entitlement is not accepted: the first that applies, in this order. */
export type TokenProblem =
  | 'malformed'
  | 'algorithm'
  | 'unknown_key'
  | 'signature'
  | 'issuer'
  | 'audience'
  | 'machine'
  | 'early'
  | 'late'
  | 'nonce';

/** The claims of a genuine entitlement, or why it is none. */
export type TokenReading =
  | { readonly verdict: 'ok'; readonly claims: Claims }
  | { readonly verdict: TokenProblem };

/** A clock may be this much behind that of the service. */
const EARLY_TOLERANCE_S = 300;

/** Verifies everything about an entitlement but its times and its nonce, so that the result stays true. */
export async function readToken(
  token: string,
  trust: Trust,
  cryptography: Cryptography,
): Promise<TokenReading> {
  const parts = splitToken(token);
  if (parts === null) return { verdict: 'malformed' };
  if (parts.header['alg'] !== 'EdDSA') return { verdict: 'algorithm' };
  const key = trust.keys.find(({ kid }) => kid === parts.header['kid']);
  if (key === undefined) return { verdict: 'unknown_key' };
  if (!(await isSigned(parts, key, cryptography))) return { verdict: 'signature' };
  const { claims } = parts;
  if (claims.iss !== trust.issuer) return { verdict: 'issuer' };
  if (claims.aud === null || !trust.products.includes(claims.aud)) return { verdict: 'audience' };
  const machine = await hashMachineId(trust.machineId, cryptography);
  return claims.machine === machine ? { verdict: 'ok', claims } : { verdict: 'machine' };
}

/** Returns the first problem with the times of a genuine entitlement, or null. */
export function findTimeProblem({ nbf, exp }: Claims, nowMs: number): 'early' | 'late' | null {
  if (nowMs < (nbf - EARLY_TOLERANCE_S) * 1000) return 'early';
  return nowMs >= exp * 1000 ? 'late' : null;
}

/**
 * Verifies an entitlement at a time. The `nonce` is that of the open request of a machine without a connection, or null: then none is expected.
 */
export async function verifyToken(
  token: string,
  trust: Trust & { readonly nowMs: number; readonly nonce: string | null },
  cryptography: Cryptography,
): Promise<TokenReading> {
  const reading = await readToken(token, trust, cryptography);
  if (reading.verdict !== 'ok') return reading;
  const problem = findTimeProblem(reading.claims, trust.nowMs);
  if (problem !== null) return { verdict: problem };
  const isOurs = trust.nonce === null || reading.claims.nonce === trust.nonce;
  return isOurs ? reading : { verdict: 'nonce' };
}

/** Returns the base64url SHA-256 of a machine id. */
export async function hashMachineId(
  machineId: string,
  cryptography: Cryptography,
): Promise<string> {
  return encodeBase64url(await cryptography.sha256(new TextEncoder().encode(machineId)));
}

interface Parts {
  readonly header: JsonObject;
  readonly claims: Claims;
  readonly signed: Uint8Array<ArrayBuffer>;
  readonly signature: Uint8Array<ArrayBuffer>;
}

function splitToken(token: string): Parts | null {
  const [head = '', payload = '', last = '', ...others] = token.split('.');
  const signature = decodeBase64url(last);
  const header = readPart(head);
  const claims = readClaims(readPart(payload));
  if (others.length > 0 || signature === null || claims === null || !isObject(header)) return null;
  const isKnown = header['typ'] === 'entitlement+jwt' && typeof header['kid'] === 'string';
  if (!isKnown || 'crit' in header) return null;
  const signed = new TextEncoder().encode(`${head}.${payload}`);
  return { header, claims, signed, signature };
}

/** Returns the JSON of a part; undefined if it is none. */
function readPart(part: string): unknown {
  const bytes = decodeBase64url(part);
  if (bytes === null) return undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return parseJson(text);
  } catch {
    // No UTF-8, and so no JSON.
    return undefined;
  }
}

async function isSigned(
  { signed, signature }: Parts,
  { x }: PublicKey,
  cryptography: Cryptography,
): Promise<boolean> {
  const key = decodeBase64url(x);
  if (key === null || !isSafePublicKey(key) || !isCanonicalSignature(signature)) return false;
  return cryptography.verify(key, signed, signature);
}
