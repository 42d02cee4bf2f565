import { withDatabase } from '../lib/database.ts';
import { requireNoFailures, runBurst, runClosedLoop, runOpenLoop } from '../lib/http-load.ts';
import type { ServiceProcess } from '../lib/processes.ts';
import { purchaseWebhooks } from '../lib/purchases.ts';
import type { Measurement } from '../lib/report.ts';
import type { Scale } from '../lib/scale.ts';

const PATH = '/api/v1/webhooks/billing';

/** Connections of a provider. */
const CONNECTIONS = 128;
/** More than the queue admits, so that some get 503. */
const CONNECTIONS_IN_A_BURST = 5_000;

const GOAL_PER_SECOND = 2_000;

/** The timeout of a provider. */
const PROVIDER_PATIENCE_MS = 5_000;

/** Measures purchases that create licenses: rate, latency, and a burst. */
export async function measureWebhooks(
  service: ServiceProcess,
  scale: Scale,
): Promise<Measurement[]> {
  const plan = { target: service.target, path: PATH, nextBody: purchaseWebhooks() };
  const load = { ...plan, connections: CONNECTIONS, seconds: scale.secondsPerLoad };
  const closed = requireNoFailures(await runClosedLoop(load));
  const requestsPerSecond = GOAL_PER_SECOND / 2;
  const open = requireNoFailures(await runOpenLoop({ ...load, requestsPerSecond }));
  const before = await countLicenses(service);
  const burst = await runBurst(
    { ...plan, connections: CONNECTIONS_IN_A_BURST },
    scale.webhookBurst,
  );
  const made = (await countLicenses(service)) - before;
  return [
    {
      name: 'purchases by webhook',
      value: closed.requestsPerSecond,
      unit: 'req/s',
      goal: { atLeast: GOAL_PER_SECOND },
    },
    {
      name: `purchases at ${requestsPerSecond} a second, p99`,
      value: open.p99,
      unit: 'ms',
      goal: { atMost: 50 },
    },
    {
      name: `burst of ${scale.webhookBurst} purchases, licenses created`,
      value: made,
      unit: '',
      goal: { atLeast: scale.webhookBurst },
    },
    { name: 'burst, sent again after a 503', value: burst.sentAgain, unit: '' },
    {
      name: 'burst, longest answer',
      value: burst.max,
      unit: 'ms',
      goal: { atMost: PROVIDER_PATIENCE_MS },
    },
  ];
}

async function countLicenses({ dataDirectory }: ServiceProcess): Promise<number> {
  return withDatabase(dataDirectory, async (pool) => {
    const { rows } = await pool.query<{ count: number }>('select count(*) from licenses');
    return rows[0]?.count ?? 0;
  });
}
