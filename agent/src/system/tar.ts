/** A file in an archive. */
export interface TarEntry {
  /** At most 100 bytes of ASCII, with slashes. */
  readonly path: string;
  readonly mode: number;
  readonly content: Buffer;
}

const BLOCK_BYTES = 512;

/** The end of an archive: two empty blocks. */
export const TAR_END = Buffer.alloc(2 * BLOCK_BYTES);

/**
 * Packs files into a POSIX archive (ustar), owned by root.
 * @throws RangeError when a path is too long
 */
export function packTar(entries: readonly TarEntry[], modifiedAt: Date): Buffer {
  const blocks = entries.flatMap((entry) => [
    tarHeader(entry, modifiedAt),
    entry.content,
    tarPadding(entry),
  ]);
  return Buffer.concat([...blocks, TAR_END]);
}

/**
 * Returns the header of a file (https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html, "ustar Interchange Format").
 * @throws RangeError when the path is too long
 */
export function tarHeader({ path, mode, content }: TarEntry, modifiedAt: Date): Buffer {
  const header = Buffer.alloc(BLOCK_BYTES);
  if (Buffer.byteLength(path) > 100) throw new RangeError(`${path} is too long for an archive.`);
  header.write(path, 0, 'latin1');
  const numbers = [mode, 0, 0].map((each) => octal(each, 8)).join('');
  const modifiedSeconds = Math.floor(modifiedAt.getTime() / 1000);
  header.write(
    `${numbers}${octal(content.length, 12)}${octal(modifiedSeconds, 12)}`,
    100,
    'latin1',
  );
  // The checksum counts its own field as spaces.
  header.write(`${' '.repeat(8)}0`, 148, 'latin1');
  header.write('ustar\0', 257, 'latin1');
  header.write('00root', 263, 'latin1');
  header.write('root', 297, 'latin1');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 7)} `, 148, 'latin1');
  return header;
}

/** Returns the zeros after a file's content, up to the next whole block. */
export function tarPadding({ content }: TarEntry): Buffer {
  return Buffer.alloc(-content.length & (BLOCK_BYTES - 1));
}

/** Octal digits and a zero byte. */
function octal(value: number, width: number): string {
  return `${value.toString(8).padStart(width - 1, '0')}\0`;
}
