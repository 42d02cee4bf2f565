import type { Config } from '#server/config/config.ts';

import { hashMachineId } from '../entitlements/claims.ts';
import { reuseOrSign } from '../entitlements/issue-entitlement.ts';
import type { SigningKeyRing } from '../entitlements/key-ring.ts';
import { formatProof, parseProof } from '../entitlements/proof.ts';
import type { LicenseStanding, LicenseTerms } from './rules/facts.ts';
import { publicExpiry, type UsableStatus } from './rules/status.ts';

/** What signing needs of the context. */
export interface EntitlementContext {
  readonly config: Pick<Config, 'http'>;
  readonly signingKeys: SigningKeyRing;
}

/** The activation that a token is for. */
export interface EntitledActivation {
  readonly id: string;
  readonly machineId: string | null;
  readonly entitlementProof: string | null;
}

/** A token, and the proof to store when it was signed anew. */
export interface Entitlement {
  readonly token: string;
  readonly freshProof: string | null;
}

/** The signed statement that lets an activation of a usable license run offline for a while. */
export function entitle(
  ctx: EntitlementContext,
  license: LicenseStanding,
  terms: LicenseTerms,
  status: UsableStatus,
  activation: EntitledActivation,
  now: Date,
): Entitlement {
  const { machineId } = activation;
  const issued = reuseOrSign(
    ctx.signingKeys.current(now),
    {
      issuer: ctx.config.http.publicUrl,
      license,
      terms,
      status,
      expiresAt: publicExpiry(license, now),
      activationId: activation.id,
      machineHash: machineId === null ? null : hashMachineId(machineId),
    },
    parseProof(activation.entitlementProof),
    now,
  );
  return {
    token: issued.token,
    freshProof: issued.toStore === null ? null : formatProof(issued.toStore),
  };
}
