/** The health of the service for operators. */
import { showServiceHealth } from '@latchkey/contract';

import type { App } from '#server/http/app-instance.ts';
import { NO_SLOT } from '#server/http/database-slots.ts';
import { serveOperation } from '#server/http/serve-operation.ts';

import {
  reportService,
  type ProcessFacts,
  type ServiceReportDependencies,
} from './report-service.ts';

export function registerServiceHealthRoutes(
  app: App,
  deps: ServiceReportDependencies,
  facts: ProcessFacts,
): void {
  serveOperation(app, showServiceHealth, () => reportService(deps, facts), NO_SLOT);
}
