/**
 * How much a key of a fingerprint says about the machine.
 * - `strong`: unique by design; one in common is enough.
 * - `medium`: usually unique, but parts get swapped and virtual machines share them; it takes two.
 * - `weak`: anything else; adds weight but never decides.
 * - `volatile`: changes from day to day; kept as information, never as identity.
 */
export type KeyClass = 'strong' | 'medium' | 'weak' | 'volatile';

/** A key's class, and the one name under which all its spellings are compared. */
export interface KnownKey {
  readonly class: KeyClass;
  readonly name: string;
}

/** The name that all spellings of the key for network hardware addresses share. */
export const MAC_KEY = 'mac';

/** The strong keys in the order in which they stand in for a missing `machine_id`. */
export const STRONG_KEYS = [
  'machineid',
  'hardwareuuid',
  'platformuuid',
  'machineguid',
  'systemuuid',
  'deviceid',
] as const;

const MEDIUM_KEYS = ['boardserial', 'diskserial', 'biosserial', 'tpm', 'cpuid', MAC_KEY];

const VOLATILE_KEYS = [
  'osversion',
  'appversion',
  'hostname',
  'username',
  'ip',
  'ips',
  'ipaddress',
  'ipaddresses',
  'timestamp',
  'timestamps',
];

const MAC_SPELLINGS = ['macs', 'macaddress', 'macaddresses'];

const knownKeys = buildKnownKeys();

/**
 * The spelling under which keys are compared: `machineId`, `machine_id` and `Machine-ID` are one key.
 * @param key as the client sent it
 */
function normalizeKey(key: string): string {
  return key
    .replace(/[\s_.-]+/gu, '')
    .toLowerCase()
    .normalize('NFC');
}

/** Classifies a key in any spelling. */
export function classifyKey(key: string): KnownKey {
  const name = normalizeKey(key);
  return knownKeys.get(name) ?? { class: 'weak', name };
}

function buildKnownKeys(): ReadonlyMap<string, KnownKey> {
  const known = new Map<string, KnownKey>();
  for (const name of STRONG_KEYS) known.set(name, { class: 'strong', name });
  for (const name of MEDIUM_KEYS) known.set(name, { class: 'medium', name });
  for (const name of VOLATILE_KEYS) known.set(name, { class: 'volatile', name });
  for (const name of MAC_SPELLINGS) known.set(name, { class: 'medium', name: MAC_KEY });
  return known;
}
