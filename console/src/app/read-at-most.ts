/**
 * Reads a stream to its end.
 * @returns null, without reading on, if it is longer than a number of bytes
 */
export async function readAtMost(
  stream: ReadableStream<Uint8Array<ArrayBuffer>> | null,
  bytes: number,
): Promise<Blob | null> {
  // The browser can keep blobs on its disk. Safari cannot iterate over a stream.
  const parts: Blob[] = [];
  const reader = stream?.getReader();
  for (let size = 0; ;) {
    const { value } = (await reader?.read()) ?? {};
    if (value === undefined) return new Blob(parts);
    size += value.length;
    if (size > bytes) {
      // The stream may have broken since; the file is too long anyway.
      reader?.cancel().catch(() => {});
      return null;
    }
    parts.push(new Blob([value]));
  }
}
