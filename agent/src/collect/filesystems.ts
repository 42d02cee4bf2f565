import { join } from 'node:path';

import type { AgentFilesystem } from '@latchkey/contract';

import { type Collector, every } from '../collector.ts';
import { chooseMounts, type ChosenMount, parseMountInfo } from './mounts.ts';
import { listPresent, present, shareOf } from '../metric-values.ts';
import type { MountProber } from '../probe/mount-prober.ts';
import { readSpace, type Space } from '../probe/statfs-worker.ts';
import { KernelFile } from '../read/kernel-file.ts';
import type { Roots } from '../roots.ts';

/** Space changes slowly, and statfs spins up disks of some pools. */
const INTERVAL_MS = 5_000;

/**
 * Collects the space of filesystems from /proc/self/mountinfo and statfs(2). The prober reads filesystems that may hang, and those
 * mounted below; a hanging filesystem is reported as stale with its last values.
 * @param readLocal runs statfs on a local filesystem
 */
export function openFilesystemsCollector(
  roots: Roots,
  prober: MountProber,
  readLocal: (mountPoint: string) => Space | null = readSpace,
): Collector<AgentFilesystem[]> {
  const file = new KernelFile(join(roots.proc, 'self/mountinfo'));
  let mounts: ChosenMount[] = [];
  let local: ReadonlyMap<string, Space | null> = new Map();
  const isDue = every(INTERVAL_MS);

  function refresh(): void {
    mounts = chooseMounts(parseMountInfo(file.read()?.toString('utf8') ?? ''));
    prober.request(mounts.filter(({ mayHang }) => mayHang).map(({ mountPoint }) => mountPoint));
    local = new Map(
      mounts
        .filter(({ mayHang }) => !mayHang)
        .map(({ mountPoint }) => [mountPoint, readLocal(mountPoint)]),
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
      return listPresent(parts);
    },
    close: () => file.close(),
  };
}

function describeLocal(mount: ChosenMount, space: Space | null): AgentFilesystem | null {
  return isStorage(space) ? { ...describeMount(mount), ...describeSpace(space) } : null;
}

/** A filesystem without blocks stores nothing. */
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

/** FUSE programs may report anything, such as more free space than there is. */
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
    // btrfs and others allocate inodes on demand, and report 0.
    inodes_total: files === 0 ? null : files,
    inodes_used: files === 0 ? null : inodesUsed,
    inodes_usage_ratio: shareOf(inodesUsed, files),
  });
}
