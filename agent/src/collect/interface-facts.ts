import { readlinkSync } from 'node:fs';
import { basename, join } from 'node:path';

import type { AgentInterface } from '@latchkey/contract';

import { present } from '../metric-values.ts';
import { isMissing, listDirectory, readNumber, readText } from '../read/small-file.ts';
import type { Roots } from '../roots.ts';

/** The fields of an interface that seldom change. */
export type InterfaceFacts = Pick<
  AgentInterface,
  'kind' | 'member_of' | 'up' | 'speed_bits_per_second'
>;

/** Kinds by the kernel's DEVTYPE; other devices have none. */
const KINDS: ReadonlyMap<string, AgentInterface['kind']> = new Map([
  ['bond', 'bond'],
  ['team', 'bond'],
  ['bridge', 'bridge'],
  ['vlan', 'vlan'],
  ['wireguard', 'tunnel'],
  ['vxlan', 'tunnel'],
  ['geneve', 'tunnel'],
  ['gre', 'tunnel'],
  ['ppp', 'tunnel'],
  // A port of a switch (DSA) is a socket of the machine.
  ['dsa', 'physical'],
]);

const BITS_PER_MEGABIT = 1_000_000;

/** ARPHRD_LOOPBACK of if_arp.h. */
const LOOPBACK = 772;

/** ARPHRD_TUNNEL, _TUNNEL6, _SIT, _IPGRE and _IP6GRE, which have no DEVTYPE. */
const TUNNELS: ReadonlySet<number | null> = new Set([768, 769, 776, 778, 823]);

/**
 * Reads the facts of an interface from /sys/class/net.
 * @returns null for the loopback; `veth` for the host's end of a container's cable
 */
export function readInterfaceFacts(roots: Roots, name: string): InterfaceFacts | 'veth' | null {
  const directory = join(roots.sys, 'class/net', name);
  const type = readNumber(join(directory, 'type'));
  if (name === 'lo' || type === LOOPBACK) return null;
  const files = listDirectory(directory);
  const kind = TUNNELS.has(type) ? 'tunnel' : readKind(directory, new Set(files));
  if (kind === 'virtual' && isPaired(directory, files)) return 'veth';
  const state = readText(join(directory, 'operstate'));
  // Without a link the file is unreadable, or contains -1 or 4294967295.
  const speed = readNumber(join(directory, 'speed')) ?? 0;
  return present({
    kind,
    member_of: readMaster(directory),
    up: state === null || state === 'unknown' ? null : state === 'up',
    speed_bits_per_second: speed > 0 && speed < 10_000_000 ? speed * BITS_PER_MEGABIT : null,
  });
}

function readKind(directory: string, files: ReadonlySet<string>): AgentInterface['kind'] {
  const type = /^DEVTYPE=(.+)$/m.exec(readText(join(directory, 'uevent')) ?? '')?.[1] ?? '';
  if (files.has('tun_flags')) return 'tunnel';
  const kind = KINDS.get(type);
  if (kind !== undefined) return kind;
  // The conduit between processor and switch (DSA) carries the traffic of its ports.
  if (files.has('dsa')) return 'virtual';
  return files.has('device') ? 'physical' : 'virtual';
}

/** The ends of a pair name each other; a single device names itself, and a stacked one (macvlan) the device below. */
function isPaired(directory: string, files: readonly string[]): boolean {
  if (files.some((file) => file.startsWith('lower_'))) return false;
  const own = readNumber(join(directory, 'ifindex'));
  const other = readNumber(join(directory, 'iflink'));
  return own !== null && other !== null && other !== 0 && own !== other;
}

function readMaster(directory: string): string | null {
  try {
    return basename(readlinkSync(join(directory, 'master')));
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}
