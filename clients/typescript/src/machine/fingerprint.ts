import { isObject } from '../json.ts';

/** Values that identify a machine; `machine_id` is always among them. */
export interface Fingerprint {
  readonly machine_id: string;
  readonly [name: string]: string | readonly string[];
}

/** Reads a fingerprint; null without a `machine_id`. Other fields that are neither a text nor a list of texts are left out. */
export function readFingerprint(value: unknown): Fingerprint | null {
  if (!isObject(value)) return null;
  const { machine_id: machineId, ...others } = value;
  if (typeof machineId !== 'string' || machineId === '') return null;
  const parts = Object.entries(others).flatMap(([name, part]): [string, string | string[]][] => {
    if (typeof part === 'string') return [[name, part]];
    return Array.isArray(part) && part.every((each) => typeof each === 'string')
      ? [[name, part]]
      : [];
  });
  return { ...Object.fromEntries(parts), machine_id: machineId };
}

const GENERATED = 'generated-';

/** Creates the identity of a machine that has none; it is kept. */
export function generateFingerprint(uuid: string): Fingerprint {
  return { machine_id: GENERATED + uuid };
}

/** Whether an identity was created because the machine had none. */
export function isGenerated({ machine_id: machineId }: Fingerprint): boolean {
  return machineId.startsWith(GENERATED);
}
