import { credentialsOf } from './credentials.ts';
import type { NextBody } from './http-connection.ts';

/** Bodies are prepared before the load starts, so that they cost almost nothing during it. */
const POOL_SIZE = 100_000;

/** A body with a placeholder for a unique text, so that all bodies differ. */
interface PreparedBody {
  readonly before: string;
  readonly after: string;
}

/**
 * Creates validations of random seeded activations. All bodies differ by a number that the service ignores; the facts
 * about the application are constant, as in real use.
 */
export function validationBodies(activations: number): NextBody {
  const pool = Array.from({ length: Math.min(activations, POOL_SIZE) }, (_, index) =>
    // Uses all of a few activations, or a random part of many.
    prepareValidation(activations <= POOL_SIZE ? index : Math.floor(Math.random() * activations)),
  );
  const start = Math.floor(Math.random() * pool.length);
  let count = 0;
  return () => {
    const body = pool[(start + count) % pool.length];
    if (body === undefined) throw new Error('no activation is seeded');
    return body.before + (count++).toString(16).padStart(12, '0') + body.after;
  };
}

/** The same bodies for a generator that inserts the numbers: `#` is the placeholder. */
export function validationTemplates(activations: number): string[] {
  return Array.from({ length: Math.min(activations, POOL_SIZE) }, (_, index) =>
    validationTemplate(index),
  );
}

function prepareValidation(index: number): PreparedBody {
  const [before = '', after = ''] = validationTemplate(index).split('#');
  return { before, after };
}

function validationTemplate(index: number): string {
  const { licenseKey, activationId, machineId } = credentialsOf(index);
  return JSON.stringify({
    license_key: licenseKey,
    activation_id: activationId,
    machine_id: machineId,
    install_id: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
    usage_sharing: true,
    trigger: 'scheduled',
    number: '#',
  });
}

/** Creates trial requests of new machines. */
export function newTrialBodies(): NextBody {
  const run = Math.random().toString(36).slice(2);
  let count = 0;
  return () => trialBody(`${run}-${count++}`);
}

/** Creates trial requests of machines with a trial, each from another address. */
export function knownTrialBodies(machines: readonly string[]): NextBody {
  let count = 0;
  return () => trialBody(machines[count % machines.length] ?? '', `10.0.0.${count++}`);
}

/** A trial request of a machine with one strong and two medium components, from an unrelated address. */
export function trialBody(machine: string, ip = '10.0.0.1'): string {
  return JSON.stringify({
    machine_fingerprint: {
      machine_id: `trial-machine-${machine}`,
      board_serial: `board-${machine}`,
      disk_serial: `disk-${machine}`,
      os_version: '15.1',
      ip,
    },
  });
}
