import type { AdminTrial, trials, TrialState } from '@latchkey/contract';
import type { Pool } from 'pg';

import { isUsable, licenseStatus } from '../licenses/rules/status.ts';
import { selectFrom, type ListSource } from '../lists/list-source.ts';
import {
  isInState,
  isOfProduct,
  isTrial,
  matchesSearch,
  trialList,
  type ListedTrial,
} from './queries/trial-list.ts';

/** Where the list of trials comes from. */
export function trialSource(deps: { readonly pool: Pool }): ListSource<typeof trials, ListedTrial> {
  const filters = { state: isInState, product: isOfProduct, search: matchesSearch };
  return { read: selectFrom(deps, trialList, filters, [isTrial]), view: viewTrial };
}

/** Returns the state of a trial; the same as {@link isInState}. */
function trialState(trial: ListedTrial, now: Date): TrialState {
  if (trial.convertedLicenseId !== null) return 'converted';
  return isUsable(licenseStatus(trial, now)) ? 'running' : 'ended';
}

/** Converts a trial to its answer. */
function viewTrial(trial: ListedTrial, now: Date): AdminTrial {
  const { machine } = trial;
  return {
    id: trial.id,
    product_id: trial.productId,
    key_hint: trial.keyHint,
    state: trialState(trial, now),
    created_at: trial.createdAt.toISOString(),
    expires_at: trial.expiresAt?.toISOString() ?? null,
    machine_id: machine?.machine_id ?? null,
    os_version: machine?.os_version ?? null,
    app_version: machine?.app_version ?? null,
    last_seen_at: machine?.last_seen_at ?? null,
    conversion: viewConversion(trial),
  };
}

function viewConversion(trial: ListedTrial): AdminTrial['conversion'] {
  const { convertedAt, convertedLicenseId, convertedProductId } = trial;
  if (convertedAt === null || convertedLicenseId === null) return null;
  return {
    license_id: convertedLicenseId,
    product_id: convertedProductId ?? '',
    converted_at: convertedAt.toISOString(),
  };
}
