import { Overview, ref } from '@latchkey/contract';
import type { FastifySchema } from 'fastify';

import type { App } from '#server/http/app-instance.ts';
import { OWN_SLOTS } from '#server/http/database-slots.ts';
import { VIEWER } from '#server/http/require-operator.ts';

import { createOverview, type OverviewDependencies } from './overview.ts';

/** Registers the overview. */
export function registerOverviewRoutes(app: App, deps: OverviewDependencies): void {
  const readOverview = createOverview(deps);
  app.get(
    '/api/v1/admin/overview',
    { config: { ...VIEWER, ...OWN_SLOTS }, schema: overviewOperation },
    () => readOverview(),
  );
}

const overviewOperation = {
  operationId: 'showOverview',
  tags: ['admin: start'],
  summary: 'Show what needs an operator, and the figures of the last 30 days',
  description:
    'Cheap to poll: what needs an operator is read every 10 seconds at most, and the figures, which come from roll-ups, every minute.',
  response: { 200: ref(Overview, 'The overview.') },
} satisfies FastifySchema;
