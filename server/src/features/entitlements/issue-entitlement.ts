/** Feature: signed tokens with which software runs offline for a while. */
import type { Config } from '#server/config/config.ts';

import type { LicenseStatusFacts, LicenseTerms } from '../licenses/rules/facts.ts';
import { publicExpiry, type UsableStatus } from '../licenses/rules/status.ts';
import type { SigningKeyRing } from './key-ring.ts';
import type { SigningKey } from './signing-key.ts';
import {
  buildClaims,
  encodeSigningInput,
  hashMachineId,
  JTI_CHARACTERS,
  signEntitlement,
  toSeconds,
  type EntitlementSubject,
} from './token.ts';

/** The age up to which a token is sent again instead of signing a new one. */
export const REFRESH_INTERVAL_SECONDS = 3600;

export interface EntitlementDependencies {
  readonly config: Pick<Config, 'http'>;
  readonly signingKeys: SigningKeyRing;
}

/** The activation that a token is for. */
export interface EntitledActivation {
  readonly id: string;
  readonly machineId: string | null;
  readonly entitlementProof: string | null;
}

export interface Entitlement {
  readonly token: string;
  /** The proof to store; null when the stored token was reused. */
  readonly newProof: string | null;
}

/** Returns the token with which an activation of a usable license runs offline until its expiry. */
export function issueEntitlement(
  deps: EntitlementDependencies,
  license: LicenseStatusFacts,
  terms: LicenseTerms,
  status: UsableStatus,
  activation: EntitledActivation,
  now: Date,
): Entitlement {
  const { machineId } = activation;
  const { token, newProof } = reuseOrSign(
    deps.signingKeys.current(now),
    {
      issuer: deps.config.http.publicUrl,
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
  return { token, newProof: newProof === null ? null : formatProof(newProof) };
}

/** The token of a machine without a connection. */
export interface AirgapEntitlement {
  readonly token: string;
  /** The end of the token, which nothing can bring forward. */
  readonly expiresAt: Date;
}

/**
 * Signs the token with which a machine without a connection runs for `airgapDays`, and never past the end of its license
 * and grace.
 * @param nonce that of the machine's request
 */
export function issueAirgapEntitlement(
  deps: EntitlementDependencies,
  license: LicenseStatusFacts,
  activation: {
    readonly id: string;
    readonly machineId: string;
    readonly status: UsableStatus;
    readonly terms: LicenseTerms;
  },
  { airgapDays, nonce }: { readonly airgapDays: number; readonly nonce: string },
  now: Date,
): AirgapEntitlement {
  const { id, machineId, status, terms } = activation;
  const key = deps.signingKeys.current(now);
  const subject = {
    issuer: deps.config.http.publicUrl,
    license,
    terms: { ...terms, offlineDays: airgapDays },
    status,
    expiresAt: publicExpiry(license, now),
    activationId: id,
    machineHash: hashMachineId(machineId),
  };
  const claims = { ...buildClaims(subject, toSeconds(now)), nonce };
  const { text } = encodeSigningInput(key, claims);
  return {
    token: `${text}.${signEntitlement(key, text)}`,
    expiresAt: new Date(claims.exp * 1000),
  };
}

/** The stored part of an activation's last token: enough to send the token again, without its claims. */
export interface EntitlementProof {
  /** The token's `iat`: whole seconds since 1970. */
  readonly issuedAt: number;
  /** The token's `jti`, 22 characters: a digest of the key's id and all other claims. */
  readonly jti: string;
  /** The token's last part: 86 characters of base64url. */
  readonly signature: string;
}

/**
 * Returns the token of an activation, reused or newly signed. A signature costs some 80 µs, more than all the rest of a
 * validation, so the last token is sent again while it is younger than `REFRESH_INTERVAL_SECONDS` and its claims are
 * the same: rebuilt from the present facts with its own `iat`, it has the same `jti`. Any change (status, tier, expiry,
 * machine, signing key) changes the `jti`, and a new token is signed.
 */
export function reuseOrSign(
  key: SigningKey,
  subject: EntitlementSubject,
  stored: EntitlementProof | null,
  now: Date,
): { readonly token: string; readonly newProof: EntitlementProof | null } {
  const nowSeconds = toSeconds(now);
  if (stored !== null && isFresh(stored, nowSeconds)) {
    const input = encodeSigningInput(key, buildClaims(subject, stored.issuedAt));
    if (input.jti === stored.jti) {
      return { token: `${input.text}.${stored.signature}`, newProof: null };
    }
  }
  const { jti, text } = encodeSigningInput(key, buildClaims(subject, nowSeconds));
  const signature = signEntitlement(key, text);
  return { token: `${text}.${signature}`, newProof: { issuedAt: nowSeconds, jti, signature } };
}

/** A token from the future (the clock was set back) is not sent again: clients would refuse it. */
function isFresh({ issuedAt }: EntitlementProof, nowSeconds: number): boolean {
  return issuedAt <= nowSeconds && nowSeconds - issuedAt < REFRESH_INTERVAL_SECONDS;
}

const SIGNATURE_CHARACTERS = 86;
/** `.jti.signature` */
const TAIL_CHARACTERS = 1 + JTI_CHARACTERS + 1 + SIGNATURE_CHARACTERS;

/** Formats a proof as `iat.jti.signature`, the last two of a fixed length. */
function formatProof({ issuedAt, jti, signature }: EntitlementProof): string {
  return `${issuedAt}.${jti}.${signature}`;
}

/** Parses what `formatProof` wrote; returns null when nothing is stored. */
export function parseProof(proof: string | null): EntitlementProof | null {
  if (proof === null || proof.length <= TAIL_CHARACTERS) return null;
  const jtiAt = proof.length - TAIL_CHARACTERS + 1;
  const signatureAt = proof.length - SIGNATURE_CHARACTERS;
  return {
    issuedAt: Number(proof.slice(0, jtiAt - 1)),
    jti: proof.slice(jtiAt, signatureAt - 1),
    signature: proof.slice(signatureAt),
  };
}

/**
 * Returns the bounds, in byte order, between which the stored proofs of fresh tokens lie: `from` is the first of them,
 * and `before` the first that is not. A proof starts with its `iat`, of ten digits from 2001 to 2286.
 */
export function freshProofRange(now: Date): { readonly from: string; readonly before: string } {
  const seconds = toSeconds(now);
  return { from: String(seconds - REFRESH_INTERVAL_SECONDS + 1), before: String(seconds + 1) };
}
