import { validationBodies } from '../lib/bodies.ts';
import { measureRate } from '../lib/http-load.ts';
import type { ServiceProcess } from '../lib/processes.ts';
import { median, type Measurement } from '../lib/report.ts';
import type { Scale } from '../lib/scale.ts';

/** The number of concurrent clients of a busy service. */
const CONNECTIONS = 256;

/** The same service on two databases, both warm, because a running server has its tables in memory. */
export interface GrowthServices {
  readonly few: ServiceProcess;
  readonly many: ServiceProcess;
}

/** Compares the cost of a validation among many activations with that among few, alternately. */
export async function measureGrowth(
  services: GrowthServices,
  scale: Scale,
): Promise<Measurement[]> {
  const load = ({ target }: ServiceProcess, activations: number): Promise<number> =>
    measureRate({
      target,
      path: '/api/v1/licenses/validate',
      nextBody: validationBodies(activations),
      connections: CONNECTIONS,
      seconds: scale.secondsPerLoad,
    });
  const ratios: number[] = [];
  for (let round = 0; round < scale.rounds; round++) {
    const amongFew = await load(services.few, scale.fewActivations);
    const amongMany = await load(services.many, scale.manyActivations);
    ratios.push(amongFew / amongMany);
  }
  const name = `validate among ${scale.manyActivations} / among ${scale.fewActivations}, cost`;
  return [{ name, value: median(ratios), unit: '', goal: { atMost: 1.2 } }];
}
