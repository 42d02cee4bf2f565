/** The exports of licenses beside that of the list: with keys, of their activations, and of the timeline of one. */
import {
  exportActivations,
  exportLicensesWithKeys,
  exportLicenseTimeline,
  licenses,
} from '@latchkey/contract';

import { answerCsv } from '#server/http/admin-list.ts';
import type { App } from '#server/http/app-instance.ts';
import { serveOperation } from '#server/http/serve-operation.ts';

import type { RecordedAccess } from '../audit/record-access.ts';
import { ACTIVATION_COLUMNS, readActivationsOf } from '../licenses/export-activations.ts';
import { revealOrSkip } from '../licenses/show.ts';
import { answerExport, openExport } from '../lists/serve-list.ts';
import type { LicenseAdminDependencies } from './describe-license.ts';
import { licenseSource, viewLicense, type CountedLicense } from './list-licenses.ts';
import { exportTimeline } from './read-timeline.ts';

/** Registers the exports. */
export function registerLicenseExports(app: App, deps: LicenseAdminDependencies): void {
  const source = licenseSource(deps);
  serveOperation(app, exportLicensesWithKeys, async (request, reply) => {
    const { rows, ...opened } = await openExport(deps, licenses, source, request, { reveal: true });
    return answerExport(reply, WITH_KEYS, addKeys(deps, rows, opened));
  });
  serveOperation(app, exportActivations, async (request, reply) => {
    const activations = { ...licenses, name: 'activation', title: 'activations' };
    const { rows } = await openExport(deps, activations, source, request);
    return answerCsv(reply, 'activations', ACTIVATION_COLUMNS, readActivationsOf(deps, rows));
  });
  serveOperation(app, exportLicenseTimeline, async ({ params, query, operator }, reply) => {
    const items = await exportTimeline(deps, params.id, query.kind ?? null, operator.actor);
    return answerExport(reply, TIMELINE, items);
  });
}

const [ID = '', ...OTHERS] = licenses.columns;
const WITH_KEYS = { title: licenses.title, columns: [ID, 'license_key', ...OTHERS] };

async function* addKeys(
  deps: LicenseAdminDependencies,
  rows: AsyncIterable<CountedLicense>,
  { access, now }: { readonly access: RecordedAccess; readonly now: Date },
): AsyncGenerator<object> {
  for await (const row of rows) {
    const license = viewLicense(deps.catalog(), row, now, row.refusals);
    yield { ...license, license_key: revealOrSkip(deps, row, access) };
  }
}

const TIMELINE = {
  title: 'timeline',
  columns: ['id', 'occurred_at', 'kind', 'code', 'actor', 'reason', 'details'],
};
