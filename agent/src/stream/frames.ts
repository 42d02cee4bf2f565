/** The first byte of a frame: the last one of its message, which is text (RFC 6455, section 5.2). */
const FINAL_TEXT = 0x81;

/** The second byte for a length of two or eight more bytes; a server does not mask its frames. */
const LENGTH_16 = 126;
const LENGTH_64 = 127;

/**
 * Encodes messages as JSON in WebSocket frames, one after the other in one buffer. The frames of a server are the same for every viewer,
 * and a single write for each viewer costs least.
 */
export function encodeFrames(messages: readonly object[]): Buffer {
  return Buffer.concat(
    messages.flatMap((message) => {
      const payload = Buffer.from(JSON.stringify(message));
      return [encodeHeader(payload.length), payload];
    }),
  );
}

function encodeHeader(length: number): Buffer {
  if (length < LENGTH_16) return Buffer.from([FINAL_TEXT, length]);
  if (length < 65_536) return Buffer.from([FINAL_TEXT, LENGTH_16, length >> 8, length & 0xff]);
  const header = Buffer.alloc(10);
  header.set([FINAL_TEXT, LENGTH_64]);
  header.writeBigUInt64BE(BigInt(length), 2);
  return header;
}
