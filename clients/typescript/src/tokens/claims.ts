import { integerOrNull, isObject, textOrNull } from '../json.ts';

/** The statements of an entitlement that a client reads. Times are whole seconds since 1970. */
export interface Claims {
  readonly iss: string | null;
  readonly aud: string | null;
  /** Base64url SHA-256 of the machine id. */
  readonly machine: string | null;
  readonly iat: number;
  readonly nbf: number;
  readonly exp: number;
  readonly activationId: string | null;
  readonly tier: string | null;
  readonly features: readonly string[];
  /** The end of the license; null for a perpetual one. */
  readonly licenseExpiresAt: number | null;
  readonly trial: boolean;
  /** That of a request without a connection; null in every other entitlement. */
  readonly nonce: string | null;
}

/** Reads claims; null unless the value is an object whose `iat`, `nbf` and `exp` are integers. */
export function readClaims(value: unknown): Claims | null {
  if (!isObject(value)) return null;
  const [iat, nbf, exp] = [value['iat'], value['nbf'], value['exp']].map(integerOrNull);
  if (iat == null || nbf == null || exp == null) return null;
  const { features } = value;
  return {
    iss: textOrNull(value['iss']),
    aud: textOrNull(value['aud']),
    machine: textOrNull(value['machine']),
    iat,
    nbf,
    exp,
    activationId: textOrNull(value['activation_id']),
    tier: textOrNull(value['tier']),
    features: Array.isArray(features)
      ? features.filter((each): each is string => typeof each === 'string')
      : [],
    licenseExpiresAt: integerOrNull(value['license_expires_at']),
    trial: value['trial'] === true,
    nonce: textOrNull(value['nonce']),
  };
}
