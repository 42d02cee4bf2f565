import { spawnSync } from 'node:child_process';
import { closeSync, openSync, read, writeSync } from 'node:fs';

/** Opcodes of the FUSE protocol, and the error for any other opcode (ENOSYS). */
const STATFS = 17;
const INIT = 26;
const NOT_IMPLEMENTED = -38;

/** The space that an answering mount reports. */
export const mountedSpace = { blocks: 1000, freeBlocks: 400, blockBytes: 4096 } as const;

/** A FUSE mount served by this process. */
interface FuseMount {
  /** Stops serving the mount: every later call on it fails. */
  release(): void;
}

/**
 * Mounts a FUSE filesystem that never answers.
 * @returns null without root, `mount` or /dev/fuse
 */
export function mountHanging(directory: string): FuseMount | null {
  const fuse = mount(directory);
  return fuse === null ? null : { release: () => closeSync(fuse) };
}

/** Mounts a FUSE filesystem that reports `mountedSpace` while the event loop runs; null as with `mountHanging`. */
export function mountAnswering(directory: string): FuseMount | null {
  const fuse = mount(directory);
  if (fuse === null) return null;
  const request = Buffer.alloc(2 ** 18);
  const respondToNext = (): void => {
    read(fuse, request, (error) => {
      // The filesystem was unmounted.
      if (error !== null) return closeSync(fuse);
      writeSync(fuse, respond(request));
      respondToNext();
    });
  };
  respondToNext();
  return { release: () => void spawnSync('umount', ['-l', directory]) };
}

function mount(directory: string): number | null {
  let fuse: number;
  try {
    fuse = openSync('/dev/fuse', 'r+');
  } catch {
    return null;
  }
  const options = 'fd=3,rootmode=40000,user_id=0,group_id=0';
  const args = ['-i', '-t', 'fuse.own', 'own', directory, '-o', options];
  const { status } = spawnSync('mount', args, { stdio: ['ignore', 'ignore', 'ignore', fuse] });
  if (status === 0) return fuse;
  closeSync(fuse);
  return null;
}

function respond(request: Buffer): Buffer {
  const kind = request.readUInt32LE(4);
  const body = kind === INIT ? describeProgram() : kind === STATFS ? describeSpace() : null;
  const head = Buffer.alloc(16);
  head.writeUInt32LE(16 + (body?.length ?? 0), 0);
  head.writeInt32LE(body === null ? NOT_IMPLEMENTED : 0, 4);
  request.copy(head, 8, 8, 16);
  return Buffer.concat([head, body ?? Buffer.alloc(0)]);
}

function describeProgram(): Buffer {
  const body = Buffer.alloc(64);
  body.writeUInt32LE(7, 0);
  body.writeUInt32LE(31, 4);
  body.writeUInt32LE(4096, 20);
  return body;
}

function describeSpace(): Buffer {
  const { blocks, freeBlocks, blockBytes } = mountedSpace;
  const body = Buffer.alloc(80);
  [blocks, freeBlocks, freeBlocks].forEach((count, index) => {
    body.writeBigUInt64LE(BigInt(count), index * 8);
  });
  [blockBytes, 255, blockBytes].forEach((count, index) =>
    body.writeUInt32LE(count, 40 + index * 4),
  );
  return body;
}
