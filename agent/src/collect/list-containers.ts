import { type Dirent, readdirSync } from 'node:fs';
import { join } from 'node:path';

import type { AgentContainer } from '@latchkey/contract';

import { isMissing } from '../read/small-file.ts';

/** The control group of a container. */
export interface ContainerGroup {
  readonly directory: string;
  readonly id: string;
  readonly runtime: AgentContainer['runtime'];
}

/** At most this many are shown. */
const MAX_CONTAINERS = 100;

/** Limits of the search. */
const MAX_DEPTH = 6;
const MAX_GROUPS = 2_000;

const ID_CHARACTERS = 12;

/** How container engines name their groups, with the systemd driver and without. */
const NAMES: readonly (readonly [RegExp, AgentContainer['runtime']])[] = [
  [/^docker-([0-9a-f]{64})\.scope$/, 'docker'],
  // "payload" where systemd runs it as a service (Quadlet).
  [/^libpod-(?:payload-)?([0-9a-f]{64})(?:\.scope)?$/, 'podman'],
  [/^(?:cri-containerd|crio)-([0-9a-f]{64})\.scope$/, 'kubernetes'],
  [/^lxc\.payload\.(.+)$/, 'lxc'],
  [/^systemd-nspawn@(.+)\.service$/, 'nspawn'],
];

/** Finds containers below the root of the control groups (version 2). Groups inside a container belong to it. */
export function listContainers(root: string): ContainerGroup[] {
  const found: ContainerGroup[] = [];
  let level = [root];
  let seen = 0;
  for (let depth = 0; depth < MAX_DEPTH && level.length > 0; depth += 1) {
    const below: string[] = [];
    for (const directory of level) {
      for (const name of listGroups(directory)) {
        seen += 1;
        if (seen > MAX_GROUPS || found.length >= MAX_CONTAINERS) return found;
        const container = recognise(directory, name);
        if (container === null) below.push(join(directory, name));
        else found.push(container);
      }
    }
    level = below;
  }
  return found;
}

function recognise(parent: string, name: string): ContainerGroup | null {
  const directory = join(parent, name);
  for (const [pattern, runtime] of NAMES) {
    const id = pattern.exec(name)?.[1];
    if (id !== undefined) return { directory, id: shorten(id), runtime };
  }
  // Proxmox names them by number.
  if (parent.endsWith('/lxc')) return { directory, id: name, runtime: 'lxc' };
  if (!/^[0-9a-f]{64}$/.test(name)) return null;
  if (parent.endsWith('/docker')) return { directory, id: shorten(name), runtime: 'docker' };
  return parent.includes('/kubepods')
    ? { directory, id: shorten(name), runtime: 'kubernetes' }
    : null;
}

function shorten(id: string): string {
  return /^[0-9a-f]{64}$/.test(id) ? id.slice(0, ID_CHARACTERS) : id;
}

function listGroups(directory: string): string[] {
  let entries: Dirent[];
  try {
    entries = readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}
