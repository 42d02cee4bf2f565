import { cpus, totalmem } from 'node:os';

/** Describes the machine of the measurement. */
export function describeMachine() {
  const [first] = cpus();
  return {
    machine: first?.model.trim() ?? 'unknown processor',
    cores: cpus().length,
    memoryGigabytes: Math.round(totalmem() / 2 ** 30),
    node: process.versions.node,
  };
}
