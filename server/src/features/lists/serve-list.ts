/** Serves the lists that the contract declares: a page, and all rows as CSV after an audit entry. */
import type { AnyListResource } from '@latchkey/contract';
import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import { readAllPages } from '#server/db/list.ts';
import { answerCsv, answerPage, readOrder, readPageRequest } from '#server/http/admin-list.ts';
import type { App } from '#server/http/app-instance.ts';
import { serveOperation } from '#server/http/serve-operation.ts';
import type { ConcurrencyLimiter } from '#server/lib/concurrency-limiter.ts';

import { recordAccess } from '../audit/record-access.ts';
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
  serveOperation(app, of.list, ({ query }) => {
    const now = deps.clock.now();
    const selection = readSelection(of, query);
    return answerPage(
      readPageRequest(query, defaultSort),
      (page) => source.read(page, selection, now),
      (row) => source.view(row, now),
    );
  });
  serveOperation(app, of.export, async ({ query, operator }, reply) => {
    const now = deps.clock.now();
    const selection = readSelection(of, query);
    await recordExport(deps, of, operator.actor, selection);
    const rows = readAllPages(deps.databaseLimiter, readOrder(query, defaultSort), (page) =>
      source.read(page, selection, now),
    );
    return answerCsv(reply, of.title, readColumns(of.columns), viewAll(source, rows, now));
  });
}

/** An export needs its audit entry first, which has the filters; not what was searched, because it may be a person. */
async function recordExport(
  deps: ListDependencies,
  { name, title }: AnyListResource,
  actor: string,
  selection: object,
): Promise<void> {
  const { search: _, ...details } = { search: undefined, ...selection };
  const action = `${name}.export`;
  await recordAccess(deps, { actor, action, subjectId: title, reason: null, details });
}

async function* viewAll<Of extends AnyListResource, Row>(
  source: ListSource<Of, Row>,
  rows: AsyncIterable<Row>,
  now: Date,
): AsyncGenerator<object> {
  for await (const row of rows) yield source.view(row, now);
}
