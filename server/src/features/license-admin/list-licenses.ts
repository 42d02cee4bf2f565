import {
  isUuid,
  type AdminLicense,
  type AdminLicenseExportQuery,
  type AdminLicenseQuery,
} from '@latchkey/contract';
import type { Pool } from 'pg';
import type { Logger } from 'pino';

import type { Clock } from '#server/clock.ts';
import type { Catalog } from '#server/config/catalog.ts';
import { queryAllBoundedPages, queryBoundedPage, type Filter } from '#server/db/bounded-list.ts';
import type { ListOrder, Page, PageRequest } from '#server/db/list.ts';
import { invalidRequest } from '#server/errors.ts';
import type { ConcurrencyLimiter } from '#server/lib/concurrency-limiter.ts';
import type { CsvColumns } from '#server/lib/csv.ts';
import { readTimeFilter } from '#server/lib/read-time-filter.ts';
import type { Vault } from '#server/lib/vault.ts';

import { recordAccess } from '../audit/record-access.ts';
import { resolveLicenseId } from '../licenses/find-license.ts';
import { licenseStatus, publicExpiry } from '../licenses/rules/status.ts';
import { ACTIVATION_COLUMNS, readActivationsOf } from '../licenses/export-activations.ts';
import { revealOrSkip } from '../licenses/show.ts';
import { findCatalogTerms } from '../licenses/terms.ts';
import * as conditions from './queries/license-conditions.ts';
import {
  countRefusals,
  licenseList,
  listLicenseIdsOfTransaction,
  type ListedLicense,
} from './queries/license-list.ts';

export interface LicenseListDependencies {
  readonly catalog: () => Catalog;
  readonly clock: Clock;
  readonly databaseLimiter: ConcurrencyLimiter;
  readonly log: Logger;
  readonly pool: Pool;
  readonly vault: Vault;
}

const DAY_MS = 86_400_000;
const REFUSED_DAYS = 7;
const SILENT_DAYS = 90;
const MAX_EXPIRING_DAYS = 3_650;

/** Returns the first day of the week whose refusals count. */
export function startOfRefusals(now: Date): string {
  return new Date(now.getTime() - REFUSED_DAYS * DAY_MS).toISOString().slice(0, 10);
}

/**
 * Lists a page of licenses by the filters of operators.
 * @throws invalidRequest for a number of days that is none
 */
export async function listAdminLicenses(
  deps: LicenseListDependencies,
  query: AdminLicenseQuery,
  request: PageRequest,
): Promise<Page<AdminLicense>> {
  const now = deps.clock.now();
  const where = await readConditions(deps, query, now);
  const { rows, next } = await queryBoundedPage(deps.pool, licenseList, request, where);
  const refusals = await countRefusals(
    deps.pool,
    rows.map(({ id }) => id),
    startOfRefusals(now),
  );
  const view = (row: ListedLicense) =>
    viewLicense(deps.catalog(), row, now, refusals.get(row.id) ?? 0);
  return { rows: rows.map(view), next };
}

async function readConditions(
  deps: LicenseListDependencies,
  query: AdminLicenseExportQuery,
  now: Date,
): Promise<Filter[]> {
  const { status, product, tier, trial, email, transaction, refused } = query;
  const expiresBefore = readTimeFilter('query', 'expires_before', query.expires_before);
  const found: (Filter | null)[] = [
    status === undefined ? null : conditions.hasStatus(status, now),
    product === undefined ? null : conditions.isOfProduct(product),
    tier === undefined ? null : conditions.isOfTier(tier),
    trial === undefined ? null : conditions.isTrial(trial === 'true'),
    email === undefined ? null : conditions.isOfCustomer(email),
    query.expiring_days === undefined ? null : readExpiring(query.expiring_days, now),
    expiresBefore === undefined ? null : conditions.endsBefore(expiresBefore, now),
    query.machines === undefined ? null : readMachines(query.machines, now),
    refused === undefined
      ? null
      : conditions.wasRefusedSince(startOfRefusals(now), refused === 'any' ? null : refused),
    transaction === undefined
      ? null
      : conditions.isAnyOf(await listLicenseIdsOfTransaction(deps.pool, transaction)),
    await readSearch(deps, query.search?.trim() ?? ''),
  ];
  return found.filter((each) => each !== null);
}

