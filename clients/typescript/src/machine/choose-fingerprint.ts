import { isActivated, type Kept } from '../kept/kept.ts';
import { isGenerated, type Fingerprint } from './fingerprint.ts';

/**
 * Chooses the identity of the machine: the new reading, else the last good one. A random one stays while a license uses it.
 * @param reading null: it failed
 * @returns null if there is none
 */
export function chooseFingerprint(
  kept: Pick<Kept, 'machine' | 'key' | 'entitlement'>,
  reading: Fingerprint | null,
): Fingerprint | null {
  const { machine } = kept;
  if (reading === null || machine === null) return reading ?? machine;
  if (isGenerated(machine) && isActivated(kept)) return machine;
  const isSame = JSON.stringify(machine) === JSON.stringify(reading);
  return isSame ? machine : reading;
}
