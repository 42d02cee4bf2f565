import { join } from 'node:path';

import type { AgentFilesystem } from '@latchkey/contract';

import { type Collector, every } from '../collector.ts';
import { chooseMounts, type ChosenMount, parseMountInfo } from './mounts.ts';
import { present, shareOf } from '../figures.ts';
import type { MountProber } from '../probe/mount-prober.ts';
import { askSpace, type Space } from '../probe/statfs-worker.ts';
import { KeptFile } from '../read/kept-file.ts';
import type { Roots } from '../roots.ts';

/** Space changes slowly, and asking makes some disks of a pool turn. */
const INTERVAL_MS = 5_000;

/**
 * Space of the filesystems that store files, from /proc/self/mountinfo and statfs(2). What may not answer, or lies
 * behind such, is asked by the prober: what hangs is shown with what it said last, as stale.
 * @param askLocal asks a filesystem that answers
 */
export function openFilesystemsCollector(
  roots: Roots,
  prober: MountProber,
  askLocal: (mountPoint: string) => Space | null = askSpace,
): Collector<AgentFilesystem[]> {
  const file = new KeptFile(join(roots.proc, 'self/mountinfo'));
  let mounts: ChosenMount[] = [];
  let local: ReadonlyMap<string, Space | null> = new Map();
  const isDue = every(INTERVAL_MS);

  function refresh(): void {
    mounts = chooseMounts(parseMountInfo(file.read()?.toString('utf8') ?? ''));
    prober.ask(mounts.filter(({ mayHang }) => mayHang).map(({ mountPoint }) => mountPoint));
    local = new Map(
      mounts
        .filter(({ mayHang }) => !mayHang)
        .map(({ mountPoint }) => [mountPoint, askLocal(mountPoint)]),
    );
  }

  return {
    collect(atMs) {
      if (isDue(atMs)) refresh();
      const parts = mounts.map((mount) =>
        mount.mayHang
          ? describeProbed(mount, prober)
          : describeLocal(mount, local.get(mount.mountPoint) ?? null),
      );
      const shown = parts.filter((part) => part !== null);
      return shown.length === 0 ? null : shown;
    },
    close: () => file.close(),
  };
}

function describeLocal(mount: ChosenMount, space: Space | null): AgentFilesystem | null {
  return isStorage(space) ? { ...describeMount(mount), ...describeSpace(space) } : null;
}

/** Without blocks it stores nothing, whatever it calls itself. */
function isStorage(space: Space | null): space is Space {
  return space !== null && space.blocks > 0;
}

function describeProbed(mount: ChosenMount, prober: MountProber): AgentFilesystem | null {
  const state = prober.stateOf(mount.mountPoint);
  if (state === null || (!isStorage(state.space) && !state.stale)) return null;
  return {
    ...describeMount(mount),
    ...(mount.network ? { network: true } : {}),
    ...(state.stale ? { stale: true } : {}),
    ...(isStorage(state.space) ? describeSpace(state.space) : {}),
  };
}

function describeMount(mount: ChosenMount) {
  const { mountPoint, device, type, readOnly } = mount;
  return { mount_point: mountPoint, device, type, read_only: readOnly };
}

/** A program that keeps a filesystem (FUSE) may say anything: that more is free than there is, too. */
function describeSpace({ frsize, blocks, bfree, bavail, files, ffree }: Space) {
  const free = Math.min(bfree, blocks);
  const available = Math.min(bavail, free);
  const used = blocks - free;
  const inodesUsed = Math.max(0, files - ffree);
  return present({
    total_bytes: blocks * frsize,
    used_bytes: used * frsize,
    free_bytes: free * frsize,
    available_bytes: available * frsize,
    usage_ratio: shareOf(used, used + available),
    // btrfs and others make inodes as they are needed, and say 0.
    inodes_total: files === 0 ? null : files,
    inodes_used: files === 0 ? null : inodesUsed,
    inodes_usage_ratio: shareOf(inodesUsed, files),
  });
}
