/** An encoding of a file of the console. */
export type FileEncoding = 'br' | 'gzip' | 'identity';

/** Returns the smallest encoding that `Accept-Encoding` allows (RFC 9110 §12.5.3). */
export function chooseEncoding(acceptEncoding: string): FileEncoding {
  const accepted = new Set(
    acceptEncoding
      .toLowerCase()
      .split(',')
      .map(splitQuality)
      .filter(([, quality]) => quality > 0)
      .map(([name]) => name),
  );
  if (accepted.has('br')) return 'br';
  return accepted.has('gzip') || accepted.has('*') ? 'gzip' : 'identity';
}

/** Splits `gzip;q=0.5` into its parts; an invalid quality is not a number. */
function splitQuality(part: string): readonly [name: string, quality: number] {
  const [name = '', ...parameters] = part.split(';').map((each) => each.trim());
  const quality = parameters.find((each) => each.startsWith('q='));
  return [name, quality === undefined ? 1 : Number(quality.slice('q='.length))];
}
