import assert from 'node:assert/strict';

import { LicenseValidateResponse, MachineInfo, TrialStartResponse } from '@latchkey/contract';
import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import { MAX_ACTIVATIONS } from './loaded-service.ts';
import { send, type KnownActivation, type KnownTrial, type Ledger } from './recorded-load.ts';

const MachineList = Type.Array(MachineInfo);

const CONCURRENCY = 16;

/**
 * Asserts that every response still holds: activations exist and are active or not as last reported, valid responses
 * were counted, no license exceeds its limit of machines, and trials are the granted ones.
 */
export async function verifyLedger(url: string, ledger: Ledger): Promise<void> {
  assert.ok(ledger.activations.length > 0 && ledger.trials.length > 0, 'the load had responses');
  const licenses = Map.groupBy(ledger.activations, ({ licenseKey }) => licenseKey);
  await forEach([...licenses], ([licenseKey, known]) => verifyLicense(url, licenseKey, known));
  await forEach(ledger.activations, (activation) => verifyValidity(url, activation));
  await forEach(ledger.trials, (trial) => verifyTrial(url, trial));
}

async function verifyLicense(
  url: string,
  licenseKey: string,
  known: readonly KnownActivation[],
): Promise<void> {
  const response = await fetch(`${url}/api/v1/licenses/${licenseKey}/activations`);
  const machines = Parse(MachineList, await response.json());
  const active = machines.filter((machine) => machine.is_active).length;
  assert.ok(active <= MAX_ACTIVATIONS, `${active} machines are active`);
  const byId = new Map(machines.map((machine) => [machine.activation_id, machine]));
  for (const activation of known) {
    const machine = byId.get(activation.activationId);
    assert.equal(machine?.machine_id, activation.machineId);
    if (activation.state !== 'unknown') {
      assert.equal(machine.is_active, activation.state === 'active');
    }
    const { validations, unanswered } = activation;
    const count = machine.validation_count;
    assert.ok(
      count >= validations && count <= validations + unanswered,
      `${count} counted, ${validations} with a response, ${unanswered} without`,
    );
  }
}

async function verifyValidity(url: string, activation: KnownActivation): Promise<void> {
  if (activation.state === 'unknown') return;
  const { licenseKey, activationId, machineId } = activation;
  const answer = await send(url, '/api/v1/licenses/validate', {
    license_key: licenseKey,
    activation_id: activationId,
    machine_id: machineId,
  });
  assert.equal(answer.status, 200, answer.text);
  const { valid, reason } = Parse(LicenseValidateResponse, JSON.parse(answer.text));
  const isActive = activation.state === 'active';
  assert.deepEqual([valid, reason], isActive ? [true, null] : [false, 'activation_inactive']);
}

async function verifyTrial(url: string, trial: KnownTrial): Promise<void> {
  const answer = await send(url, '/api/v1/trial/start', {
    machine_fingerprint: { machine_id: trial.machineId },
  });
  assert.equal(answer.status, 200, answer.text);
  const again = Parse(TrialStartResponse, JSON.parse(answer.text));
  assert.deepEqual(
    [again.license_key, again.activation_id],
    [trial.licenseKey, trial.activationId],
  );
}

/** Runs work on each item, a few at a time. */
async function forEach<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const remaining = items.values();
  const worker = async (): Promise<void> => {
    for (const item of remaining) await work(item);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}
