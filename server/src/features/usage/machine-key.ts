import type { KeyedHashes } from '#server/lib/vault.ts';

/**
 * What the days of a machine's use are stored under: 128 bits of the keyed hash of the id that the client gives itself, in
 * the form of a UUID.
 */
export function toMachineKey(vault: Pick<KeyedHashes, 'hashText'>, machineId: string): string {
  const digits = vault.hashText('usage', machineId);
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    digits.slice(12, 16),
    digits.slice(16, 20),
    digits.slice(20, 32),
  ].join('-');
}
