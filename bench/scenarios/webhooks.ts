import { runClosedLoop, runOpenLoop } from '../lib/http-load.ts';
import type { ServiceProcess } from '../lib/processes.ts';
import { purchaseWebhooks } from '../lib/purchases.ts';
import { requireNoFailures, type Figure } from '../lib/report.ts';
import type { Scale } from '../lib/scale.ts';

const PATH = '/api/v1/webhooks/billing';

/** A provider delivers over many connections at once. */
const CONNECTIONS = 128;

/** A provider takes an answer for lost after this long. */
const PROVIDER_PATIENCE_MS = 5_000;

/** Purchases that become licenses: how many a second, how long each takes, and whether a burst is taken whole. */
export async function measureWebhooks(service: ServiceProcess, scale: Scale): Promise<Figure[]> {
  const plan = { target: service.target, path: PATH, nextBody: purchaseWebhooks() };
  const seconds = scale.secondsPerLoad;
  const load = { ...plan, connections: CONNECTIONS, seconds };
  const closed = requireNoFailures(await runClosedLoop(load));
  const open = requireNoFailures(
    await runOpenLoop({ ...load, requestsPerSecond: closed.requestsPerSecond / 2 }),
  );
  const burstSeconds = scale.webhookBurst / closed.requestsPerSecond;
  const burst = requireNoFailures(
    await runClosedLoop({ ...plan, connections: CONNECTIONS * 8, seconds: burstSeconds }),
  );
  return [
    {
      name: 'purchases by webhook',
      value: closed.requestsPerSecond,
      unit: 'req/s',
      goal: { atLeast: 2_000 },
    },
    { name: 'purchases at half rate, p99', value: open.p99, unit: 'ms', goal: { atMost: 50 } },
    {
      name: `a burst of ${burst.requests} purchases, longest answer`,
      value: burst.max,
      unit: 'ms',
      goal: { atMost: PROVIDER_PATIENCE_MS },
    },
  ];
}
