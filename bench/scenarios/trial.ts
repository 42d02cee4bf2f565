import { knownTrialBodies, newTrialBodies, trialBody } from '../lib/bodies.ts';
import { measureRate } from '../lib/http-load.ts';
import type { NextBody } from '../lib/http-connection.ts';
import type { ServiceProcess } from '../lib/processes.ts';
import type { Measurement } from '../lib/report.ts';
import type { Scale } from '../lib/scale.ts';

/** The number of concurrent clients of a busy service. */
const CONNECTIONS = 256;
const KNOWN_MACHINES = 1_000;

/** Compares granted and recovered trials with the empty route. */
export async function measureTrial(service: ServiceProcess, scale: Scale): Promise<Measurement[]> {
  const { target } = service;
  const seconds = scale.secondsPerLoad;
  const load = (path: string, nextBody: NextBody): Promise<number> =>
    measureRate({ target, path, nextBody, connections: CONNECTIONS, seconds });
  const known = Array.from({ length: KNOWN_MACHINES }, (_, index) => `known-${index}`);
  await startTrials(service, known);
  const empty = await load('/bench/empty/trial', newTrialBodies());
  const recovered = await load('/api/v1/trial/start', knownTrialBodies(known));
  const granted = await load('/api/v1/trial/start', newTrialBodies());
  return [
    { name: 'trial, empty route', value: empty, unit: 'req/s' },
    { name: 'trial recovered', value: recovered, unit: 'req/s' },
    { name: 'trial recovered / empty route', value: recovered / empty, unit: '' },
    { name: 'trial granted', value: granted, unit: 'req/s' },
    { name: 'trial granted / empty route', value: granted / empty, unit: '' },
  ];
}

async function startTrials({ target }: ServiceProcess, machines: readonly string[]): Promise<void> {
  for (const machine of machines) {
    const response = await fetch(`http://${target.host}:${target.port}/api/v1/trial/start`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: trialBody(machine),
    });
    if (!response.ok) throw new Error(`a trial was refused with ${response.status}`);
    await response.arrayBuffer();
  }
}
