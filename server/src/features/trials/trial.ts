import { randomBytes } from 'node:crypto';

import { v7 as makeUuid } from 'uuid';

import type { Catalog } from '#server/config/catalog.ts';
import type { Context } from '#server/context.ts';
import type { Carrier } from '#server/db/batching/batcher.ts';
import { generateLicenseKey } from '#server/lib/license-key.ts';

import { issueEntitlement } from '../entitlements/issue-entitlement.ts';
import { sealLicenseKey } from '../licenses/license-key.ts';
import type { IdentifiedMachine } from '../licenses/read-machine.ts';
import type { LicenseStanding } from '../licenses/rules/facts.ts';
import { findCatalogTerms, TRIAL_TIER } from '../licenses/terms.ts';
import type { listTrials, TrialTerms, NewTrial } from './queries.ts';

/** A trial that was granted, now or earlier. */
export interface Trial {
  readonly license: LicenseStanding;
  readonly keySealed: Buffer;
  readonly activation: {
    readonly id: string;
    readonly machineId: string | null;
    readonly machineDigest: string;
    readonly isActive: boolean;
    readonly entitlementProof: string | null;
  };
}

type TrialRow = Awaited<ReturnType<typeof listTrials>>[number];

/** Reads a stored trial. */
export function toTrial(row: TrialRow): Trial {
  return {
    license: {
      id: row.id,
      productId: row.product_id,
      trial: true,
      subscription: false,
      expiresAt: row.expires_at,
      cancelScheduledFor: row.cancel_scheduled_for,
      canceledAt: row.canceled_at,
      pausedAt: row.paused_at,
      suspendedAt: row.suspended_at,
      disputedAt: null,
      refundedAt: row.refunded_at,
      revokedAt: row.revoked_at,
    },
    keySealed: row.key_sealed,
    activation: {
      id: row.activation_id,
      machineId: row.machine_id,
      machineDigest: row.machine_digest,
      isActive: row.deactivated_at === null,
      entitlementProof: row.entitlement_proof,
    },
  };
}

/** A machine that asks for a trial. */
export interface TrialRequest {
  /** Two machines share a trial when they share one of these; sorted. */
  readonly claims: readonly string[];
  /** The same claims under the previous master secrets; empty except during a rotation. */
  readonly olderClaims: readonly string[];
  readonly machine: IdentifiedMachine;
  readonly installId: string | null;
}

/** Trials, each request with its own, many at a time. */
export type TrialBatch = Carrier<TrialRequest, Trial>;

/** The facts of a trial's license when it is granted. */
export function trialStanding(id: string, terms: TrialTerms): LicenseStanding {
  return {
    id,
    productId: terms.productId,
    trial: true,
    subscription: false,
    expiresAt: terms.expiresAt,
    cancelScheduledFor: null,
    canceledAt: null,
    pausedAt: null,
    suspendedAt: null,
    disputedAt: null,
    refundedAt: null,
    revokedAt: null,
  };
}

/** How long a trial lasts; part of the interface. */
/** How long a trial lasts. */
export const TRIAL_DAYS = 7;
const DAY_MS = 86_400_000;

/** What a trial that begins at a moment is like. */
export function trialTerms(catalog: Catalog, grantedAt: Date): TrialTerms {
  return {
    productId: catalog.trial.productId,
    tier: TRIAL_TIER,
    features: catalog.trial.features,
    grantedAt,
    expiresAt: new Date(grantedAt.getTime() + TRIAL_DAYS * DAY_MS),
  };
}

type PreparationContext = Pick<Context, 'catalog' | 'config' | 'signingKeys' | 'vault'>;

/** Makes a trial's license, key, activation and first entitlement; nothing is stored yet. */
export function prepareTrial(
  ctx: PreparationContext,
  { machine, installId }: TrialRequest,
  terms: TrialTerms,
): NewTrial {
  const licenseId = makeUuid();
  const activationId = makeUuid();
  const licenseKey = generateLicenseKey(ctx.catalog().keyPrefix, randomBytes);
  return {
    licenseId,
    ...sealLicenseKey(ctx, licenseId, licenseKey),
    activationId,
    ...machine,
    installId,
    entitlementProof: signFirst(ctx, licenseId, activationId, machine.machineId, terms),
  };
}

function signFirst(
  ctx: PreparationContext,
  licenseId: string,
  activationId: string,
  machineId: string | null,
  terms: TrialTerms,
): string | null {
  const license = trialStanding(licenseId, terms);
  const licenseTerms = findCatalogTerms(ctx.catalog(), license);
  if (licenseTerms === null) return null;
  const activation = { id: activationId, machineId, entitlementProof: null };
  return issueEntitlement(ctx, license, licenseTerms, 'active', activation, terms.grantedAt)
    .newProof;
}
