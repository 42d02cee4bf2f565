import type { AgentSnapshot } from '@latchkey/contract';

import type { Attributes, Metrics } from './otlp-metrics.ts';

const describe = (sensor: { readonly id: string; readonly label?: string }): Attributes => ({
  'hw.id': sensor.id,
  'hw.name': sensor.label,
});

/** Temperatures, fans and batteries. */
export function addHardware(metrics: Metrics, { sensors, batteries }: AgentSnapshot): void {
  metrics.add(
    'hw.temperature',
    { unit: 'Cel', kind: 'gauge' },
    (sensors?.temperatures ?? []).map((each) => [each.temperature_celsius, describe(each)]),
  );
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
