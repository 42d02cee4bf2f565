/** The little of the D-Bus protocol (D-Bus specification, "Message Protocol") that asking one question takes. */

/** What a call is for. */
export interface Call {
  readonly serial: number;
  readonly destination: string;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
  /** Sent as one argument of the type "list of texts"; none when it is left out. */
  readonly texts?: readonly string[];
}

/** A message that came in, its content not read yet. */
export interface Message {
  readonly kind: 'return' | 'error' | 'other';
  /** The call that it answers; 0 when it answers none. */
  readonly replySerial: number;
  readonly body: Buffer;
  /** With its head. */
  readonly lengthBytes: number;
}

const LITTLE_ENDIAN = 0x6c;
const VERSION = 1;
const METHOD_CALL = 1;
const FIXED_HEAD_BYTES = 16;

/** Codes of head fields. */
const PATH = 1;
const INTERFACE = 2;
const MEMBER = 3;
const REPLY_SERIAL = 5;
const DESTINATION = 6;
const SIGNATURE = 8;

const KINDS: ReadonlyMap<number, Message['kind']> = new Map([
  [2, 'return'],
  [3, 'error'],
]);

/** A call as bytes. */
export function encodeCall(call: Call): Buffer {
  const body = call.texts === undefined ? Buffer.alloc(0) : encodeTexts(call.texts);
  const fields = [
    encodeField(PATH, 'o', encodeText(call.path)),
    encodeField(INTERFACE, 's', encodeText(call.interface)),
    encodeField(MEMBER, 's', encodeText(call.member)),
    encodeField(DESTINATION, 's', encodeText(call.destination)),
    ...(call.texts === undefined
      ? []
      : [encodeField(SIGNATURE, 'g', Buffer.from([2, ...Buffer.from('as'), 0]))]),
  ];
  const list = joinAligned(fields);
  const head = Buffer.alloc(FIXED_HEAD_BYTES);
  head.set([LITTLE_ENDIAN, METHOD_CALL, 0, VERSION]);
  head.writeUInt32LE(body.length, 4);
  head.writeUInt32LE(call.serial, 8);
  head.writeUInt32LE(list.length, 12);
  return Buffer.concat([pad(Buffer.concat([head, list])), body]);
}

/**
 * The first message of what came in; null while it is not whole yet.
 * @throws RangeError when it is of another byte order, or larger than `maxBytes`
 */
export function decodeMessage(bytes: Buffer, maxBytes: number): Message | null {
  if (bytes.length < FIXED_HEAD_BYTES) return null;
  if (bytes[0] !== LITTLE_ENDIAN) throw new RangeError('The bus speaks another byte order.');
  const fieldsEnd = FIXED_HEAD_BYTES + bytes.readUInt32LE(12);
  const bodyStart = align(fieldsEnd, 8);
  const lengthBytes = bodyStart + bytes.readUInt32LE(4);
  if (lengthBytes > maxBytes) throw new RangeError(`The answer has over ${maxBytes} bytes.`);
  if (bytes.length < lengthBytes) return null;
  return {
    kind: KINDS.get(bytes[1] ?? 0) ?? 'other',
    replySerial: findReplySerial(bytes.subarray(0, fieldsEnd)),
    body: bytes.subarray(bodyStart, lengthBytes),
    lengthBytes,
  };
}

/** Reads the values of a body in their order; each lies at a multiple of its size. */
export class BodyReader {
  readonly #body: Buffer;
  #at = 0;

  constructor(body: Buffer) {
    this.#body = body;
  }

  get at(): number {
    return this.#at;
  }

  alignTo(bytes: number): void {
    this.#at = align(this.#at, bytes);
  }

  readNumber(): number {
    this.alignTo(4);
    const value = this.#body.readUInt32LE(this.#at);
    this.#at += 4;
    return value;
  }

  readText(): string {
    const length = this.readNumber();
    const start = this.#at;
    if (start + length >= this.#body.length) throw new RangeError('A text goes past the end.');
    this.#at = start + length + 1;
    return this.#body.toString('utf8', start, start + length);
  }
}

/** The only field of interest is a number; those before it are texts. */
function findReplySerial(head: Buffer): number {
  for (let at = FIXED_HEAD_BYTES; at + 8 <= head.length; at = align(at, 8)) {
    const type = String.fromCodePoint(head[at + 2] ?? 0);
    if (head[at] === REPLY_SERIAL && type === 'u') return head.readUInt32LE(at + 4);
    if (type === 'u') at += 8;
    else if (type === 'g') at += 6 + (head[at + 4] ?? 0);
    else at += 9 + head.readUInt32LE(at + 4);
  }
  return 0;
}

function encodeField(code: number, type: string, value: Buffer): Buffer {
  return Buffer.concat([Buffer.from([code, 1, type.codePointAt(0) ?? 0, 0]), value]);
}

function encodeText(text: string): Buffer {
  const bytes = Buffer.from(`${text}\0`);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(bytes.length - 1);
  return Buffer.concat([length, bytes]);
}

function encodeTexts(texts: readonly string[]): Buffer {
  const list = joinAligned(texts.map(encodeText), 4);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(list.length);
  return Buffer.concat([length, list]);
}

/** One after the other, each at a multiple of so many bytes. */
function joinAligned(parts: readonly Buffer[], to = 8): Buffer {
  const padded = parts.map((part, index) => (index < parts.length - 1 ? pad(part, to) : part));
  return Buffer.concat(padded);
}

function pad(bytes: Buffer, to = 8): Buffer {
  return Buffer.concat([bytes], align(bytes.length, to));
}

function align(at: number, to: number): number {
  return Math.ceil(at / to) * to;
}
