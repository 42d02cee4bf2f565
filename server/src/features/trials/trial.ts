/** Trials: each machine gets one trial of seven days, whatever it does to get a second. */
import { randomBytes } from 'node:crypto';

import { v7 as makeUuid } from 'uuid';

import type { Catalog } from '#server/config/catalog.ts';
import type { BatchQueue } from '#server/db/batching/batcher.ts';
import { generateLicenseKey } from '#server/lib/license-key.ts';

import {
  issueEntitlement,
  type EntitlementDependencies,
} from '../entitlements/issue-entitlement.ts';
import type { LicenseKeyDependencies } from '../licenses/dependencies.ts';
import { sealLicenseKey, type StoredKey } from '../licenses/license-key.ts';
import type { ActivationChange } from '../licenses/queries/activations.ts';
import type { IdentifiedMachine } from '../licenses/read-machine.ts';
import type { LicenseStanding } from '../licenses/rules/facts.ts';
import { findCatalogTerms, TRIAL_TIER } from '../licenses/terms.ts';
import type { listTrials, TrialTerms } from './queries.ts';

/** Part of the interface. */
export const TRIAL_DAYS = 7;

const DAY_MS = 86_400_000;

/** A machine that requests a trial. */
export interface TrialRequest {
  /** Two machines share a trial when they share a claim; sorted. */
  readonly claims: readonly string[];
  /** The same claims under the previous master secrets; empty except during a rotation. */
  readonly olderClaims: readonly string[];
  readonly machine: IdentifiedMachine;
  readonly installId: string | null;
}

/** A granted trial, new or existing. */
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

/** A trial to store. */
export interface NewTrial extends StoredKey {
  readonly licenseId: string;
  readonly activation: ActivationChange;
}

/** Grants trials in batches. */
export type TrialBatch = BatchQueue<TrialRequest, Trial>;

/** Converts a stored row to a trial. */
export function toTrial(row: Awaited<ReturnType<typeof listTrials>>[number]): Trial {
  return {
    license: {
      ...newTrialLicense(row.id, row.product_id, row.expires_at),
      cancelScheduledFor: row.cancel_scheduled_for,
      canceledAt: row.canceled_at,
      pausedAt: row.paused_at,
      suspendedAt: row.suspended_at,
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

/** Returns the facts of a trial's license when it is granted. */
export function newTrialLicense(
  id: string,
  productId: string,
  expiresAt: Date | null,
): LicenseStanding {
  return {
    id,
    productId,
    trial: true,
    subscription: false,
    expiresAt,
    cancelScheduledFor: null,
    canceledAt: null,
    pausedAt: null,
    suspendedAt: null,
    disputedAt: null,
    refundedAt: null,
    revokedAt: null,
  };
}

/** Returns the terms of a trial that is granted at a time. */
export function trialTerms(catalog: Catalog, grantedAt: Date): TrialTerms {
  return {
    productId: catalog.trial.productId,
    tier: TRIAL_TIER,
    features: catalog.trial.features,
    grantedAt,
    expiresAt: new Date(grantedAt.getTime() + TRIAL_DAYS * DAY_MS),
  };
}

/** Builds a trial's license, key, activation and first entitlement, without storing them. */
export function buildTrial(
  deps: LicenseKeyDependencies & EntitlementDependencies,
  { machine, installId }: TrialRequest,
  terms: TrialTerms,
): NewTrial {
  const licenseId = makeUuid();
  const license = newTrialLicense(licenseId, terms.productId, terms.expiresAt);
  const licenseTerms = findCatalogTerms(deps.catalog(), license);
  const activation = { id: makeUuid(), machineId: machine.machineId, entitlementProof: null };
  const entitlement =
    licenseTerms &&
    issueEntitlement(deps, license, licenseTerms, 'active', activation, terms.grantedAt);
  const licenseKey = generateLicenseKey(deps.catalog().keyPrefix, randomBytes);
  return {
    licenseId,
    ...sealLicenseKey(deps, licenseId, licenseKey),
    activation: {
      ...machine,
      licenseId,
      id: activation.id,
      installId,
      entitlementProof: entitlement?.newProof ?? null,
    },
  };
}
