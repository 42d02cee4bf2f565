import type { Context } from '#server/context.ts';

import { exportInstall } from '../analytics/installs/read-install.ts';
import type { HeldData } from './read-held.ts';

/**
 * Everything that is held about a person as the lines of one JSON object: the rows of each table under the names of its
 * columns, and for each install of the person's licenses its events.
 */
export async function* exportCustomer(
  ctx: Pick<Context, 'clock' | 'pool'>,
  email: string,
  { person, tables }: HeldData,
): AsyncGenerator<string> {
  const head = { address: email, id: person.address.id, exported_at: ctx.clock.now() };
  yield JSON.stringify(head).slice(0, -1);
  for (const [table, rows] of tables) {
    yield `,\n${JSON.stringify(table)}:[`;
    for (const [index, row] of rows.entries()) {
      yield `${index === 0 ? '\n' : ',\n'}${JSON.stringify(row)}`;
    }
    yield '\n]';
  }
  yield ',\n"installs":[';
  for (const [index, installId] of person.installIds.entries()) {
    if (index > 0) yield ',';
    yield* exportInstall(ctx, installId);
  }
  yield ']}\n';
}
