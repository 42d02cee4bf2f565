import type { AgentSnapshot } from '@latchkey/contract';

import type { Attributes, Metrics, Point } from './otlp-metrics.ts';

const describeSensor = (sensor: { readonly id: string; readonly label?: string }): Attributes => ({
  'hw.id': sensor.id,
  'hw.name': sensor.label,
});

/** Adds temperatures (also of GPUs), fans and batteries. */
export function addHardware(metrics: Metrics, snapshot: AgentSnapshot): void {
  const { sensors, batteries } = snapshot;
  metrics.add('hw.temperature', { unit: 'Cel', kind: 'gauge' }, [
    ...(sensors?.temperatures ?? []).map((each): Point => [
      each.temperature_celsius,
      describeSensor(each),
    ]),
    ...listGpuTemperatures(snapshot),
  ]);
  metrics.add(
    'hw.fan.speed',
    { unit: 'rpm', kind: 'gauge' },
    (sensors?.fans ?? []).map((each) => [each.speed_rpm, describeSensor(each)]),
  );
  metrics.add(
    'hw.battery.charge',
    { unit: '1', kind: 'gauge' },
    (batteries ?? []).map((each) => [each.charge_ratio, { 'hw.id': each.name }]),
  );
}

type Gpu = NonNullable<AgentSnapshot['gpus']>[number];

/** Identifies a card: the conventions require an id that is stable while the machine runs. */
const describeGpu = ({ vendor, index, name, pci_address: address }: Gpu): Attributes => ({
  'hw.id': address ?? `${vendor}${index}`,
  'hw.name': name,
  'hw.vendor': vendor,
  'hw.type': 'gpu',
});

/** Adds GPUs, without their temperatures. */
export function addGpus(metrics: Metrics, { gpus = [] }: AgentSnapshot): void {
  const points = (read: (gpu: Gpu) => number | undefined, also: Attributes = {}): Point[] =>
    gpus.map((gpu) => [read(gpu), { ...describeGpu(gpu), ...also }]);
  const share = { unit: '1', kind: 'gauge' } as const;
  const bytes = { unit: 'By', kind: 'sum' } as const;
  const general = { 'hw.gpu.task': 'general' };
  metrics.add(
    'hw.gpu.utilization',
    share,
    points((gpu) => gpu.usage_ratio, general),
  );
  metrics.add(
    'hw.gpu.memory.usage',
    bytes,
    points((gpu) => gpu.memory_used_bytes),
  );
  metrics.add(
    'hw.gpu.memory.limit',
    bytes,
    points((gpu) => gpu.memory_total_bytes),
  );
  metrics.add('hw.gpu.memory.utilization', share, points(readMemoryShare));
  metrics.add(
    'hw.power',
    { unit: 'W', kind: 'gauge' },
    points((gpu) => gpu.power_watts),
  );
}

/** Lists the temperatures of GPUs, which are points of `hw.temperature`. */
function listGpuTemperatures({ gpus = [] }: AgentSnapshot): Point[] {
  return gpus.map((gpu) => [gpu.temperature_celsius, describeGpu(gpu)]);
}

function readMemoryShare({
  memory_used_bytes: used,
  memory_total_bytes: total,
}: Gpu): number | undefined {
  return used === undefined || total === undefined || total === 0 ? undefined : used / total;
}
