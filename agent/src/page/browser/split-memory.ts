import type { AgentMemory } from '@latchkey/contract';

/** A piece of the bar that all memory is. */
export interface MemoryPiece {
  readonly name: string;
  readonly kind: 'used' | 'arc' | 'cache' | 'free';
  readonly bytes: number;
}

/** What the memory is used for, adding up to all of it. ZFS's cache is told apart from other files'. */
export function splitMemory(memory: AgentMemory): MemoryPiece[] {
  const { total_bytes: total, used_bytes: used, free_bytes: free, zfs_arc_bytes: arc } = memory;
  const rest = Math.max(0, total - used - free);
  const reclaimableArc = Math.min(rest, arc ?? 0);
  const pieces: MemoryPiece[] = [{ name: 'Programs', kind: 'used', bytes: used }];
  if (arc !== undefined) pieces.push({ name: 'ZFS cache', kind: 'arc', bytes: reclaimableArc });
  pieces.push({ name: 'Cache', kind: 'cache', bytes: rest - reclaimableArc });
  pieces.push({ name: 'Free', kind: 'free', bytes: Math.min(free, total - used) });
  return pieces;
}
