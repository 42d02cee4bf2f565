import type { AgentHost, AgentNotice, AgentNoticeCode } from '@latchkey/contract';

/*
 * Parses messages of `latchkey.brief.v1` (contract/src/agent-brief.ts). Unknown fields, types of messages and codes are ignored, and
 * texts and lists are limited, since an agent may be newer than this page, or not an agent at all.
 */

type Fields = Readonly<Record<string, unknown>>;

/** The first message. */
export interface BriefHello {
  readonly agentVersion: string;
  /** NaN when invalid. */
  readonly agentStartedAtMs: number;
  readonly intervalSeconds: number;
  readonly machineId: string | null;
  readonly host: AgentHost;
  /** Of the agent's clock in epoch milliseconds, oldest first; NaN when invalid. */
  readonly times: readonly number[];
  /** Columns by figure, unvalidated. */
  readonly columns: Fields;
}

/** Ten times the longest hello that an agent sends. */
const MAX_MESSAGE_LENGTH = 300_000;
const MAX_HISTORY_POINTS = 300;
const MAX_NOTICES = 50;
const MAX_TEXT_LENGTH = 200;
const MAX_INTERVAL_SECONDS = 60;

/** Parses a message. @returns its fields; null when it is no message of this protocol */
export function parseBriefMessage(data: unknown): Fields | null {
  if (typeof data !== 'string' || data.length > MAX_MESSAGE_LENGTH) return null;
  try {
    const message: unknown = JSON.parse(data);
    return isFields(message) ? message : null;
  } catch {
    // Not JSON, so not of this protocol.
    return null;
  }
}

/** Reads the fields of a hello; null when it is invalid. */
export function readBriefHello(message: Fields): BriefHello | null {
  const host = readHost(message['host']);
  if (message['type'] !== 'hello' || message['schema_version'] !== 1 || host === null) return null;
  const history = isFields(message['history']) ? message['history'] : {};
  const times: unknown[] = Array.isArray(history['time']) ? history['time'] : [];
  const interval = readNumber(message['interval_seconds']) ?? 1;
  const machineId = readText(message['machine_id']);
  return {
    agentVersion: readText(message['agent_version']) ?? '',
    agentStartedAtMs: readTimeMs(message['agent_started_at']),
    intervalSeconds: Math.min(MAX_INTERVAL_SECONDS, Math.max(1, Math.round(interval))),
    machineId: machineId !== null && /^[\da-f]{32}$/u.test(machineId) ? machineId : null,
    host,
    times: times.slice(-MAX_HISTORY_POINTS).map(readTimeMs),
    columns: history,
  };
}

/** Reads the notices of a message, whichever it is; null when it has none: not known yet, or unchanged. */
export function readBriefNotices(
  message: Fields,
): { readonly notices: readonly AgentNotice[]; readonly omitted: number } | null {
  const list: unknown = message['notices'];
  if (!Array.isArray(list)) return null;
  const notices = list.slice(0, MAX_NOTICES).flatMap((each: unknown) => readNotice(each) ?? []);
  const omitted = readNumber(message['notices_omitted']) ?? 0;
  return { notices, omitted: Math.max(0, Math.round(omitted)) };
}

/** Reads a time in epoch milliseconds; NaN when it is invalid. */
export function readTimeMs(value: unknown): number {
  return typeof value === 'string' && value.length <= 40 ? Date.parse(value) : Number.NaN;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const CODES: Readonly<Record<AgentNoticeCode, true>> = {
  unit_failed: true,
  disk_failing: true,
  disk_prefail: true,
  disk_self_test_failed: true,
  disk_worn: true,
  filesystem_stale: true,
  filesystem_full: true,
  temperature_high: true,
  under_voltage: true,
  throttled: true,
  battery_low: true,
};

function isNoticeCode(value: unknown): value is AgentNoticeCode {
  return typeof value === 'string' && Object.hasOwn(CODES, value);
}

function readNotice(value: unknown): AgentNotice | null {
  if (!isFields(value)) return null;
  const { code, severity } = value;
  const since = readText(value['since']);
  const isKnown = isNoticeCode(code) && (severity === 'error' || severity === 'warning');
  if (!isKnown || since === null || Number.isNaN(readTimeMs(since))) return null;
  return {
    code,
    severity,
    since,
    ...optional('subject', readText(value['subject'])),
    ...optional('count', readNumber(value['count'])),
    ...optional('ratio', readNumber(value['ratio'])),
    ...optional('celsius', readNumber(value['celsius'])),
  };
}

const MACHINE_TYPES = ['physical', 'virtual', 'container'] as const;

function readHost(value: unknown): AgentHost | null {
  if (!isFields(value)) return null;
  const machineType = MACHINE_TYPES.find((each) => each === value['machine_type']);
  return {
    hostname: readText(value['hostname']) ?? '',
    architecture: readText(value['architecture']) ?? '',
    machine_type: machineType ?? 'physical',
    ...optional('os_name', readText(value['os_name'])),
    ...optional('os_id', readText(value['os_id'])),
    ...optional('os_version', readText(value['os_version'])),
    ...optional('kernel_version', readText(value['kernel_version'])),
    ...optional('cpu_model', readText(value['cpu_model'])),
    ...optional('cpu_logical_count', readNumber(value['cpu_logical_count'])),
    ...optional('cpu_physical_count', readNumber(value['cpu_physical_count'])),
    ...optional('memory_total_bytes', readNumber(value['memory_total_bytes'])),
    ...optional('boot_time', readText(value['boot_time'])),
    ...optional('machine_model', readText(value['machine_model'])),
  };
}

/** An object with one field, or without it. */
function optional<K extends string, V>(key: K, value: V | null): { [P in K]?: V };
function optional(key: string, value: unknown): object {
  return value === null ? {} : { [key]: value };
}

function readText(value: unknown): string | null {
  return typeof value === 'string' ? value.slice(0, MAX_TEXT_LENGTH) : null;
}

function readNumber(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}
