import { type Static, Type } from 'typebox';
import { oneOf, ref } from './schema.ts';

const version = Type.String({ description: 'The version of the program.', examples: ['1.0.0'] });
const uptimeSeconds = Type.Integer({ examples: [86_400] });

/** The check of one dependency of the service. */
export const HealthCheck = Type.Object(
  {
    status: oneOf(['healthy', 'degraded', 'unhealthy']),
    latency_ms: Type.Optional(
      Type.Unsafe<number | null>({ type: ['number', 'null'], examples: [0.8] }),
    ),
    message: Type.Optional(Type.String({ description: 'The problem, without internal details.' })),
  },
  { $id: 'HealthCheck' },
);
export type HealthCheck = Static<typeof HealthCheck>;

const checks = Type.Unsafe<Record<string, HealthCheck>>({
  type: 'object',
  additionalProperties: ref(HealthCheck),
  description:
    'By name: `database`, `migrations`, `process`, `load` (`degraded` while some requests are refused for lack of memory, `unhealthy` while most are), `workers` (with `--workers`; `degraded` while fewer run than configured), `redis` (with `REDIS_URL`; `degraded` while it fails, and limits of rates and guessing count on each machine alone), and the background work: `jobs`, `payments`, `mail` (e-mails with keys) and `outgoing_webhooks`, which are `degraded` at worst. More names may be added.',
  examples: [{ database: { status: 'healthy', latency_ms: 0.8 } }],
});

export const HealthResponse = Type.Object(
  {
    status: oneOf(['healthy', 'degraded', 'unhealthy']),
    version,
    uptime_seconds: uptimeSeconds,
    checks,
  },
  { $id: 'HealthResponse' },
);
export type HealthResponse = Static<typeof HealthResponse>;

export const ReadyResponse = Type.Object(
  { status: oneOf(['ready', 'not_ready']), checks },
  { $id: 'ReadyResponse' },
);
export type ReadyResponse = Static<typeof ReadyResponse>;

export const LiveResponse = Type.Object(
  { status: oneOf(['alive']), version, uptime_seconds: uptimeSeconds },
  { $id: 'LiveResponse' },
);
export type LiveResponse = Static<typeof LiveResponse>;

export const RootResponse = Type.Object(
  {
    name: Type.String({ examples: ['Latchkey'] }),
    version: Type.String({ description: 'The version of the interface.', examples: ['1.0.0'] }),
    description: Type.String(),
    links: Type.Object({
      documentation: Type.String({ examples: ['/docs'] }),
      openapi: Type.String({ examples: ['/openapi.json'] }),
      health: Type.String({ examples: ['/api/v1/health'] }),
    }),
  },
  { $id: 'RootResponse' },
);
export type RootResponse = Static<typeof RootResponse>;
