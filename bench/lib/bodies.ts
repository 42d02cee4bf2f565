import { credentialsOf } from './credentials.ts';
import type { NextBody } from './lanes.ts';

/** Bodies are prepared before the load starts, so that making them costs next to nothing during it. */
const POOL_SIZE = 100_000;

/** A body with a gap, into which each request puts a text of its own: no two bodies are alike. */
interface PreparedBody {
  readonly before: string;
  readonly after: string;
}

/**
 * Validations of seeded activations, picked at random, no two of them alike: each has a number, which nobody reads. What an
 * application says about itself is the same each time, as in real life.
 */
export function validationBodies(activations: number): NextBody {
  const pool = Array.from({ length: Math.min(activations, POOL_SIZE) }, (_, index) =>
    // Few activations are all asked for; of many, a random part.
    prepareValidation(activations <= POOL_SIZE ? index : Math.floor(Math.random() * activations)),
  );
  const start = Math.floor(Math.random() * pool.length);
  let count = 0;
  return () => {
    const body = pool[(start + count) % pool.length];
    if (body === undefined) throw new Error('there is nothing to validate');
    return body.before + (count++).toString(16).padStart(12, '0') + body.after;
  };
}

/** The same bodies for a generator that numbers them itself: each has a `#` where its number goes. */
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

/** Trials of machines that nobody has seen. */
export function newTrialBodies(): NextBody {
  const run = Math.random().toString(36).slice(2);
  let count = 0;
  return () => trialBody(`${run}-${count++}`);
}

/** Trials of machines that have theirs, each from another address. */
export function knownTrialBodies(machines: readonly string[]): NextBody {
  let count = 0;
  return () => trialBody(machines[count % machines.length] ?? '', `10.0.0.${count++}`);
}

/** A trial of a machine with one strong and two medium components; the address tells nothing about the machine. */
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
