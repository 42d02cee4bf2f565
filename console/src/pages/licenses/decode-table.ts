/**
 * Decodes a table that a spreadsheet saved: UTF-8, or UTF-16 with a byte order mark, which is removed.
 * @throws TypeError for another encoding, in which letters would be lost
 */
export function decodeTable(content: ArrayBuffer): string {
  const [first, second] = new Uint8Array(content, 0, Math.min(2, content.byteLength));
  const isLittle = first === 0xff && second === 0xfe;
  const isBig = first === 0xfe && second === 0xff;
  const encoding = isLittle ? 'utf-16le' : isBig ? 'utf-16be' : 'utf-8';
  return new TextDecoder(encoding, { fatal: true }).decode(content);
}
