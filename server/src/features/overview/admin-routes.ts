import { showOverview } from '@latchkey/contract';

import type { App } from '#server/http/app-instance.ts';
import { OWN_SLOTS } from '#server/http/database-slots.ts';
import { serveOperation } from '#server/http/serve-operation.ts';

import { createOverview, type OverviewDependencies } from './overview.ts';

/** Registers the overview. */
export function registerOverviewRoutes(app: App, deps: OverviewDependencies): void {
  serveOperation(app, showOverview, createOverview(deps), OWN_SLOTS);
}
