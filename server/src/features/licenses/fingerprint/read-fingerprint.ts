import { MAX_MACHINE_ID_LENGTH } from '@latchkey/contract';

import { collectComponents } from './components.ts';
import type { MachineIdentity } from './identity.ts';
import { findProblem } from './limits.ts';
import { findMachineId, findNote } from './machine-names.ts';
import { flattenFingerprint } from './flatten.ts';
import { toCanonicalJson } from './normalize-value.ts';

/** A fingerprint as it was read, or why it cannot be: a sentence for a 422 at `["body", "machine_fingerprint"]`. */
export type FingerprintReading =
  | { readonly ok: true; readonly identity: MachineIdentity }
  | { readonly ok: false; readonly message: string };

/** Refused here because the machine could never validate with it. */
const TOO_LONG_A_NAME = `machine_fingerprint must not name the machine in more than ${MAX_MACHINE_ID_LENGTH} characters`;

/**
 * Reads the free-form object that a client sends as its machine's fingerprint.
 * Neither the order of its keys nor their spelling matters (`machineId`, `machine_id`), nor case and blanks in values.
 * @param fingerprint the parsed JSON object
 */
export function readFingerprint(
  fingerprint: Readonly<Record<string, unknown>>,
): FingerprintReading {
  const problem = findProblem(fingerprint);
  if (problem !== undefined) return { ok: false, message: problem };
  const entries = flattenFingerprint(fingerprint);
  const machineId = findMachineId(entries);
  if (machineId !== null && Array.from(machineId).length > MAX_MACHINE_ID_LENGTH) {
    return { ok: false, message: TOO_LONG_A_NAME };
  }
  const components = collectComponents(entries);
  const identity: MachineIdentity = {
    components,
    canonical: toCanonicalJson(components.length > 0 ? components : fingerprint),
    machineId,
    osVersion: findNote(entries, 'osversion'),
    appVersion: findNote(entries, 'appversion'),
  };
  return { ok: true, identity };
}