function readExpiring(text: string, now: Date): Filter {
  const days = /^\d{1,4}$/u.test(text) ? Number(text) : 0;
  if (days < 1 || days > MAX_EXPIRING_DAYS) {
    const msg = `Input should be a whole number from 1 to ${MAX_EXPIRING_DAYS}`;
    throw invalidRequest([{ loc: ['query', 'expiring_days'], msg, type: 'int_range' }]);
  }
  return conditions.endsBefore(new Date(now.getTime() + days * DAY_MS), now);
}

function readMachines(
  machines: NonNullable<AdminLicenseExportQuery['machines']>,
  now: Date,
): Filter {
  if (machines === 'limit_reached') return conditions.isAtLimit();
  if (machines === 'never_activated') return conditions.isNeverActivated();
  return conditions.isSilentSince(new Date(now.getTime() - SILENT_DAYS * DAY_MS), now);
}

/** A full key or an id finds exactly its license. */
async function readSearch(deps: LicenseListDependencies, search: string): Promise<Filter | null> {
  if (search === '') return null;
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
  const tier = findCatalogTerms(catalog, license)?.tier ?? license.tier;
  return {
    id: license.id,
    key_hint: license.keyHint,
    product: license.productId,
    product_name: catalog.products.get(license.productId)?.name ?? license.productId,
    tier,
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

/** Columns and rows of a file. */
export interface LicenseExport {
  readonly columns: CsvColumns<ListedLicense>;
  readonly rows: AsyncIterable<ListedLicense>;
}

/**
 * Returns all licenses of a filter for a file, after an audit entry.
 * @param order.reveal whether the file has the full keys
 */
export async function exportLicenses(
  deps: LicenseListDependencies,
  query: AdminLicenseExportQuery,
  order: ListOrder,
  { actor, reveal }: { readonly actor: string; readonly reveal: boolean },
): Promise<LicenseExport> {
  const where = await readConditions(deps, query, deps.clock.now());
  const access = await recordAccess(deps, {
    actor,
    action: 'license.export',
    subjectId: 'licenses',
    reason: null,
    details: { format: 'csv', reveal, filter: describeFilter(query) },
  });
  return {
    columns: {
      license_id: (license) => license.id,
      ...(reveal
        ? { license_key: (license: ListedLicense) => revealOrSkip(deps, license, access) }
        : {}),
      ...exportedColumns(deps),
    },
    rows: queryAllBoundedPages(deps, licenseList, order, where),
  };
}

/** Returns the activations of all licenses of a filter for a file, after an audit entry. */
export async function exportActivations(
  deps: LicenseListDependencies,
  query: AdminLicenseExportQuery,
  order: ListOrder,
  actor: string,
) {
  const where = await readConditions(deps, query, deps.clock.now());
  await recordAccess(deps, {
    actor,
    action: 'activation.export',
    subjectId: 'activations',
    reason: null,
    details: { format: 'csv', reveal: false, filter: describeFilter(query) },
  });
  const licenses = queryAllBoundedPages(deps, licenseList, order, where);
  return { columns: ACTIVATION_COLUMNS, rows: readActivationsOf(deps, licenses) };
}

/** Names the filters of an export without their values where these may be personal data. */
function describeFilter(query: AdminLicenseExportQuery): string {
  const { search, email, transaction, sort: _sort, ...named } = query;
  const hidden = Object.entries({ search, email, transaction }).filter(
    ([, value]) => value !== undefined,
  );
  return [
    ...Object.entries(named).map(([name, value]) => `${name}=${value}`),
    ...hidden.map(([name]) => name),
  ].join(' ');
}

/** Those that an import reads have the names of its columns. */
function exportedColumns({ clock }: LicenseListDependencies): CsvColumns<ListedLicense> {
  return {
    key_hint: (license) => license.keyHint,
    product: (license) => license.productId,
    tier: (license) => license.tier,
    features: (license) => license.features.join(' '),
    status: (license) => licenseStatus(license, clock.now()),
    expires_at: (license) => publicExpiry(license, clock.now()),
    updates_until: (license) => license.updatesUntil,
    max_activations: (license) => license.maxActivations,
    trial: (license) => license.trial,
    subscription: (license) => license.subscription,
    customer_email: (license) => license.customerEmail,
    customer_name: (license) => license.customerName,
    note: (license) => license.note,
    is_test: (license) => license.isTest,
    transaction_id: (license) => license.transactionId,
    created_at: (license) => license.createdAt,
  };
}
