import type { AgentNotice, AgentSnapshot } from '@latchkey/contract';

/** A present problem, as one snapshot shows it. */
export type Notice = Omit<AgentNotice, 'since'>;

/** Fuller filesystems are reported. */
const FULL_RATIO = 0.9;
/** From here on, programs fail to write. */
const NO_SPACE_RATIO = 0.99;
const LOW_CHARGE_RATIO = 0.15;

/** Finds the present problems. */
export function findNotices(snapshot: AgentSnapshot): Notice[] {
  return [
    ...findUnitNotices(snapshot),
    ...findDiskNotices(snapshot),
    ...findSpaceNotices(snapshot),
    ...findHeatNotices(snapshot),
    ...findPowerNotices(snapshot),
  ];
}

function findUnitNotices({ units }: AgentSnapshot): Notice[] {
  const [subject, ...others] = units?.failed ?? [];
  if (subject === undefined) return [];
  const count = others.length === 0 ? {} : { count: others.length + 1 };
  return [{ code: 'unit_failed', severity: 'error', subject, ...count }];
}

function findDiskNotices({ disk_health: disks = [] }: AgentSnapshot): Notice[] {
  return disks.flatMap((disk): Notice[] => {
    const { device: subject, wear_ratio: wear = 0 } = disk;
    if (disk.failing || disk.passed === false)
      return [{ code: 'disk_failing', severity: 'error', subject }];
    const notices: (Notice | false)[] = [
      disk.prefail_now && { code: 'disk_prefail', severity: 'error', subject },
      disk.self_test_failed && { code: 'disk_self_test_failed', severity: 'warning', subject },
      wear >= 1 && { code: 'disk_worn', severity: 'warning', subject, ratio: toPercent(wear) },
    ];
    return notices.filter((each) => each !== false);
  });
}

function findSpaceNotices({ filesystems = [] }: AgentSnapshot): Notice[] {
  return filesystems.flatMap((filesystem): Notice[] => {
    const { mount_point: subject, usage_ratio: usage } = filesystem;
    if (filesystem.stale === true)
      return [{ code: 'filesystem_stale', severity: 'error', subject }];
    if (filesystem.read_only || usage === undefined || usage < FULL_RATIO) return [];
    const severity = usage < NO_SPACE_RATIO ? 'warning' : 'error';
    return [{ code: 'filesystem_full', severity, subject, ratio: toPercent(usage) }];
  });
}

function findHeatNotices({ sensors }: AgentSnapshot): Notice[] {
  return (sensors?.temperatures ?? []).flatMap((sensor): Notice[] => {
    const { temperature_celsius: celsius, critical_celsius: critical } = sensor;
    const limit = critical ?? sensor.high_celsius;
    if (limit === undefined || limit <= 0 || celsius < limit) return [];
    const subject = sensor.label ?? sensor.chip;
    const severity = critical === undefined ? 'warning' : 'error';
    return [{ code: 'temperature_high', severity, subject, celsius: Math.round(celsius) }];
  });
}

function findPowerNotices({ raspberry_pi: pi, batteries = [] }: AgentSnapshot): Notice[] {
  const low = batteries.filter(
    ({ status, charge_ratio: charge = 1 }) => status === 'discharging' && charge < LOW_CHARGE_RATIO,
  );
  return [
    ...(pi?.under_voltage.now === true ? [UNDER_VOLTAGE] : []),
    ...(pi?.throttled.now === true ? [THROTTLED] : []),
    ...low.map(({ name, charge_ratio: charge = 0 }): Notice => ({
      code: 'battery_low',
      severity: 'warning',
      subject: name,
      ratio: toPercent(charge),
    })),
  ];
}

const UNDER_VOLTAGE: Notice = { code: 'under_voltage', severity: 'warning' };
const THROTTLED: Notice = { code: 'throttled', severity: 'warning' };

/** Rounds a ratio to whole percents, so that small changes are none. */
function toPercent(ratio: number): number {
  return Math.round(ratio * 100) / 100;
}
