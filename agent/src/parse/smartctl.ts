import type { AgentDiskHealth } from '@latchkey/contract';

import { present } from '../metric-values.ts';

/** The outcome of one run of smartctl. */
export type SmartctlAnswer =
  | { readonly kind: 'read'; readonly health: SmartFigures }
  /** The disk sleeps and was not woken up. */
  | { readonly kind: 'asleep' }
  /** This account may not read the disk. */
  | { readonly kind: 'forbidden' }
  /** smartctl does not support the disk. */
  | { readonly kind: 'unsupported' }
  | { readonly kind: 'unreadable' };

type SmartFigures = Omit<AgentDiskHealth, 'device' | 'read_at'>;

/** The exit status requested for a sleeping disk: three bits that never occur together otherwise. */
export const ASLEEP_STATUS = 7;

/** The maximum size of an answer; about 40 kB is usual. */
export const MAX_SMARTCTL_BYTES = 256 * 1024;

/** The bits of its exit status, smartctl(8). */
const WRONG_COMMAND = 1;
const NOT_OPENED = 2;
const FAILING = 8;
const PREFAIL_NOW = 16;
const PREFAIL_PAST = 32;
const ERROR_LOG = 64;
const SELF_TEST_FAILED = 128;

/** Identifiers of attributes of ATA disks. */
const REALLOCATED = 5;
const PENDING = 197;

const MAX_MODEL_LENGTH = 100;

const SECONDS_PER_MINUTE = 60;
const SECONDS_PER_HOUR = 3600;

/**
 * Parses the output of `smartctl --json` for one disk.
 * @param exitStatus null when smartctl was killed
 */
export function parseSmartctl(output: string, exitStatus: number | null): SmartctlAnswer {
  if (exitStatus === ASLEEP_STATUS) return { kind: 'asleep' };
  if (exitStatus === null) return { kind: 'unreadable' };
  const answer = readJson(output);
  const figures = present(listFigures(answer));
  // An answer without figures, as some USB bridges send, must not count as good health.
  const isRead = (exitStatus & (WRONG_COMMAND | NOT_OPENED)) === 0 && hasAny(figures);
  if (!isRead) return { kind: findReason(answer, exitStatus) };
  const health = { ...present({ model: readModel(answer) }), ...readFlags(exitStatus), ...figures };
  return { kind: 'read', health };
}

function findReason(answer: unknown, exitStatus: number) {
  if (isForbidden(answer)) return 'forbidden';
  return (exitStatus & WRONG_COMMAND) === 0 ? 'unreadable' : 'unsupported';
}

function hasAny(figures: object): boolean {
  return Object.keys(figures).length > 0;
}

function readFlags(exitStatus: number) {
  const has = (bit: number): boolean => (exitStatus & bit) !== 0;
  return {
    failing: has(FAILING),
    prefail_now: has(PREFAIL_NOW),
    prefail_past: has(PREFAIL_PAST),
    error_log: has(ERROR_LOG),
    self_test_failed: has(SELF_TEST_FAILED),
  };
}

function listFigures(answer: unknown) {
  const passed = at(answer, 'smart_status', 'passed');
  const nvme = at(answer, 'nvme_smart_health_information_log');
  const usedPercent =
    amountAt(nvme, 'percentage_used') ??
    amountAt(answer, 'endurance_used', 'current_percent') ??
    amountAt(answer, 'scsi_percentage_used_endurance_indicator');
  const sparePercent =
    amountAt(nvme, 'available_spare') ?? amountAt(answer, 'spare_available', 'current_percent');
  return {
    passed: typeof passed === 'boolean' ? passed : null,
    temperature_celsius: numberAt(answer, 'temperature', 'current'),
    power_on_seconds: readPowerOn(at(answer, 'power_on_time')),
    wear_ratio: usedPercent === null ? null : usedPercent / 100,
    spare_ratio: sparePercent === null ? null : Math.min(1, sparePercent / 100),
    reallocated_sectors:
      readAttribute(answer, REALLOCATED) ?? amountAt(answer, 'scsi_grown_defect_list'),
    pending_sectors: readAttribute(answer, PENDING),
    media_errors: amountAt(nvme, 'media_errors'),
  };
}

function readPowerOn(time: unknown): number | null {
  const hours = amountAt(time, 'hours');
  if (hours === null) return null;
  return hours * SECONDS_PER_HOUR + (amountAt(time, 'minutes') ?? 0) * SECONDS_PER_MINUTE;
}

/** Returns the number that smartctl displays: vendors keep other data in the rest of the raw value. */
function readAttribute(answer: unknown, id: number): number | null {
  const table = at(answer, 'ata_smart_attributes', 'table');
  if (!Array.isArray(table)) return null;
  const shown = at(
    table.find((each) => at(each, 'id') === id),
    'raw',
    'string',
  );
  const digits = typeof shown === 'string' ? /^\d+/.exec(shown)?.[0] : undefined;
  return digits === undefined ? null : Number(digits);
}

function readModel(answer: unknown): string | null {
  const model = at(answer, 'model_name') ?? at(answer, 'scsi_model_name');
  return typeof model === 'string' && model !== '' ? model.slice(0, MAX_MODEL_LENGTH) : null;
}

function isForbidden(answer: unknown): boolean {
  const messages = at(answer, 'smartctl', 'messages');
  return (
    Array.isArray(messages) &&
    messages.some((each) =>
      /permission denied|operation not permitted/i.test(String(at(each, 'string'))),
    )
  );
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: no answer.
    return null;
  }
}

function amountAt(value: unknown, ...path: readonly string[]): number | null {
  const found = numberAt(value, ...path);
  return found === null || found < 0 ? null : found;
}

function numberAt(value: unknown, ...path: readonly string[]): number | null {
  const found = at(value, ...path);
  return typeof found === 'number' && Number.isFinite(found) ? found : null;
}

/** Returns the value at a path of names; undefined when it is missing. */
function at(value: unknown, ...path: readonly string[]): unknown {
  let found = value;
  for (const name of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name))
      return undefined;
    found = Reflect.get(found, name);
  }
  return found;
}
