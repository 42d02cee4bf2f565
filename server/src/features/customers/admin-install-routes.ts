/** Installs and machines, for operators. */
import * as contract from '@latchkey/contract';

import { answerCsv, answerJsonFile } from '#server/http/admin-list.ts';
import type { App } from '#server/http/app-instance.ts';
import { OWN_SLOTS } from '#server/http/database-slots.ts';
import { serveOperation } from '#server/http/serve-operation.ts';
import type { ConcurrencyLimiter } from '#server/lib/concurrency-limiter.ts';

import { eraseInstall, eraseMachine } from '../analytics/installs/erase.ts';
import { listArchives } from '../analytics/installs/list-archives.ts';
import { listInstallEvents } from '../analytics/installs/list-events.ts';
import {
  downloadInstall,
  exportInstallEvents,
  viewInstall,
} from '../analytics/installs/read-install.ts';
import type { LicenseChangeDependencies } from '../licenses/dependencies.ts';
import { showMachine } from './show-machine.ts';

/** The dependencies of showing, exporting and erasing personal data. */
export interface PersonalDataDependencies extends LicenseChangeDependencies {
  readonly databaseLimiter: ConcurrencyLimiter;
}

/**
 * Registers the operations on installs and machines.
 * @param longWork limits the reads of whole tables
 */
export function registerInstallRoutes(
  app: App,
  deps: PersonalDataDependencies,
  longWork: ConcurrencyLimiter,
): void {
  serveOperation(app, contract.showInstall, ({ params }) => viewInstall(deps, params.id));
  serveOperation(app, contract.listInstallEvents, ({ params, query }) =>
    listInstallEvents(deps, params.id, query.cursor ?? null),
  );
  serveOperation(app, contract.exportInstallEvents, async ({ params, operator }, reply) => {
    const { columns, rows } = await exportInstallEvents(deps, params.id, operator.actor);
    return answerCsv(reply, 'install-events', columns, rows);
  });
  serveOperation(app, contract.exportInstall, async ({ params, body, operator }, reply) => {
    const access = { id: params.id, actor: operator.actor, reason: body.reason };
    return answerJsonFile(reply, 'install', await downloadInstall(deps, access));
  });
  serveOperation(
    app,
    contract.eraseInstall,
    ({ params, body, operator }) =>
      longWork.run(async () => {
        const erasure = { id: params.id, actor: operator.actor, reason: body.reason };
        return {
          erased_events: await eraseInstall(deps, erasure),
          archives: await listArchives(deps),
        };
      }),
    OWN_SLOTS,
  );
  serveOperation(app, contract.showMachine, ({ query }) => showMachine(deps, query.id));
  serveOperation(app, contract.eraseMachine, async ({ body: { id, reason }, operator }) => ({
    erased_days: await eraseMachine(deps, { id, reason, actor: operator.actor }),
  }));
}
