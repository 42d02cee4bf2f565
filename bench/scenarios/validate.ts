import { validationBodies } from '../lib/bodies.ts';
import { measureRate, requireNoFailures, runOpenLoop } from '../lib/http-load.ts';
import type { ServiceProcess } from '../lib/processes.ts';
import { type Measurement, median, printProgress } from '../lib/report.ts';
import type { Scale } from '../lib/scale.ts';

/** The number of concurrent clients of a busy service. */
const CONNECTIONS = 256;

/** Compares validate with the empty route, and batches with single statements; then measures latency at half the rate. */
export async function measureValidate(
  service: ServiceProcess,
  scale: Scale,
): Promise<Measurement[]> {
  const nextBody = validationBodies(scale.fewActivations);
  const { target } = service;
  const seconds = scale.secondsPerLoad;
  const load = (path: string): Promise<number> =>
    measureRate({ target, path, nextBody, connections: CONNECTIONS, seconds });
  const rounds: { empty: number; validate: number; single: number; signed: number }[] = [];
  for (let round = 0; round < scale.rounds; round++) {
    const rates = {
      empty: await load('/bench/empty/validate'),
      validate: await load('/api/v1/licenses/validate'),
      single: await load('/bench/single/validate'),
      signed: await load('/bench/signed/validate'),
    };
    rounds.push(rates);
    const ratio = (rates.validate / rates.empty).toFixed(2);
    printProgress(`validate, round ${round + 1} of ${scale.rounds}: ${ratio} of the empty route`);
  }
  const maximum = median(rounds.map((round) => round.validate));
  const open = await runOpenLoop({
    target,
    path: '/api/v1/licenses/validate',
    nextBody,
    connections: CONNECTIONS * 2,
    seconds: seconds * 2,
    requestsPerSecond: maximum / 2,
  });
  requireNoFailures(open);
  return [
    { name: 'empty route', value: median(rounds.map((round) => round.empty)), unit: 'req/s' },
    { name: 'validate', value: maximum, unit: 'req/s' },
    {
      name: 'validate / empty route',
      value: median(rounds.map((round) => round.validate / round.empty)),
      unit: '',
      goal: { atLeast: 0.7 },
    },
    {
      name: 'validate, unbatched',
      value: median(rounds.map((round) => round.single)),
      unit: 'req/s',
    },
    {
      name: 'validate / unbatched',
      value: median(rounds.map((round) => round.validate / round.single)),
      unit: '',
      goal: { atLeast: 1.8 },
    },
    {
      name: 'validate, token signed again',
      value: median(rounds.map((round) => round.signed)),
      unit: 'req/s',
    },
    {
      name: 'validate, token signed again / empty route',
      value: median(rounds.map((round) => round.signed / round.empty)),
      unit: '',
    },
    { name: 'validate at half rate, p50', value: open.p50, unit: 'ms' },
    { name: 'validate at half rate, p99', value: open.p99, unit: 'ms', goal: { atMost: 15 } },
  ];
}
