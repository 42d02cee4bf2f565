import { createHash } from 'node:crypto';

import type { AirgapRequest } from '#server/features/licenses/rules/airgap-request.ts';

import { anyMachine } from './license-steps.ts';
import { CATALOG, testCatalog } from './test-catalog.ts';

/** The product that is offered for machines without a connection, in {@link airgapCatalog}. */
export const AIRGAP_PRODUCT = 'yearly';

/** The test catalogue, in which entitlements of the product `yearly` for machines without a connection last 90 days. */
export function airgapCatalog() {
  return testCatalog(
    CATALOG.replace('duration_days: 365', 'duration_days: 365\n    airgap_days: 90'),
  );
}

/** Formats a request as a client does. */
export function formatAirgapRequest(request: AirgapRequest): string {
  const { product, machineFingerprint, nonce, machineName } = request;
  const content = { product, machine_fingerprint: machineFingerprint, nonce, name: machineName };
  const text = `LKR1.${Buffer.from(JSON.stringify(content)).toString('base64url')}`;
  return `${text}.${createHash('sha256').update(text).digest('base64url').slice(0, 10)}`;
}

/** Creates the request of a machine's software. */
export function createRequest({
  machine = anyMachine(),
  product = AIRGAP_PRODUCT,
  nonce = 'q1w2e3r4t5z6u7i8',
  name = 'Lab PC 3',
}: {
  readonly machine?: Readonly<Record<string, unknown>>;
  readonly product?: string;
  readonly nonce?: string;
  readonly name?: string | null;
} = {}): string {
  return formatAirgapRequest({ product, machineFingerprint: machine, nonce, machineName: name });
}
