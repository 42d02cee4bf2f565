import { cpus, totalmem } from 'node:os';

/** What the figures were measured on. */
export function describeMachine() {
  const [first] = cpus();
  return {
    machine: first?.model.trim() ?? 'unknown processor',
    cores: cpus().length,
    memoryGigabytes: Math.round(totalmem() / 2 ** 30),
    node: process.versions.node,
  };
}
