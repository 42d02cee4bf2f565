import { validationBodies } from '../lib/bodies.ts';
import { measureRate } from '../lib/http-load.ts';
import type { ServiceProcess } from '../lib/processes.ts';
import { median, type Figure } from '../lib/report.ts';
import type { Scale } from '../lib/scale.ts';

/** As many clients at once as a busy service has. */
const CONNECTIONS = 256;

/** The same service on two databases, both warm: a server that runs has its tables in memory as far as they fit. */
export interface GrowthServices {
  readonly few: ServiceProcess;
  readonly many: ServiceProcess;
}

/** What a validation costs among many activations, against what it costs among few. The two take turns. */
export async function measureGrowth(services: GrowthServices, scale: Scale): Promise<Figure[]> {
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
