/** A file in an archive; a directory if its path ends with a slash. */
export interface TarEntry {
  /** ASCII, with slashes: a name of at most 100 bytes in a directory of at most 155. */
  readonly path: string;
  readonly mode: number;
  readonly content: Buffer;
  /** The target, if this is a symbolic link. */
  readonly linkTo?: string;
  /** The id of the user and the group that own it; root's without it. */
  readonly owner?: number;
  /** The id of the group; default: that of the owner. */
  readonly group?: number;
}

const BLOCK_BYTES = 512;

const MAX_NAME_BYTES = 100;
const MAX_PREFIX_BYTES = 155;

/** The end of an archive: two empty blocks. */
export const TAR_END = Buffer.alloc(2 * BLOCK_BYTES);

/**
 * Packs entries into a POSIX archive (ustar).
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
 * Returns the header of an entry (https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html, "ustar Interchange Format").
 * @throws RangeError when the path is too long
 */
export function tarHeader(entry: TarEntry, modifiedAt: Date): Buffer {
  const { path, mode, content, linkTo = '', owner = 0, group = owner } = entry;
  const header = Buffer.alloc(BLOCK_BYTES);
  const { prefix, name } = splitPath(path);
  if (linkTo.length > MAX_NAME_BYTES) throw new RangeError(`${linkTo} is too long for an archive.`);
  header.write(name, 0, 'latin1');
  const numbers = [mode, owner, group].map((each) => octal(each, 8)).join('');
  const modifiedSeconds = Math.floor(modifiedAt.getTime() / 1000);
  header.write(
    `${numbers}${octal(content.length, 12)}${octal(modifiedSeconds, 12)}`,
    100,
    'latin1',
  );
  // The checksum counts its own field as spaces.
  header.write(`${' '.repeat(8)}${typeFlag(entry)}${linkTo}`, 148, 'latin1');
  header.write('ustar\0', 257, 'latin1');
  header.write('00', 263, 'latin1');
  if (owner === 0) {
    header.write('root', 265, 'latin1');
    header.write('root', 297, 'latin1');
  }
  header.write(prefix, 345, 'latin1');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 7)} `, 148, 'latin1');
  return header;
}

function typeFlag({ path, linkTo }: TarEntry): string {
  if (linkTo !== undefined) return '2';
  return path.endsWith('/') ? '5' : '0';
}

/** Splits a long path at the first slash after which the rest fits into the field for names. */
function splitPath(path: string): { prefix: string; name: string } {
  const slash = path.length <= MAX_NAME_BYTES ? -1 : path.indexOf('/', path.length - 101);
  const [prefix, name] = [path.slice(0, Math.max(slash, 0)), path.slice(slash + 1)];
  if (name === '' || name.length > MAX_NAME_BYTES || prefix.length > MAX_PREFIX_BYTES) {
    throw new RangeError(`${path} is too long for an archive.`);
  }
  return { prefix, name };
}

/** Returns the zeros after a file's content, up to the next whole block. */
export function tarPadding({ content }: TarEntry): Buffer {
  return Buffer.alloc(-content.length & (BLOCK_BYTES - 1));
}

/** Octal digits and a zero byte. */
function octal(value: number, width: number): string {
  return `${value.toString(8).padStart(width - 1, '0')}\0`;
}
