import { licenses, listLicenseTimeline, showLicense } from '@latchkey/contract';

import { answerPage, readPageRequest } from '#server/http/admin-list.ts';
import type { App } from '#server/http/app-instance.ts';
import { serveOperation } from '#server/http/serve-operation.ts';

import { serveList } from '../lists/serve-list.ts';
import { registerLicenseExports } from './admin-export-routes.ts';
import { describeLicense, type LicenseAdminDependencies } from './describe-license.ts';
import { licenseSource } from './list-licenses.ts';
import { readTimeline } from './read-timeline.ts';

/** Registers the operations that read licenses. */
export function registerLicenseAdminRoutes(app: App, deps: LicenseAdminDependencies): void {
  serveList(app, deps, licenses, licenseSource(deps));
  serveOperation(app, showLicense, ({ params }) => describeLicense(deps, params.id));
  serveOperation(app, listLicenseTimeline, ({ params, query }) =>
    answerPage(
      readPageRequest(query, '-occurred_at'),
      (page) => readTimeline(deps, params.id, query.kind ?? null, page),
      (item) => item,
    ),
  );
  registerLicenseExports(app, deps);
}
