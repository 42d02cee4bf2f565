import { TextDecoder } from 'node:util';

import { ImportFileError } from './import-file-error.ts';

/** A larger file is split by its owner. */
const MAX_FILE_BYTES = 2 ** 30;

/**
 * Decodes a file: UTF-8, or UTF-16 with a byte order mark or with the zero bytes of its Latin letters, as spreadsheets write
 * it. The byte order mark is removed.
 * @throws ImportFileError for another encoding, or more than 1 GiB
 */
export async function* decodeText(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let decoder: TextDecoder | null = null;
  let bytes = 0;
  let held = Buffer.alloc(0);
  for await (const chunk of chunks) {
    bytes += chunk.byteLength;
    if (bytes > MAX_FILE_BYTES)
      throw new ImportFileError('The file is larger than 1 GiB: split it.');
    held = decoder === null ? Buffer.concat([held, chunk]) : Buffer.from(chunk);
    if (decoder === null && held.byteLength < 4) continue;
    decoder ??= createDecoder(held);
    const text = decode(decoder, held, true);
    if (text !== '') yield text;
  }
  if (decoder === null) yield decode(createDecoder(held), held, false);
  else yield decode(decoder, new Uint8Array(), false);
}

function createDecoder(start: Uint8Array): TextDecoder {
  const [first, second] = start;
  const isLittle = (first === 0xff && second === 0xfe) || (second === 0 && first !== 0);
  const isBig = (first === 0xfe && second === 0xff) || (first === 0 && second !== 0);
  const encoding = isLittle ? 'utf-16le' : isBig ? 'utf-16be' : 'utf-8';
  return new TextDecoder(encoding, { fatal: true });
}

function decode(decoder: TextDecoder, bytes: Uint8Array, stream: boolean): string {
  try {
    return decoder.decode(bytes, { stream });
  } catch {
    throw new ImportFileError('The file is not UTF-8: save it as "CSV UTF-8", or convert it.');
  }
}
