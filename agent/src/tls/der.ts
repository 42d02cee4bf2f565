export const INTEGER = 0x02;
export const SEQUENCE = 0x30;

/** An element of DER (X.690), the encoding of certificates and revocation lists. */
export interface Element {
  readonly tag: number;
  /** Including tag and length. */
  readonly whole: Buffer;
  readonly content: Buffer;
}

/**
 * Parses successive elements.
 * @throws RangeError when the bytes are not DER
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
  if (start + length > bytes.length) throw new RangeError('An element is truncated.');
  const whole = bytes.subarray(offset, start + length);
  return { tag, whole, content: whole.subarray(start - offset) };
}

/**
 * Returns the fields of a signed structure: of a certificate, or of a revocation list.
 * @throws RangeError when the bytes are not DER
 */
export function readSignedFields(bytes: Buffer): Element[] {
  return [...readElements(openSequence(openSequence(bytes)))];
}

/**
 * Returns the content of a sequence.
 * @throws RangeError when the bytes are none
 */
export function openSequence(bytes: Buffer): Buffer {
  const element = readElements(bytes).next().value;
  if (element?.tag !== SEQUENCE) throw new RangeError('The element is not a sequence.');
  return element.content;
}
