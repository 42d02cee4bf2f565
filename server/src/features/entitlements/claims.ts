import { hash } from 'node:crypto';
import type { LicenseStanding, LicenseTerms } from '../licenses/rules/facts.ts';
import { usableUntil, type UsableStatus } from '../licenses/rules/status.ts';

const DAY_SECONDS = 86_400;

/**
 * What an entitlement says: that an activation may run until `exp` without asking the service again. Moments are whole
 * seconds since 1970 (NumericDate of RFC 7519). No key and no e-mail address is in it.
 */
export interface EntitlementClaims {
  /** The service's public URL. */
  readonly iss: string;
  /** The product's id. */
  readonly aud: string;
  /** The license's id. */
  readonly sub: string;
  readonly jti: string;
  readonly iat: number;
  readonly nbf: number;
  /** The end of offline use: the product's offline days from now, never past the license's end and grace. */
  readonly exp: number;
  readonly activation_id: string;
  /** Base64url SHA-256 of the machine id; null while none is bound. */
  readonly machine: string | null;
  readonly tier: string | null;
  readonly features: readonly string[];
  readonly status: UsableStatus;
  readonly license_expires_at: number | null;
  readonly trial: boolean;
}

/** What an entitlement is made of. */
export interface EntitlementSubject {
  /** The service's public URL. */
  readonly issuer: string;
  readonly license: LicenseStanding;
  readonly terms: LicenseTerms;
  /** The license's present status. */
  readonly status: UsableStatus;
  /** The license's present public expiry. */
  readonly expiresAt: Date | null;
  readonly activationId: string;
  /** See `hashMachineId`; null while no machine id is bound. */
  readonly machineHash: string | null;
}

/**
 * The claims of an entitlement issued at a moment, except `jti`, which is computed from the others.
 * @param issuedAt whole seconds since 1970
 */
export function buildClaims(
  subject: EntitlementSubject,
  issuedAt: number,
): Omit<EntitlementClaims, 'jti'> {
  const { license, terms, expiresAt } = subject;
  const end = usableUntil(license);
  const offlineEnd = issuedAt + terms.offlineDays * DAY_SECONDS;
  return {
    iss: subject.issuer,
    aud: license.productId,
    sub: license.id,
    iat: issuedAt,
    nbf: issuedAt,
    exp: end === null ? offlineEnd : Math.min(offlineEnd, toSeconds(end)),
    activation_id: subject.activationId,
    machine: subject.machineHash,
    tier: terms.tier,
    features: terms.features,
    status: subject.status,
    license_expires_at: expiresAt === null ? null : toSeconds(expiresAt),
    trial: license.trial,
  };
}

/** What stands for a machine id in an entitlement: its base64url SHA-256, for a client to compare with its own. */
export function hashMachineId(machineId: string): string {
  return hash('sha256', machineId, 'base64url');
}

/** Whole seconds since 1970, rounded down: a token never outlives what it is about. */
export function toSeconds(moment: Date): number {
  return Math.floor(moment.getTime() / 1000);
}
