/**
 * How strongly a key of a fingerprint identifies the machine.
 * - `strong`: unique by design; one match is enough.
 * - `medium`: usually unique, but parts are swapped and virtual machines share them; two matches are needed.
 * - `weak`: all other keys; they count, but never decide.
 * - `volatile`: changes often; stored as information, not part of the identity.
 */
export type KeyClass = 'strong' | 'medium' | 'weak' | 'volatile';

/** A key's class, and the name under which all its spellings are compared. */
export interface KnownKey {
  readonly class: KeyClass;
  readonly name: string;
}

/** The name of the key for hardware addresses of network interfaces. */
export const MAC_KEY = 'mac';

/** The strong keys in the order in which they replace a missing `machine_id`. */
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
 * Normalizes the spelling of a key: `machineId`, `machine_id` and `Machine-ID` are one key.
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
