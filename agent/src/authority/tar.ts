/** A file in an archive. */
export interface TarEntry {
  /** At most 100 bytes of ASCII, with slashes. */
  readonly path: string;
  readonly mode: number;
  readonly content: string | Buffer;
}

const BLOCK_BYTES = 512;

/** The end is two empty blocks. */
const END = Buffer.alloc(2 * BLOCK_BYTES);

/**
 * Packs files into an archive in the form of POSIX (ustar), which every tar and file manager opens; owned by root.
 * @throws RangeError when a path is too long
 */
export function packTar(entries: readonly TarEntry[], modifiedAt: Date): Buffer {
  const blocks = entries.flatMap(({ path, mode, content }) => {
    const bytes = Buffer.from(content);
    const padding = Buffer.alloc(-bytes.length & (BLOCK_BYTES - 1));
    return [makeHeader(path, mode, bytes.length, modifiedAt), bytes, padding];
  });
  return Buffer.concat([...blocks, END]);
}

/** https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html, "ustar Interchange Format". */
function makeHeader(path: string, mode: number, size: number, modifiedAt: Date): Buffer {
  const header = Buffer.alloc(BLOCK_BYTES);
  if (path.length > 100) throw new RangeError(`${path} is too long for an archive.`);
  header.write(path, 0, 'latin1');
  const numbers = [mode, 0, 0].map((each) => octal(each, 8)).join('');
  const modifiedSeconds = Math.floor(modifiedAt.getTime() / 1000);
  header.write(`${numbers}${octal(size, 12)}${octal(modifiedSeconds, 12)}`, 100, 'latin1');
  header.write(`${' '.repeat(8)}0`, 148, 'latin1');
  header.write('ustar\0', 257, 'latin1');
  header.write('00root', 263, 'latin1');
  header.write('root', 297, 'latin1');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 7)} `, 148, 'latin1');
  return header;
}

/** Octal digits and a zero byte. */
function octal(value: number, width: number): string {
  return `${value.toString(8).padStart(width - 1, '0')}\0`;
}
