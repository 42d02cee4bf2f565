/** A file of an archive. */
export interface ArchiveEntry {
  /** Below the archive's root, with `/` between its parts, at most 100 bytes. */
  readonly path: string;
  readonly content: Buffer;
  readonly isExecutable: boolean;
}

const BLOCK_BYTES = 512;

/** The same for every file, so that the same sources make the same archive: 2026-01-01, in seconds. */
const MODIFIED_AT_S = 1_767_225_600;

/**
 * What stands before a file's content in a tar archive (POSIX ustar): its name, size and rights, owned by root.
 * @throws RangeError for a path that does not fit
 */
export function tarHeader({ path, content, isExecutable }: ArchiveEntry): Buffer {
  if (Buffer.byteLength(path) > 100) throw new RangeError(`${path} is too long for an archive.`);
  const header = Buffer.alloc(BLOCK_BYTES);
  header.write(path, 0);
  header.write(isExecutable ? '0000755\0' : '0000644\0', 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  header.write(`${toOctal(content.length)}\0`, 124);
  header.write(`${toOctal(MODIFIED_AT_S)}\0`, 136);
  // The sum is taken with spaces in its own place.
  header.write('        ', 148);
  header.write('0', 156);
  header.write('ustar\x0000root', 257);
  header.write('root', 297);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

/** What stands after a file's content, up to the next whole block. */
export function tarPadding({ content }: ArchiveEntry): Buffer {
  return Buffer.alloc((BLOCK_BYTES - (content.length % BLOCK_BYTES)) % BLOCK_BYTES);
}

/** What stands at the end of an archive. */
export function tarEnd(): Buffer {
  return Buffer.alloc(2 * BLOCK_BYTES);
}

function toOctal(value: number): string {
  return value.toString(8).padStart(11, '0');
}
