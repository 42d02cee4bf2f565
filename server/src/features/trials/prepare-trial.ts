import { randomBytes } from 'node:crypto';

import { v7 as makeUuid } from 'uuid';

import type { Catalog } from '#server/config/catalog.ts';
import type { Context } from '#server/context.ts';
import { generateLicenseKey } from '#server/lib/license-key.ts';

import { issueEntitlement } from '../entitlements/issue-entitlement.ts';
import { sealLicenseKey } from '../licenses/seal-license-key.ts';
import { findCatalogTerms, TRIAL_TIER } from '../licenses/terms.ts';
import type { TrialRequest } from './trial-request.ts';
import type { NewTrial, TrialTerms } from './queries.ts';
import { standingOfTrial } from './standing.ts';

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
  const license = standingOfTrial(licenseId, terms);
  const licenseTerms = findCatalogTerms(ctx.catalog(), license);
  if (licenseTerms === null) return null;
  const activation = { id: activationId, machineId, entitlementProof: null };
  return issueEntitlement(ctx, license, licenseTerms, 'active', activation, terms.grantedAt)
    .newProof;
}
