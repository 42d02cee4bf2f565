import { hash } from 'node:crypto';

import { generateLicenseKey } from '#server/lib/license-key.ts';

/** The credentials of one seeded activation. */
export interface Credentials {
  readonly licenseId: string;
  readonly licenseKey: string;
  readonly activationId: string;
  readonly machineId: string;
}

/** Derives the credentials of the n-th seeded activation, the same in the seeder and the load generator. */
export function credentialsOf(index: number): Credentials {
  const digest = hash('sha256', `license ${index}`, 'buffer');
  const activation = hash('sha256', `activation ${index}`, 'hex');
  return {
    licenseId: toUuid(hash('sha256', `id ${index}`, 'hex')),
    licenseKey: generateLicenseKey('LK', (count) => digest.subarray(0, count)),
    activationId: toUuid(activation),
    machineId: `bench-machine-${index}`,
  };
}

function toUuid(hexadecimal: string): string {
  const [a, b, c, d, e] = [0, 8, 12, 16, 20].map((start, part) =>
    hexadecimal.slice(start, [8, 12, 16, 20, 32][part]),
  );
  return [a, b, c, d, e].join('-');
}
