import { isUuid, type AdminLicense, type licenses } from '@latchkey/contract';
import type { Pool } from 'pg';

import type { Catalog } from '#server/config/catalog.ts';
import { queryBoundedPage, type Filter } from '#server/db/bounded-list.ts';
import { invalidRequest } from '#server/errors.ts';
import { readTimeFilter } from '#server/lib/read-time-filter.ts';
import type { Vault } from '#server/lib/vault.ts';

import { resolveLicenseId } from '../licenses/find-license.ts';
import { licenseStatus, publicExpiry } from '../licenses/rules/status.ts';
import { findCatalogTerms } from '../licenses/terms.ts';
import { toConditions, type FilterConditions, type ListSource } from '../lists/list-source.ts';
import * as conditions from './queries/license-conditions.ts';
import {
  countRefusals,
  licenseList,
  listLicenseIdsOfTransaction,
  type ListedLicense,
} from './queries/license-list.ts';

interface LicenseListDependencies {
  readonly catalog: () => Catalog;
  readonly pool: Pool;
  readonly vault: Vault;
}

/** A license, with its refused requests of the week. */
export type CountedLicense = ListedLicense & { readonly refusals: number };

const DAY_MS = 86_400_000;
const REFUSED_DAYS = 7;
const SILENT_DAYS = 90;
const MAX_EXPIRING_DAYS = 3_650;

/** Returns the first day of the week whose refusals count. */
export function startOfRefusals(now: Date): string {
  return new Date(now.getTime() - REFUSED_DAYS * DAY_MS).toISOString().slice(0, 10);
}

/** Where the list of licenses comes from. */
export function licenseSource(
  deps: LicenseListDependencies,
): ListSource<typeof licenses, CountedLicense> {
  return {
    read: (selection, now) => {
      const selected = toConditions(filtersOf(deps), selection, now);
      return async (request) => {
        const filters: Filter[] = [];
        for (const each of selected) filters.push(typeof each === 'function' ? await each() : each);
        const { rows, next } = await queryBoundedPage(deps.pool, licenseList, request, filters);
        return { rows: await addRefusals(deps.pool, rows, now), next };
      };
    },
    view: (license, now) => viewLicense(deps.catalog(), license, now, license.refusals),
  };
}

async function addRefusals(
  pool: Pool,
  rows: readonly ListedLicense[],
  now: Date,
): Promise<CountedLicense[]> {
  const ids = rows.map(({ id }) => id);
  const counts = await countRefusals(pool, ids, startOfRefusals(now));
  return rows.map((license) => ({ ...license, refusals: counts.get(license.id) ?? 0 }));
}

/** A filter, or how it is looked up. */
type Selected = Filter | (() => Promise<Filter>);

function filtersOf(deps: LicenseListDependencies): FilterConditions<typeof licenses, Selected> {
  return {
    status: conditions.hasStatus,
    product: conditions.isOfProduct,
    tier: conditions.isOfTier,
    trial: (trial) => conditions.isTrial(trial === 'true'),
    test: (test) => conditions.isTest(test === 'true'),
    email: conditions.isOfCustomer,
    transaction: (id) => async () =>
      conditions.isAnyOf(await listLicenseIdsOfTransaction(deps.pool, id)),
    expiring_days: readExpiring,
    expires_before: readExpiresBefore,
    machines: readMachines,
    refused: (reason, now) =>
      conditions.wasRefusedSince(startOfRefusals(now), reason === 'any' ? null : reason),
    search: (text) => () => readSearch(deps, text),
  };
}

function readExpiresBefore(text: string, now: Date): Filter | null {
  const before = readTimeFilter('query', 'expires_before', text);
  return before === undefined ? null : conditions.endsBefore(before, now);
}

function readExpiring(text: string, now: Date): Filter {
  const days = /^\d{1,4}$/u.test(text) ? Number(text) : 0;
  if (days < 1 || days > MAX_EXPIRING_DAYS) {
    const msg = `Input should be a whole number from 1 to ${MAX_EXPIRING_DAYS}`;
    throw invalidRequest([{ loc: ['query', 'expiring_days'], msg, type: 'int_range' }]);
  }
  return conditions.endsBefore(new Date(now.getTime() + days * DAY_MS), now);
}

function readMachines(machines: 'limit_reached' | 'never_activated' | 'silent', now: Date): Filter {
  if (machines === 'limit_reached') return conditions.isAtLimit();
  if (machines === 'never_activated') return conditions.isNeverActivated();
  return conditions.isSilentSince(new Date(now.getTime() - SILENT_DAYS * DAY_MS), now);
}

/** A full key or an id finds exactly its license. */
async function readSearch(deps: LicenseListDependencies, search: string): Promise<Filter> {
  const id = await resolveLicenseId(deps, search);
  if (id !== null && !isUuid(search)) return conditions.isAnyOf([id]);
  const ofTransaction = await listLicenseIdsOfTransaction(deps.pool, search);
  return conditions.matchesText(search, id === null ? ofTransaction : [id, ...ofTransaction]);
}

/** Returns a license as the lists of operators show it. */
export function viewLicense(
  catalog: Catalog,
  license: ListedLicense,
  now: Date,
  refusals: number,
): AdminLicense {
  const terms = findCatalogTerms(catalog, license);
  return {
    id: license.id,
    key_hint: license.keyHint,
    product: license.productId,
    product_name: catalog.products.get(license.productId)?.name ?? license.productId,
    tier: terms?.tier ?? license.tier,
    features: [...(terms?.features ?? license.features)],
    status: licenseStatus(license, now),
    trial: license.trial,
    subscription: license.subscription,
    expires_at: publicExpiry(license, now)?.toISOString() ?? null,
    updates_until: license.updatesUntil?.toISOString() ?? null,
    max_activations: license.maxActivations,
    active_machines: license.activeMachines,
    last_seen_at: license.lastSeenAt?.toISOString() ?? null,
    refusals_this_week: refusals,
    customer_email: license.customerEmail,
    customer_name: license.customerName,
    transaction_id: license.transactionId,
    note: license.note,
    is_test: license.isTest,
    created_at: license.createdAt.toISOString(),
    version: license.version,
  };
}
