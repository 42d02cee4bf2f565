import { credentialsOf } from './credentials.ts';
import type { NextBody } from './http-load.ts';

/** Bodies that are made before the load starts, so that making them costs nothing during it. */
const POOL_SIZE = 100_000;

/** Validations of seeded activations, picked at random, each body another one. */
export function validationBodies(activations: number): NextBody {
  const pool = Array.from({ length: Math.min(activations, POOL_SIZE) }, () =>
    validationBody(Math.floor(Math.random() * activations)),
  );
  return pickFrom(pool);
}

/** Validations of all seeded activations in turn. */
export function validationBody(index: number): string {
  const { licenseKey, activationId, machineId } = credentialsOf(index);
  return JSON.stringify({
    license_key: licenseKey,
    activation_id: activationId,
    machine_id: machineId,
    install_id: activationId,
    usage_sharing: true,
    trigger: 'scheduled',
  });
}

/** Trials of machines that nobody has seen. */
export function newTrialBodies(): NextBody {
  const run = Math.random().toString(36).slice(2);
  let count = 0;
  return () => trialBody(`${run}-${count++}`);
}

/** Trials of machines that have theirs. */
export function knownTrialBodies(machines: readonly string[]): NextBody {
  return pickFrom(machines.map(trialBody));
}

/** A trial of a machine with one strong and two medium components. */
export function trialBody(machine: string): string {
  return JSON.stringify({
    machine_fingerprint: {
      machine_id: `trial-machine-${machine}`,
      board_serial: `board-${machine}`,
      disk_serial: `disk-${machine}`,
      os_version: '15.1',
    },
  });
}

function pickFrom(bodies: readonly string[]): NextBody {
  let next = Math.floor(Math.random() * bodies.length);
  return () => {
    next = (next + 1) % bodies.length;
    return bodies[next] ?? '';
  };
}
