import type { LicenseMachine } from '@latchkey/contract';

import type { MachineFacts } from './diagnosis.ts';

const DAY_MS = 86_400_000;

/** An activation as stored. */
interface Activation {
  readonly id: string;
  readonly machineId: string | null;
  readonly osVersion: string | null;
  readonly appVersion: string | null;
  readonly versionsReportedAt: Date;
  readonly activatedAt: Date;
  readonly deactivatedAt: Date | null;
  readonly lastValidatedAt: Date;
  readonly validationCount: number;
  /** Until then it may run without a connection; null: it has no entitlement for that. */
  readonly airgappedUntil: Date | null;
}

/** The last heartbeat of a machine. */
interface Use {
  readonly lastAt: Date;
  readonly osVersion: string | null;
  readonly appVersion: string | null;
}

/**
 * Returns a machine as operators see it, with the versions reported last. Its token lasts for `offlineDays` from its last
 * validation, and not beyond the license; a machine without a connection has a token of its own.
 */
export function viewMachine(
  activation: Activation,
  use: Use | null,
  offlineDays: number,
  usableUntil: Date | null,
): LicenseMachine {
  const newer = use !== null && use.lastAt >= activation.versionsReportedAt ? use : null;
  const { deactivatedAt, lastValidatedAt } = activation;
  const seenAt = use !== null && use.lastAt > lastValidatedAt ? use.lastAt : lastValidatedAt;
  return {
    activation_id: activation.id,
    machine_id: activation.machineId,
    is_active: deactivatedAt === null,
    os_version: newer?.osVersion ?? activation.osVersion,
    app_version: newer?.appVersion ?? activation.appVersion,
    activated_at: activation.activatedAt.toISOString(),
    deactivated_at: deactivatedAt?.toISOString() ?? null,
    last_seen_at: seenAt.toISOString(),
    validation_count: activation.validationCount,
    offline_until:
      deactivatedAt === null
        ? endOfTokens(activation, offlineDays, usableUntil).toISOString()
        : null,
    airgapped_until: activation.airgappedUntil?.toISOString() ?? null,
  };
}

function endOfTokens(
  { airgappedUntil, lastValidatedAt }: Activation,
  offlineDays: number,
  usableUntil: Date | null,
): Date {
  const token = new Date(lastValidatedAt.getTime() + offlineDays * DAY_MS);
  const end = usableUntil !== null && usableUntil < token ? usableUntil : token;
  return airgappedUntil !== null && airgappedUntil > end ? airgappedUntil : end;
}

/**
 * Summarizes the machines of a license for its diagnosis.
 * @param active the number of all active machines, of which `activations` may be a part
 */
export function readMachineFacts(
  activations: readonly Activation[],
  machines: readonly LicenseMachine[],
  active: number,
  offlineDays: number,
  now: Date,
): MachineFacts {
  const oldest = now.getTime() - offlineDays * DAY_MS;
  const isOverdue = ({ airgappedUntil, deactivatedAt, lastValidatedAt }: Activation): boolean =>
    deactivatedAt === null &&
    lastValidatedAt.getTime() < oldest &&
    (airgappedUntil === null || airgappedUntil <= now);
  return {
    active,
    everActivated: activations.length,
    overdue: activations.filter(isOverdue).length,
    lastSeenAt: newest(machines.map((machine) => new Date(machine.last_seen_at))),
    changedAt: newest(
      activations.flatMap(({ activatedAt, deactivatedAt }) => [activatedAt, deactivatedAt]),
    ),
    offlineDays,
  };
}

function newest(times: readonly (Date | null)[]): Date | null {
  let last: Date | null = null;
  for (const time of times) if (time !== null && (last === null || time > last)) last = time;
  return last;
}
