/** An element of DER (X.690): what the bytes of certificates and revocation lists are made of. */
export interface Element {
  readonly tag: number;
  /** With its tag and length. */
  readonly whole: Buffer;
  readonly content: Buffer;
}

export const INTEGER = 0x02;
export const SEQUENCE = 0x30;

/**
 * Reads the elements that stand one after the other.
 * @throws RangeError when the bytes are no DER
 */
export function* readElements(bytes: Buffer): Generator<Element> {
  let offset = 0;
  while (offset < bytes.length) {
    const element = readElement(bytes, offset);
    yield element;
    offset += element.whole.length;
  }
}

function readElement(bytes: Buffer, offset: number): Element {
  const tag = bytes.readUInt8(offset);
  const first = bytes.readUInt8(offset + 1);
  const lengthBytes = first < 0x80 ? 0 : first - 0x80;
  if (lengthBytes > 4) throw new RangeError('An element is longer than 4 GiB.');
  const start = offset + 2 + lengthBytes;
  const length = lengthBytes === 0 ? first : bytes.readUIntBE(offset + 2, lengthBytes);
  if (start + length > bytes.length) throw new RangeError('An element is cut off.');
  const whole = bytes.subarray(offset, start + length);
  return { tag, whole, content: whole.subarray(start - offset) };
}
