import type { LicenseValidate } from '@latchkey/contract';

import { credentialsOf } from '../../../bench/lib/credentials.ts';
import type { Answer } from '../http-client.ts';
import type { Violations } from '../../expectations/violations.ts';
import { chooseMachine, installOf, type Actor } from './actor.ts';

/** Creates the actor that validates a seeded activation for a reason. A client does not repeat a validation. */
export function validateFor(trigger: NonNullable<LicenseValidate['trigger']>): Actor {
  return async ({ client, ledger, machines, violations }, number, dueAt) => {
    const machine = chooseMachine(number, machines);
    const { activationId, licenseKey, machineId } = credentialsOf(machine);
    const body = {
      license_key: licenseKey,
      activation_id: activationId,
      machine_id: machineId,
      install_id: installOf(machine),
      usage_sharing: true,
      trigger,
    };
    const path = '/api/v1/licenses/validate';
    const answer = await client.send('validate', { path, body, client: machine, dueAt });
    ledger.validations.record(machine, answer.acknowledgement);
    requireValid(answer, violations);
  };
}

/** An active machine is valid, whatever fails. */
export function requireValid({ acknowledgement, text }: Answer, violations: Violations): void {
  if (acknowledgement !== 'acknowledged' || text.includes('"valid":true')) return;
  const reason = /"reason":"(\w+)"/u.exec(text)?.[1] ?? 'no reason';
  violations.add(`an active machine was answered as not valid: ${reason}`);
}
