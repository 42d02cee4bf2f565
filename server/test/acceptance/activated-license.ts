import type { LicenseFactsChange } from '../harness.ts';
import { activate, anyMachine } from '../license-steps.ts';
import type { AcceptanceService } from './acceptance-service.ts';

/** Issues a license with one active machine; for tests marked `inProcess`. */
export async function issueActivatedLicense(
  service: AcceptanceService,
  facts: LicenseFactsChange = {},
) {
  const { licenseKey, license } = await service.own.issue();
  const machine = anyMachine();
  const { activation_id: activationId } = await activate(service, licenseKey, machine);
  if (Object.keys(facts).length > 0) await service.own.setFacts(license.id, facts);
  return { licenseKey, license, activationId, machineId: machine.machine_id };
}

/** Reads the columns of an activation that a validation changes; for tests marked `inProcess`. */
export async function readActivation({ own }: AcceptanceService, activationId: string) {
  const { rows } = await own.pool.query<Record<string, unknown>>(
    `select machine_id, validation_count, last_validated_at, install_id, usage_sharing
     from activations where id = $1`,
    [activationId],
  );
  return rows[0];
}
