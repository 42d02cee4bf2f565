import type { AgentSnapshot } from '@latchkey/contract';

import { listGpuTemperatures } from './otlp-gpus.ts';
import type { Attributes, Metrics, Point } from './otlp-metrics.ts';

const describe = (sensor: { readonly id: string; readonly label?: string }): Attributes => ({
  'hw.id': sensor.id,
  'hw.name': sensor.label,
});

/** Temperatures, those of graphics cards too, fans and batteries. */
export function addHardware(metrics: Metrics, snapshot: AgentSnapshot): void {
  const { sensors, batteries } = snapshot;
  metrics.add('hw.temperature', { unit: 'Cel', kind: 'gauge' }, [
    ...(sensors?.temperatures ?? []).map((each): Point => [
      each.temperature_celsius,
      describe(each),
    ]),
    ...listGpuTemperatures(snapshot),
  ]);
  metrics.add(
    'hw.fan.speed',
    { unit: 'rpm', kind: 'gauge' },
    (sensors?.fans ?? []).map((each) => [each.speed_rpm, describe(each)]),
  );
  metrics.add(
    'hw.battery.charge',
    { unit: '1', kind: 'gauge' },
    (batteries ?? []).map((each) => [each.charge_ratio, { 'hw.id': each.name }]),
  );
}
