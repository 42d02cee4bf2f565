import type { AgentHost } from '@latchkey/contract';

import { formatBytes } from './format.ts';

/** What a machine is, in the order in which people ask. */
export function describeHost(host: AgentHost): string[] {
  const { os_name: os, kernel_version: kernel, memory_total_bytes: memory } = host;
  const parts = [
    os,
    kernel === undefined ? undefined : `Linux ${kernel}`,
    host.architecture,
    host.cpu_model,
    memory === undefined ? undefined : formatBytes(memory),
    host.machine_model ?? (host.machine_type === 'physical' ? undefined : host.machine_type),
  ];
  return parts.filter((part) => part !== undefined);
}
