import { heartbeatBodies } from '../lib/event-bodies.ts';
import { measureRate } from '../lib/http-load.ts';
import type { ServiceProcess } from '../lib/processes.ts';
import { median, type Measurement } from '../lib/report.ts';
import type { Scale } from '../lib/scale.ts';

const CONNECTIONS = 256;
const MACHINES = 100_000;

/** Compares heartbeats with the empty route. */
export async function measureHeartbeats(
  { target }: ServiceProcess,
  { rounds: count, secondsPerLoad: seconds }: Scale,
): Promise<Measurement[]> {
  const nextBody = heartbeatBodies(MACHINES);
  const load = (path: string): Promise<number> =>
    measureRate({ target, path, nextBody, connections: CONNECTIONS, seconds });
  const rounds: { beats: number; empty: number }[] = [];
  for (let round = 0; round < count; round++) {
    rounds.push({
      beats: await load('/api/v1/usage/heartbeat'),
      empty: await load('/bench/empty/heartbeat'),
    });
  }
  return [
    { name: 'heartbeats', value: median(rounds.map(({ beats }) => beats)), unit: 'req/s' },
    {
      name: 'heartbeats / empty route',
      value: median(rounds.map(({ beats, empty }) => beats / empty)),
      unit: '',
      goal: { atLeast: 0.6 },
    },
  ];
}
