/** Feature: liveness, readiness, and a report on database, backlog, load and disk. */
import { HealthResponse, LiveResponse, ReadyResponse, ref } from '@latchkey/contract';

import type { App } from '#server/http/app-instance.ts';

import { createHealth } from './check-health.ts';
import type { HealthDependencies } from './dependencies.ts';

/** Registers the probes and the health report, which need no credentials and reveal no secrets. */
export function registerHealthRoutes(app: App, deps: HealthDependencies): void {
  const health = createHealth(deps);

  app.get(
    '/api/v1/health/live',
    {
      schema: {
        operationId: 'getLiveness',
        tags: ['health'],
        summary: 'Whether the process runs',
        response: { 200: ref(LiveResponse, 'The process runs.') },
      },
    },
    async (_request, reply) => reply.header('cache-control', 'no-store').send(health.live()),
  );

  app.get(
    '/api/v1/health/ready',
    {
      schema: {
        operationId: 'getReadiness',
        tags: ['health'],
        summary: 'Whether requests should be sent here',
        response: {
          200: ref(ReadyResponse, 'Send requests.'),
          503: ref(ReadyResponse, 'Send none for now.'),
        },
      },
    },
    async (_request, reply) => {
      const answer = await health.ready();
      return reply
        .code(answer.status === 'ready' ? 200 : 503)
        .header('cache-control', 'no-store')
        .send(answer);
    },
  );

  app.get(
    '/api/v1/health',
    {
      schema: {
        operationId: 'getHealth',
        tags: ['health'],
        summary: 'The health of the service and of what it depends on',
        response: {
          200: ref(HealthResponse, 'Healthy, or degraded.'),
          503: ref(HealthResponse, 'Unhealthy.'),
        },
      },
    },
    async (_request, reply) => {
      const answer = await health.report();
      return reply
        .code(answer.status === 'unhealthy' ? 503 : 200)
        .header('cache-control', 'no-store')
        .send(answer);
    },
  );
}
