import type { Kept } from '../kept/kept.ts';
import { generateFingerprint, isGenerated, type Fingerprint } from './fingerprint.ts';

/**
 * Chooses the identity of the machine: the new reading, else the last good one, else a random one that is kept from now on. A random
 * one stays while a license uses it.
 * @param reading null: it failed
 */
export function chooseFingerprint(
  { machine, key, entitlement }: Pick<Kept, 'machine' | 'key' | 'entitlement'>,
  reading: Fingerprint | null,
  createUuid: () => string,
): Fingerprint {
  const isUsed = key !== null || entitlement !== null;
  if (machine !== null && (reading === null || (isGenerated(machine) && isUsed))) return machine;
  if (reading === null) return generateFingerprint(createUuid());
  const isSame = machine !== null && JSON.stringify(machine) === JSON.stringify(reading);
  return isSame ? machine : reading;
}
