import type { AgentGpu } from '@latchkey/contract';

const VENDORS = { nvidia: 'NVIDIA', amd: 'AMD', intel: 'Intel' } as const;

/** What a GPU is called, with its number where others of the machine are called the same. */
export function nameGpu({ vendor, name, index }: AgentGpu, gpus: readonly AgentGpu[]): string {
  if (name === undefined) return `${VENDORS[vendor]} ${index}`;
  const isAlone = gpus.filter((each) => each.name === name).length === 1;
  return isAlone ? name : `${index}: ${name}`;
}
