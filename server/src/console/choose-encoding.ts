/** An encoding of a file of the console. */
export type FileEncoding = 'br' | 'gzip' | 'identity';

/** Returns the smallest encoding that `Accept-Encoding` allows (RFC 9110 §12.5.3). */
export function chooseEncoding(acceptEncoding: string): FileEncoding {
  const accepted = new Set(
    acceptEncoding
      .split(',')
      .map((part) =>
        part
          .trim()
          .toLowerCase()
          .split(/\s*;\s*q=/),
      )
      .filter(([, quality = '1']) => Number(quality) > 0)
      .map(([name]) => name),
  );
  if (accepted.has('br')) return 'br';
  return accepted.has('gzip') || accepted.has('*') ? 'gzip' : 'identity';
}
