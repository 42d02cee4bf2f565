/** Feature: one trial of seven days for each machine, recognized by the components of its fingerprint. */
import { v7 as makeUuid } from 'uuid';

import type { BatchQueue } from '#server/db/batching/batcher.ts';

import {
  issueEntitlement,
  type EntitlementDependencies,
} from '../entitlements/issue-entitlement.ts';
import type { LicenseKeyDependencies } from '../licenses/dependencies.ts';
import { draftLicense, type LicenseDraft } from '../licenses/issue.ts';
import type { ActivationChange } from '../licenses/queries/activations.ts';
import type { IdentifiedMachine } from '../licenses/read-machine.ts';
import { findCatalogTerms, TRIAL_TIER } from '../licenses/terms.ts';
import type { Trial } from './queries.ts';

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

/** A trial to store. */
export interface NewTrial extends Pick<LicenseDraft, 'license' | 'keyHash'> {
  readonly activation: ActivationChange;
}

/** Grants trials in batches. */
export type TrialBatch = BatchQueue<TrialRequest, Trial>;

/** Builds a trial's license, key, activation and first entitlement, without storing them. */
export function buildTrial(
  deps: LicenseKeyDependencies & EntitlementDependencies,
  { machine, installId }: TrialRequest,
  grantedAt: Date,
): NewTrial {
  const catalog = deps.catalog();
  const { license, keyHash } = draftLicense(deps, {
    productId: catalog.trial.productId,
    tier: TRIAL_TIER,
    features: catalog.trial.features,
    maxActivations: 1,
    trial: true,
    expiresAt: new Date(grantedAt.getTime() + TRIAL_DAYS * DAY_MS),
    createdAt: grantedAt,
  });
  const terms = findCatalogTerms(catalog, license);
  const activation = { id: makeUuid(), machineId: machine.machineId, entitlementProof: null };
  const entitlement =
    terms && issueEntitlement(deps, license, terms, 'active', activation, grantedAt);
  return {
    license,
    keyHash,
    activation: {
      ...machine,
      licenseId: license.id,
      id: activation.id,
      installId,
      entitlementProof: entitlement?.newProof ?? null,
    },
  };
}
