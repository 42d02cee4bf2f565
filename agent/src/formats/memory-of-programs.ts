import type { AgentSnapshot } from '@latchkey/contract';

/** Memory without what is free and what files and blocks take up, which Vector and OpenTelemetry call used. */
export function programsOf(memory: AgentSnapshot['memory']): number | undefined {
  if (memory === undefined) return undefined;
  const { total_bytes: total, free_bytes: free, buffers_bytes: buffers } = memory;
  return Math.max(0, total - free - buffers - memory.cached_bytes);
}
