import { validationBodies } from '../lib/bodies.ts';
import { requireNoFailures, runClosedLoop, type LoadPlan } from '../lib/http-load.ts';
import type { ServiceProcess } from '../lib/processes.ts';
import { type Measurement, printProgress } from '../lib/report.ts';
import type { Scale } from '../lib/scale.ts';

const CONNECTIONS = 64;
const SECONDS_PER_ROUND = 5;

/** Measures resident memory of the service after many validations, and its growth after half as many more. */
export async function measureMemory(service: ServiceProcess, scale: Scale): Promise<Measurement[]> {
  const plan: LoadPlan = {
    target: service.target,
    path: '/api/v1/licenses/validate',
    nextBody: validationBodies(scale.manyActivations),
    connections: CONNECTIONS,
    seconds: SECONDS_PER_ROUND,
  };
  const atStart = service.residentMegabytes();
  await sendAtLeast(plan, scale.memoryRequests);
  const afterwards = service.residentMegabytes();
  printProgress(
    `memory: ${atStart.toFixed(0)} MB at start, ${afterwards.toFixed(0)} MB after ${scale.memoryRequests} validations`,
  );
  await sendAtLeast(plan, scale.memoryRequests / 2);
  const later = service.residentMegabytes();
  return [
    { name: 'resident memory at start', value: atStart, unit: 'MB' },
    {
      name: `resident memory after ${scale.memoryRequests} validations`,
      value: afterwards,
      unit: 'MB',
      goal: { atMost: 160 },
    },
    {
      name: 'resident memory after half as many more, growth',
      value: later / afterwards,
      unit: '',
      goal: { atMost: 1.05 },
    },
  ];
}

async function sendAtLeast(plan: LoadPlan, requests: number): Promise<void> {
  for (let sent = 0; sent < requests;) {
    sent += requireNoFailures(await runClosedLoop(plan)).requests;
  }
}
