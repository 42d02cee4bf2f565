import type { AdminTrial, TrialRowsQuery, TrialState } from '@latchkey/contract';
import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import {
  queryAllPages,
  queryPage,
  type Condition,
  type ListOrder,
  type Page,
  type PageRequest,
} from '#server/db/list.ts';
import type { ConcurrencyLimiter } from '#server/lib/concurrency-limiter.ts';

import { recordAccess } from '../audit/record-access.ts';
import { isUsable, licenseStatus } from '../licenses/rules/status.ts';
import {
  isInState,
  isOfProduct,
  isTrial,
  matchesSearch,
  trialList,
  type ListedTrial,
} from './queries/trial-list.ts';

export interface TrialListDependencies {
  readonly pool: Pool;
  readonly databaseLimiter: ConcurrencyLimiter;
  readonly clock: Clock;
}

/** The filter of a list. */
type Filters = Pick<TrialRowsQuery, 'product' | 'search' | 'state'>;

/** Reads a page of trials. @throws InvalidPositionError */
export function listTrialPage(
  deps: TrialListDependencies,
  query: Filters,
  request: PageRequest,
): Promise<Page<ListedTrial>> {
  const conditions = listConditions(query, deps.clock.now());
  return queryPage(deps.pool, trialList, request, conditions);
}

/** Reads all trials of a filter, after an audit entry. */
export async function exportTrials(
  deps: TrialListDependencies,
  query: Filters,
  order: ListOrder,
  actor: string,
): Promise<AsyncIterable<ListedTrial>> {
  const { state = null, product = null } = query;
  await recordAccess(deps, {
    actor,
    action: 'trial.export',
    subjectId: 'trials',
    reason: null,
    details: { state, product },
  });
  return queryAllPages(deps, trialList, order, listConditions(query, deps.clock.now()));
}

function listConditions({ product, search, state }: Filters, now: Date): Condition[] {
  const text = search?.trim() ?? '';
  return [
    isTrial,
    ...(state === undefined ? [] : [isInState(state, now)]),
    ...(product === undefined ? [] : [isOfProduct(product)]),
    ...(text === '' ? [] : [matchesSearch(text)]),
  ];
}

/** Returns the state of a trial; the same as {@link isInState}. */
export function trialState(trial: ListedTrial, now: Date): TrialState {
  if (trial.convertedLicenseId !== null) return 'converted';
  return isUsable(licenseStatus(trial, now)) ? 'running' : 'ended';
}

/** Converts a trial to its answer. */
export function viewTrial(trial: ListedTrial, now: Date): AdminTrial {
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
