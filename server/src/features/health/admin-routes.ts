/** The health of the service for operators. */
import { ref, ServiceHealth } from '@latchkey/contract';
import type { FastifySchema } from 'fastify';

import type { App } from '#server/http/app-instance.ts';
import { NO_SLOT } from '#server/http/database-slots.ts';
import { VIEWER } from '#server/http/require-operator.ts';

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
  app.get(
    '/api/v1/admin/health',
    { config: { ...VIEWER, ...NO_SLOT }, schema: healthOperation },
    () => reportService(deps, facts),
  );
}

const healthOperation = {
  operationId: 'showServiceHealth',
  tags: ['admin: health'],
  summary: 'Show the health of the service, its database, queues and backlog',
  response: { 200: ref(ServiceHealth, 'The health, also while the service is degraded.') },
} satisfies FastifySchema;
