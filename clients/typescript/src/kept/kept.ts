import { NEW_CLOCK, type ClockMemory } from '../clock/clock.ts';
import { integerOrNull, isObject, parseJson, textOrNull, type JsonObject } from '../json.ts';
import { readFingerprint, type Fingerprint } from '../machine/fingerprint.ts';
import { readPublicKeys, type PublicKey } from '../tokens/public-keys.ts';

/** A refusal of the service. */
export interface Refused {
  /** A code such as `license_revoked`. */
  readonly reason: string;
  readonly at: string;
}

/** An activation to release as soon as the service answers. */
export interface Release {
  readonly key: string;
  readonly activationId: string;
  readonly machineId: string;
}

/** The open request of a machine without a connection. */
export interface OpenRequest {
  readonly nonce: string;
  readonly createdAt: string;
}

/** What a client keeps between two runs. */
export interface Kept {
  readonly key: string | null;
  readonly activationId: string | null;
  readonly entitlement: string | null;
  /** Keys that the service published after this version of the program was built. */
  readonly keys: readonly PublicKey[];
  readonly refused: Refused | null;
  readonly clock: ClockMemory;
  /** The last good reading. */
  readonly machine: Fingerprint | null;
  readonly installId: string | null;
  /** Whether the user shares usage; null: not asked yet. */
  readonly sharing: boolean | null;
  readonly release: Release | null;
  readonly request: OpenRequest | null;
  /** Whether a trial is wanted that could not be started yet. */
  readonly trialWanted: boolean;
  readonly lastAnswerAt: string | null;
  /** Fields of other versions, which survive. */
  readonly others: JsonObject;
}

/** What is kept of a license, and gone when it is deactivated. */
export const NO_LICENSE = {
  key: null,
  activationId: null,
  entitlement: null,
  refused: null,
  release: null,
  request: null,
  trialWanted: false,
} as const;

export const NOTHING_KEPT: Kept = {
  ...NO_LICENSE,
  keys: [],
  clock: NEW_CLOCK,
  machine: null,
  installId: null,
  sharing: null,
  lastAnswerAt: null,
  others: {},
};

/** Reads the kept file; null if it is damaged. A field of another type counts as absent. */
export function parseKept(text: string): Kept | null {
  const file = parseJson(text);
  if (!isObject(file)) return null;
  return {
    key: textOrNull(file['key']),
    activationId: textOrNull(file['activation_id']),
    entitlement: textOrNull(file['entitlement']),
    keys: readPublicKeys(file['keys']),
    refused: readRefused(file['refused']),
    clock: readClockMemory(file['clock']),
    machine: readFingerprint(file['machine']),
    installId: textOrNull(file['install_id']),
    sharing: typeof file['sharing'] === 'boolean' ? file['sharing'] : null,
    release: readRelease(file['release']),
    request: readRequest(file['request']),
    trialWanted: file['trial_wanted'] === true,
    lastAnswerAt: textOrNull(file['last_answer_at']),
    others: file,
  };
}

/** Whether there is a key or an entitlement. */
export function isActivated({ key, entitlement }: Pick<Kept, 'key' | 'entitlement'>): boolean {
  return key !== null || entitlement !== null;
}

/** Writes the kept file, in the form that the clients of all languages read. */
export function formatKept(kept: Kept): string {
  const { refused, clock, release, request, others } = kept;
  const file = {
    ...others,
    version: 1,
    key: kept.key,
    activation_id: kept.activationId,
    entitlement: kept.entitlement,
    keys: kept.keys,
    refused,
    clock: { offset_ms: clock.offsetMs, latest_ms: clock.latestMs },
    machine: kept.machine,
    install_id: kept.installId,
    sharing: kept.sharing,
    release: release && {
      key: release.key,
      activation_id: release.activationId,
      machine_id: release.machineId,
    },
    request: request && { nonce: request.nonce, created_at: request.createdAt },
    trial_wanted: kept.trialWanted,
    last_answer_at: kept.lastAnswerAt,
  };
  return `${JSON.stringify(file)}\n`;
}

function readRefused(value: unknown): Refused | null {
  const { reason, at } = toTexts(value);
  return reason === undefined ? null : { reason, at: at ?? '' };
}

function readClockMemory(value: unknown): ClockMemory {
  if (!isObject(value)) return NEW_CLOCK;
  return {
    offsetMs: integerOrNull(value['offset_ms']) ?? 0,
    latestMs: integerOrNull(value['latest_ms']) ?? 0,
  };
}

function readRelease(value: unknown): Release | null {
  const { key, activation_id: activationId, machine_id: machineId } = toTexts(value);
  return key && activationId && machineId ? { key, activationId, machineId } : null;
}

function readRequest(value: unknown): OpenRequest | null {
  const { nonce, created_at: createdAt = '' } = toTexts(value);
  return nonce === undefined ? null : { nonce, createdAt };
}

/** Returns the fields that are texts. */
function toTexts(value: unknown): Partial<Record<string, string>> {
  const texts: Partial<Record<string, string>> = {};
  for (const [name, field] of Object.entries(value ?? {})) {
    if (typeof field === 'string') texts[name] = field;
  }
  return texts;
}
