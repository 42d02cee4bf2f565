import { readdirSync, readlinkSync } from 'node:fs';
import { basename, join } from 'node:path';

import { readWhole } from '../../read/kernel-file.ts';
import { isMissing, listDirectory, readText } from '../../read/small-file.ts';
import type { Listener, ListenerProcess } from '../facts.ts';
import type { Detection } from '../../system/run-program.ts';

/** TCP_LISTEN of the kernel. */
const LISTENING = '0A';

/** The name that Node.js sets for its first thread, and so for its process. */
const NAME_OF_THREAD = 'MainThread';

interface ListeningSocket {
  readonly port: number;
  readonly address: string;
  readonly inode: string;
}

/**
 * Detects the listeners on some ports, from /proc/net/tcp and tcp6 (proc_pid_net(5)) and the open sockets of processes.
 * @returns one for each address and port, by port
 */
export function detectListeners({ root }: Detection, ports: readonly number[]): Listener[] {
  const proc = join(root, '/', 'proc');
  const sockets = ['net/tcp', 'net/tcp6']
    .flatMap((name) => parseTable(readWhole(join(proc, name), String) ?? ''))
    .filter(({ port }) => ports.includes(port))
    .sort((one, other) => one.port - other.port || one.address.localeCompare(other.address));
  const owners = findOwners(proc, new Set(sockets.map(({ inode }) => inode)));
  return sockets.map(({ port, address, inode }) => {
    const pid = owners.get(inode);
    return { port, address, process: pid === undefined ? null : readProcess(proc, pid) };
  });
}

function parseTable(table: string): ListeningSocket[] {
  return table.split('\n').flatMap((line) => {
    const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/u);
    const [, address = '', port = ''] =
      /^([\dA-F]{8}|[\dA-F]{32}):([\dA-F]{4})$/u.exec(local) ?? [];
    if (state !== LISTENING || address === '') return [];
    return [{ port: Number.parseInt(port, 16), address: decodeAddress(address), inode }];
  });
}

/** Decodes 32-bit words in the byte order of the processor, which is little-endian on all supported machines. */
function decodeAddress(hex: string): string {
  const bytes = Buffer.from(hex, 'hex').swap32();
  if (bytes.length === 4) return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(at * 2).toString(16));
  // The canonical form of an address (RFC 5952).
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}

/** Returns the process of each socket: the one with the lowest number, which started the others. */
function findOwners(proc: string, inodes: ReadonlySet<string>): ReadonlyMap<string, number> {
  const owners = new Map<string, number>();
  if (inodes.size === 0) return owners;
  const pids = listDirectory(proc)
    .filter((name) => /^\d+$/u.test(name))
    .map(Number)
    .sort((one, other) => one - other);
  for (const pid of pids) {
    for (const inode of listSockets(join(proc, `${pid}`, 'fd'))) {
      if (inodes.has(inode) && !owners.has(inode)) owners.set(inode, pid);
    }
    if (owners.size === inodes.size) break;
  }
  return owners;
}

function listSockets(directory: string): string[] {
  try {
    return readdirSync(directory).flatMap((name) => {
      const [, inode] = /^socket:\[(\d+)\]$/u.exec(readLink(join(directory, name))) ?? [];
      return inode === undefined ? [] : [inode];
    });
  } catch (error) {
    // The process ended, or belongs to another user.
    if (isMissing(error)) return [];
    throw error;
  }
}

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (isMissing(error)) return '';
    throw error;
  }
}

function readProcess(proc: string, pid: number): ListenerProcess {
  const directory = join(proc, `${pid}`);
  const thread = readText(join(directory, 'comm')) ?? 'unknown';
  const own = thread === NAME_OF_THREAD ? readProgram(directory, thread) : thread;
  // Process names are arbitrary, and this name is printed on root's terminal.
  const name = own.replaceAll(/\p{Cc}/gu, '?');
  const groups = readText(join(directory, 'cgroup')) ?? '';
  const [, unit = null] = /^(?:0:|\d+:name=systemd):.*\/([^/\n]+\.service)$/mu.exec(groups) ?? [];
  return { pid, name, unit };
}

/** Returns the name of a process's program, without the kernel's mark of a deleted file. */
function readProgram(directory: string, byDefault: string): string {
  const program = basename(readLink(join(directory, 'exe')).replace(/ \(deleted\)$/u, ''));
  return program === '' ? byDefault : program;
}
