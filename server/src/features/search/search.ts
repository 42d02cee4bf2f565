/** Feature: one search for licenses, customers, payments, machines and events. */
import {
  SEARCH_KINDS,
  type SearchHit,
  type SearchKind,
  type SearchResults,
} from '@latchkey/contract';
import type { Pool } from 'pg';

import type { Catalog } from '#server/config/catalog.ts';
import type { Clock } from '#server/clock.ts';
import type { ConcurrencyLimiter } from '#server/lib/concurrency-limiter.ts';
import type { Vault } from '#server/lib/vault.ts';

import { findStoredEvent } from '../analytics/queries/stored-events.ts';
import { hashWithAllSecrets } from '../licenses/license-key.ts';
import { findLicenseIdByKey } from '../licenses/queries/license-keys.ts';
import { toMachineKey } from '../usage/machine-key.ts';
import {
  describeActivation,
  describeCustomers,
  describeEvent,
  describeInstall,
  describeLicense,
  describeMachine,
  describeMessage,
  describePayment,
  sortHits,
} from './describe-hits.ts';
import { findUsage, listActivations, listInstalls, listMachines } from './queries/activations.ts';
import { listAddresses } from './queries/addresses.ts';
import { findMessage } from './queries/messages.ts';
import {
  listLicensesByAddress,
  listLicensesByHint,
  listLicensesById,
  listLicensesByName,
  listLicensesByTransaction,
  type FoundLicense,
} from './queries/licenses.ts';
import { listPayments } from './queries/payments.ts';
import { isWhole, rangeOf, readSearch, type IdRange, type TextRange } from './rules/read-search.ts';

export interface SearchDependencies {
  readonly pool: Pool;
  readonly databaseLimiter: ConcurrencyLimiter;
  readonly vault: Vault;
  readonly catalog: () => Catalog;
  readonly clock: Clock;
}

/** The hits of one kind, and one more to know whether there are more. */
const MAX_OF_KIND = 8;
const LIMIT = MAX_OF_KIND + 1;
const MAX_HITS = 50;

/** Shorter prefixes match too many machines. */
const MIN_MACHINE_CHARACTERS = 4;

type Search = () => Promise<readonly (SearchHit | null)[]>;

/**
 * Finds everything that a text can name. Each part of the search is one look-up in an index, and only what the text can be
 * is looked up; they run side by side, each in a slot of the limiter that all calls share.
 */
export async function search(deps: SearchDependencies, searched: string): Promise<SearchResults> {
  const reading = readSearch(searched);
  if (reading === null) return { items: [], more: false };
  const { addresses, id, keyHint, text, uuids } = reading;
  const searches: readonly Search[] = [
    () => findByKey(deps, text),
    () => findByName(deps, text),
    ...(keyHint === null ? [] : [() => findByHint(deps, keyHint)]),
    ...(addresses === null ? [] : [() => findByAddress(deps, addresses)]),
    ...(uuids === null ? [] : searchUuids(deps, uuids)),
    ...(id === null ? [] : searchIds(deps, id)),
  ];
  const found = await Promise.all(searches.map((run) => deps.databaseLimiter.run(run)));
  return limit(found.flat().filter((hit) => hit !== null));
}

function limit(hits: readonly SearchHit[]): SearchResults {
  const sorted = sortHits(hits, SEARCH_KINDS);
  const counts = new Map<SearchKind, number>();
  const items = sorted.filter(({ kind }) => {
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    return count <= MAX_OF_KIND;
  });
  const shown = items.slice(0, MAX_HITS);
  return { items: shown, more: shown.length < sorted.length };
}

function toHits(deps: SearchDependencies, licenses: readonly FoundLicense[]): SearchHit[] {
  const { products } = deps.catalog();
  const now = deps.clock.now();
  const nameOf = (id: string): string => products.get(id)?.name ?? id;
  return licenses.map((license) => describeLicense(license, nameOf, now));
}

async function findByKey(deps: SearchDependencies, text: string): Promise<SearchHit[]> {
  const hashes = hashWithAllSecrets(deps, text);
  const id = hashes.length === 0 ? null : await findLicenseIdByKey(deps.pool, hashes);
  if (id === null) return [];
  return toHits(deps, await listLicensesById(deps.pool, { from: id, to: id }, 1));
}

async function findByName(deps: SearchDependencies, text: string): Promise<SearchHit[]> {
  return toHits(deps, await listLicensesByName(deps.pool, rangeOf(text.toLowerCase()), LIMIT));
}

async function findByHint(deps: SearchDependencies, hint: string): Promise<SearchHit[]> {
  const hints = [...new Set([hint, hint.toUpperCase()])];
  return toHits(deps, await listLicensesByHint(deps.pool, hints, LIMIT));
}

/** An address that is the only one also finds its licenses. */
async function findByAddress(deps: SearchDependencies, range: TextRange): Promise<SearchHit[]> {
  const found = await listAddresses(deps.pool, range, LIMIT);
  const customers = describeCustomers(found);
  const [only, ...others] = new Set(found.map(({ address }) => address));
  if (only === undefined || others.length > 0) return customers;
  return [...customers, ...toHits(deps, await listLicensesByAddress(deps.pool, only, LIMIT))];
}

/** Events are found by whole ids only. */
function searchUuids({ pool, ...deps }: SearchDependencies, range: IdRange): Search[] {
  return [
    async () => toHits({ pool, ...deps }, await listLicensesById(pool, range, LIMIT)),
    async () => (await listActivations(pool, range, LIMIT)).map(describeActivation),
    async () => (await listInstalls(pool, range, LIMIT)).map(describeInstall),
    ...(isWhole(range)
      ? [
          async () => {
            const event = await findStoredEvent(pool, range.from);
            return event === null ? [] : [describeEvent(event)];
          },
        ]
      : []),
  ];
}

function searchIds({ pool, ...deps }: SearchDependencies, id: string): Search[] {
  return [
    async () => toHits({ pool, ...deps }, await listLicensesByTransaction(pool, id, LIMIT)),
    async () => (await listPayments(pool, id, LIMIT)).map(describePayment),
    () => findMachines({ pool, ...deps }, id),
    async () => {
      const message = await findMessage(pool, id);
      return message === null ? [] : [describeMessage(message)];
    },
  ];
}

/** A machine without a license is known by its heartbeats, under a keyed hash of its whole id. */
async function findMachines({ pool, vault }: SearchDependencies, id: string): Promise<SearchHit[]> {
  const isShort = Array.from(id).length < MIN_MACHINE_CHARACTERS;
  const found = isShort ? [] : await listMachines(pool, rangeOf(beginOf(id)), LIMIT);
  if (found.length > 0) return found.map(describeMachine);
  const keys = [vault, ...vault.previous].map((hashes) => toMachineKey(hashes, id));
  const lastSeenAt = await findUsage(pool, keys);
  return lastSeenAt === null ? [] : [describeMachine({ id, activations: 0, lastSeenAt })];
}

/** The part of a machine's id that is in the index, in characters of PostgreSQL. */
const INDEXED_CHARACTERS = 200;

const beginOf = (id: string): string => Array.from(id).slice(0, INDEXED_CHARACTERS).join('');
