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
