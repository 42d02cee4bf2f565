import type { AgentSnapshot } from '@latchkey/contract';

import { formatCelsius, formatPercent } from './format.ts';

/** Filesystems fuller than this are listed at the top of the page. */
const FULL_RATIO = 0.9;
const LOW_CHARGE_RATIO = 0.15;

/** Lists present problems, one sentence each. */
export function findNotices(snapshot: AgentSnapshot): string[] {
  return [
    ...findUnitNotices(snapshot),
    ...findDiskNotices(snapshot),
    ...findSpaceNotices(snapshot),
    ...findHeatNotices(snapshot),
    ...findPowerNotices(snapshot),
  ];
}

function findUnitNotices({ units }: AgentSnapshot): string[] {
  const failed = units?.failed ?? [];
  if (failed.length === 0) return [];
  return failed.length === 1
    ? [`The unit ${failed[0]} failed.`]
    : [`${failed.length} units failed.`];
}

function findDiskNotices({ disk_health: disks = [] }: AgentSnapshot): string[] {
  return disks.flatMap((disk) => {
    const { device, wear_ratio: wear = 0 } = disk;
    if (disk.failing || disk.passed === false) return [`The disk ${device} is failing.`];
    return [
      ...(disk.prefail_now ? [`The disk ${device} is about to fail.`] : []),
      ...(disk.self_test_failed ? [`The disk ${device} failed its self-test.`] : []),
      ...(wear >= 1 ? [`The disk ${device} is worn ${formatPercent(wear)}.`] : []),
    ];
  });
}

function findSpaceNotices({ filesystems = [] }: AgentSnapshot): string[] {
  return filesystems.flatMap(({ mount_point: at, stale, usage_ratio: usage, read_only: fixed }) => {
    if (stale === true) return [`${at} does not answer.`];
    if (fixed || usage === undefined || usage < FULL_RATIO) return [];
    return [`${at} is ${formatPercent(usage)} full.`];
  });
}

function findHeatNotices({ sensors }: AgentSnapshot): string[] {
  return (sensors?.temperatures ?? []).flatMap((sensor) => {
    const limit = sensor.critical_celsius ?? sensor.high_celsius;
    if (limit === undefined || limit <= 0 || sensor.temperature_celsius < limit) return [];
    const name = sensor.label ?? sensor.chip;
    return [`${name} is at ${formatCelsius(sensor.temperature_celsius)}.`];
  });
}

function findPowerNotices({ raspberry_pi: pi, batteries = [] }: AgentSnapshot): string[] {
  const low = batteries.filter(
    ({ status, charge_ratio: charge = 1 }) => status === 'discharging' && charge < LOW_CHARGE_RATIO,
  );
  return [
    ...(pi?.under_voltage.now === true ? ['The power supply is too weak.'] : []),
    ...(pi?.throttled.now === true ? ['The processor is throttled.'] : []),
    ...low.map(({ name, charge_ratio: charge = 0 }) => `${name} is at ${formatPercent(charge)}.`),
  ];
}
