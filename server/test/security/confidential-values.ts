import { randomUUID } from 'node:crypto';

import { rotateSigningKey } from '#server/features/entitlements/rotate-signing-key.ts';
import { suspendLicense } from '#server/features/licenses/change-license.ts';

import type { TestService } from '../harness.ts';
import {
  activate,
  anyUnknownKey,
  deactivate,
  listMachines,
  startTrial,
  validate,
} from '../license-steps.ts';

/** The confidential values of a run, which must not appear anywhere. */
export interface RunSecrets {
  /** License keys, issued, imported, granted and guessed. */
  readonly keys: readonly string[];
  readonly emails: readonly string[];
  /** Values of fingerprints other than the machine's id, which is repeated with every validation. */
  readonly fingerprintValues: readonly string[];
  readonly machineIds: readonly string[];
  readonly transactionIds: readonly string[];
  readonly tokens: readonly string[];
}

/** Runs the operations of clients and operators, valid and invalid ones. */
export async function exerciseService(service: TestService): Promise<RunSecrets> {
  const mark = randomUUID();
  const email = `ada.${mark}@customers.example`;
  const transactionId = `txn_${mark}`;
  const importedKey = `FOREIGN ${mark}`;
  const guessedKey = anyUnknownKey();
  const machineId = `machine ${mark}`;
  const values = [
    `hardware ${mark}`,
    `board ${mark}`,
    `disk ${mark}`,
    `weak ${mark}`,
    `host ${mark}`,
  ];
  const [hardware, board, disk, weak, host] = values;
  const fingerprint = {
    machine_id: machineId,
    hardware_uuid: hardware,
    board_serial: board,
    disk: { serial: disk },
    anything: [weak],
    hostname: host,
  };

  const order = { customerEmail: email, customerName: 'Ada', transactionId };
  const { licenseKey } = await service.issue(order);
  await service.issue({ licenseKey: importedKey });
  const { activation_id: id, entitlement } = await activate(service, licenseKey, fingerprint);
  await activate(service, importedKey, fingerprint);
  const validated = await validate(service, licenseKey, id, machineId);
  await validate(service, licenseKey, id, 'another machine');
  await validate(service, guessedKey, id, machineId);
  await listMachines(service, licenseKey);
  await service.get(`/api/v1/licenses/${guessedKey}/activations`);
  await service.get(`/api/v1/licenses/check/${transactionId}?key=${licenseKey}`);
  const trial = await startTrial(service, { ...fingerprint, machine_id: `${machineId} trial` });
  await service.post('/api/v1/licenses/activate', `{"license_key":"${licenseKey}","machine`);
  await service.post('/api/v1/licenses/activate', {
    license_key: licenseKey,
    machine_fingerprint: { ...fingerprint, deep: { a: { b: { c: disk } } } },
  });
  await service.post(`/api/v1/nothing/${licenseKey}`, fingerprint);
  await suspendLicense(service.context, { keyOrId: licenseKey, actor: 'test', reason: 'a test' });
  await service.post('/api/v1/licenses/activate', {
    license_key: licenseKey,
    machine_fingerprint: fingerprint,
  });
  await rotateSigningKey(
    service.context,
    { immediately: true },
    { actor: 'test', reason: 'a test' },
  );
  await deactivate(service, licenseKey, id, machineId);
  return {
    keys: [licenseKey, importedKey, guessedKey, trial.license_key],
    emails: [email],
    fingerprintValues: values.filter((value) => value !== undefined),
    machineIds: [machineId],
    transactionIds: [transactionId],
    tokens: [entitlement, validated.entitlement, trial.entitlement].filter(
      (token) => token != null,
    ),
  };
}

/** Returns encodings of a text: verbatim, URL-encoded, compact, lower case, base64 and hexadecimal. */
export function encodingsOf(secret: string): string[] {
  const compact = secret.replaceAll(/[\s-]/g, '');
  return [secret, compact, encodeURIComponent(secret)].flatMap((each) => [
    each,
    each.toLowerCase(),
    Buffer.from(each).toString('base64').replaceAll('=', ''),
    Buffer.from(each).toString('hex'),
  ]);
}
