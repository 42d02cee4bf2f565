/** An archive of `ar`, the format of Debian packages (deb(5)). */
import { Buffer } from 'node:buffer';

interface Member {
  /** At most 15 characters. */
  readonly name: string;
  readonly content: Buffer;
}

/** Packs members in order, owned by root. */
export function packAr(members: readonly Member[], modifiedAt: Date): Buffer {
  const seconds = Math.floor(modifiedAt.getTime() / 1000);
  const blocks = members.flatMap(({ name, content }) => [
    Buffer.from(
      [
        name.padEnd(16),
        String(seconds).padEnd(12),
        '0'.padEnd(6),
        '0'.padEnd(6),
        '100644'.padEnd(8),
        String(content.length).padEnd(10),
        '`\n',
      ].join(''),
    ),
    content,
    // Members begin at even offsets.
    Buffer.from('\n'.repeat(content.length % 2)),
  ]);
  return Buffer.concat([Buffer.from('!<arch>\n'), ...blocks]);
}

const HEADER_BYTES = 60;
const NAME_BYTES = 16;
const SIZE_AT = 48;
const SIZE_BYTES = 10;

/** @throws Error when it is no archive */
export function readAr(archive: Buffer): Member[] {
  const magic = '!<arch>\n';
  if (archive.toString('latin1', 0, magic.length) !== magic) throw new Error('This is no archive.');
  const members: Member[] = [];
  for (let at = magic.length; at < archive.length;) {
    const header = archive.toString('latin1', at, at + HEADER_BYTES);
    const size = Number(header.slice(SIZE_AT, SIZE_AT + SIZE_BYTES));
    const content = archive.subarray(at + HEADER_BYTES, at + HEADER_BYTES + size);
    members.push({ name: header.slice(0, NAME_BYTES).trim(), content });
    at += HEADER_BYTES + size + (size % 2);
  }
  return members;
}
