import type { AgentGpu } from '@latchkey/contract';

/** What a GPU is called, with its number where others of the machine are called the same. */
export function nameGpu(
  { vendor, name, index, pci_address: address }: AgentGpu,
  gpus: readonly AgentGpu[],
): string {
  if (name === undefined) return `${vendor} ${address ?? index}`;
  const isAlone = gpus.filter((each) => each.name === name).length === 1;
  return isAlone ? name : `${index}: ${name}`;
}
