/** Feature: liveness, readiness, and a report on database, backlog, load and disk. */
import { HealthResponse, LiveResponse, ReadyResponse, ref } from '@latchkey/contract';

import type { App } from '#server/http/app-instance.ts';

import type { Health } from './check-health.ts';

/** Registers the probes and the health report, which need no credentials and reveal no secrets. */
export function registerHealthRoutes(app: App, health: Health): void {
  app.get(
    '/api/v1/health/live',
    {
      schema: {
        operationId: 'getLiveness',
        tags: ['health'],
        summary: 'Check whether the process runs',
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
        summary: 'Check whether the process can serve requests',
        response: {
          200: ref(ReadyResponse, 'Send requests.'),
          503: ref(ReadyResponse, 'The process cannot serve requests now.'),
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
        summary: 'Get the health of the service and of its dependencies',
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
