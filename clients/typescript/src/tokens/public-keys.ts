import { isObject } from '../json.ts';
import { decodeBase64url } from './base64url.ts';

/** An Ed25519 public key (RFC 7517, RFC 8037), as `/.well-known/jwks.json` lists it. */
export interface PublicKey {
  readonly kty: string;
  readonly crv: string;
  /** 32 bytes in base64url. */
  readonly x: string;
  readonly kid: string;
}

/** Reads the Ed25519 keys of a list and ignores its other members. */
export function readPublicKeys(list: unknown): PublicKey[] {
  return Array.isArray(list) ? list.filter(isPublicKey) : [];
}

function isPublicKey(value: unknown): value is PublicKey {
  return (
    isObject(value) &&
    value['kty'] === 'OKP' &&
    value['crv'] === 'Ed25519' &&
    typeof value['kid'] === 'string' &&
    typeof value['x'] === 'string' &&
    decodeBase64url(value['x'])?.length === 32
  );
}

/** Joins lists; of two keys with the same id, the first one counts, so that nothing replaces a key that is compiled in. */
export function joinKeys(...lists: readonly (readonly PublicKey[])[]): PublicKey[] {
  const keys = new Map<string, PublicKey>();
  for (const key of lists.flat()) if (!keys.has(key.kid)) keys.set(key.kid, key);
  return [...keys.values()];
}
