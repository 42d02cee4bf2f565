/** Feature: the lists of the operator interface, each a page at a time, or as CSV after an audit entry. */
import type { Readable } from 'node:stream';

import type { AnyCollectionResource, AnyListResource, ItemOf, Operation } from '@latchkey/contract';
import type { FastifyReply } from 'fastify';
import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import { readAllPages } from '#server/db/list.ts';
import { answerCsv, answerPage, readOrder, readPageRequest } from '#server/http/admin-list.ts';
import type { App } from '#server/http/app-instance.ts';
import { serveOperation } from '#server/http/serve-operation.ts';
import type { ConcurrencyLimiter } from '#server/lib/concurrency-limiter.ts';
import { scrub } from '#server/log-scrub.ts';

import { recordAccess, type AccessEntry, type RecordedAccess } from '../audit/record-access.ts';
import { readSelection, type ListSource } from './list-source.ts';
import { readColumns } from './read-columns.ts';

export interface ListDependencies {
  readonly pool: Pool;
  readonly databaseLimiter: ConcurrencyLimiter;
  readonly clock: Clock;
}

/** Registers the two operations of a list. */
export function serveList<Of extends AnyListResource, Row>(
  app: App,
  deps: ListDependencies,
  of: Of,
  source: ListSource<Of, Row>,
): void {
  const [defaultSort] = of.sorts;
  serveOperation(app, of.list, async (request) => {
    const now = deps.clock.now();
    const page = readPageRequest(request.query, defaultSort);
    const selection = readSelection(of, request);
    const read = source.read(selection, now);
    await source.require?.(selection);
    return answerPage(page, read, (row) => source.view(row, now));
  });
  serveOperation(app, of.export, async (request, reply) => {
    const { rows, now } = await openExport(deps, of, source, request);
    return answerExport(reply, of, viewAll(source, rows, now));
  });
}

interface ExportRequest {
  readonly query: { readonly sort?: string };
  readonly params?: object;
  readonly operator: { readonly actor: string };
}

/**
 * Records an export of a list, then returns all of its rows.
 * @param more of the audit entry
 */
export async function openExport<Of extends AnyListResource, Row>(
  deps: ListDependencies,
  of: Of,
  source: ListSource<Of, Row>,
  request: ExportRequest,
  more: AccessEntry['details'] = {},
) {
  const now = deps.clock.now();
  const order = readOrder(request.query, of.sorts[0]);
  const selection = readSelection(of, request);
  const read = source.read(selection, now);
  await source.require?.(selection);
  const access = await recordExport(deps, of, request.operator.actor, selection, more);
  return { access, now, rows: readAllPages(deps.databaseLimiter, order, read) };
}

/** Registers the two operations of a short list. @param read all of its items */
export function serveCollection<Of extends AnyCollectionResource>(
  app: App,
  deps: Pick<ListDependencies, 'pool' | 'clock'>,
  of: Of,
  read: () => Promise<ItemOf<Of>[]>,
): void {
  serveOperation<Operation>(app, of.list, async () => ({ items: await read() }));
  serveOperation(app, of.export, async ({ operator }, reply) => {
    await recordExport(deps, of, operator.actor, {});
    return answerExport(reply, of, await read());
  });
}

type Exported = Pick<AnyListResource, 'name' | 'title' | 'columns' | 'separator'> &
  Partial<Pick<AnyListResource, 'params' | 'personal'>>;

/**
 * An export needs its audit entry first, which has the filters. The subject is the resource that the list is below, or the
 * list.
 */
async function recordExport(
  deps: Pick<ListDependencies, 'pool' | 'clock'>,
  { name, title, params, personal = [] }: Exported,
  actor: string,
  selection: object,
  more: AccessEntry['details'] = {},
): Promise<RecordedAccess> {
  const [parameter = ''] = Object.keys(params?.properties ?? {});
  const selected: Readonly<Record<string, unknown>> = { ...selection };
  const { [parameter]: above, ...filters } = selected;
  const subjectId = typeof above === 'string' ? above : title;
  const details = { ...describeFilters(filters, personal), ...more };
  return recordAccess(deps, { actor, action: `${name}.export`, subjectId, reason: null, details });
}

/** The audit log is never edited, a filter can be any text, and what was searched may be a person. */
function describeFilters(filters: object, personal: readonly string[]): AccessEntry['details'] {
  const described = Object.entries(filters).flatMap(([name, value]) => {
    if (personal.includes(name)) return [[name, true]];
    return name === 'search' ? [] : [[name, scrub(String(value))]];
  });
  return Object.fromEntries(described);
}

/** Answers the items of a list as its CSV file. */
export function answerExport(
  reply: FastifyReply,
  { title, columns, separator }: Pick<Exported, 'title' | 'columns' | 'separator'>,
  items: AsyncIterable<object> | Iterable<object>,
): Readable {
  const name = title.toLowerCase().replaceAll(' ', '-');
  return answerCsv(reply, name, readColumns(columns, separator), items);
}

async function* viewAll<Of extends AnyListResource, Row>(
  source: ListSource<Of, Row>,
  rows: AsyncIterable<Row>,
  now: Date,
): AsyncGenerator<object> {
  for await (const row of rows) yield source.view(row, now);
}
