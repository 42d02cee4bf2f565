import type { Context } from '#server/context.ts';

import {
  listInstallActivations,
  listInstallEvents,
  type InstallEvent,
} from '../queries/installs.ts';
import { listEventDays } from '../queries/partitions.ts';

const PAGE_ROWS = 5_000;
const NIL_UUID = '00000000-0000-0000-0000-000000000000';

/**
 * Gives everything that is held about an install as the lines of one JSON object: the activations that it told of, without
 * keys and fingerprints, and its events day by day, however many.
 */
export async function* exportInstall(
  { clock, pool }: Pick<Context, 'clock' | 'pool'>,
  installId: string,
): AsyncGenerator<string> {
  const activations = await listInstallActivations(pool, installId);
  const head = { install_id: installId, exported_at: clock.now(), activations };
  yield `${JSON.stringify(head).slice(0, -1)},"events":[`;
  let separator = '\n';
  for await (const event of readEvents(pool, installId)) {
    yield `${separator}${JSON.stringify(event)}`;
    separator = ',\n';
  }
  yield '\n]}\n';
}

async function* readEvents(pool: Context['pool'], installId: string): AsyncGenerator<InstallEvent> {
  for (const day of await listEventDays(pool)) {
    for (let afterId = NIL_UUID; ;) {
      const page = await listInstallEvents(pool, installId, { day, afterId, limit: PAGE_ROWS });
      yield* page;
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE_ROWS) break;
      afterId = last.event_id;
    }
  }
}
