import { crc32, deflateSync, inflateSync } from 'node:zlib';

/** The size of a palette in PNG. */
const MAX_COLOURS = 256;

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/**
 * Reduces a PNG to a palette of its most frequent colours, for screenshots: a third of the size.
 * @param png with 8 bits for each of red, green and blue, without a transparent channel, as Chromium writes it
 */
export function shrinkPng(png: Buffer): Buffer {
  const chunks = readChunks(png);
  const header = chunks.find(({ type }) => type === 'IHDR')?.data ?? Buffer.alloc(13);
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const bytesPerPixel = header[9] === 6 ? 4 : 3;
  const packed = Buffer.concat(
    chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data),
  );
  const pixels = unfilter(inflateSync(packed), width, height, bytesPerPixel);
  const palette = choosePalette(pixels, bytesPerPixel);
  const nearest = new Map<number, number>();
  const rows = Buffer.alloc((width + 1) * height);
  for (let at = 0; at < width * height; at += 1) {
    const colour = pixels.readUIntBE(at * bytesPerPixel, 3);
    const index = nearest.get(colour) ?? findNearest(palette, colour);
    nearest.set(colour, index);
    rows[at + Math.floor(at / width) + 1] = index;
  }
  const head = Buffer.from(header);
  head[9] = 3;
  const colours = Buffer.concat(palette.map((colour) => toBytes(colour)));
  const parts = [writeChunk('IHDR', head), writeChunk('PLTE', colours)];
  const data = writeChunk('IDAT', deflateSync(rows, { level: 9, memLevel: 9 }));
  return Buffer.concat([SIGNATURE, ...parts, data, writeChunk('IEND', Buffer.alloc(0))]);
}

function readChunks(png: Buffer): { type: string; data: Buffer }[] {
  const chunks = [];
  for (let at = SIGNATURE.length; at < png.length;) {
    const size = png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    chunks.push({ type, data: png.subarray(at + 8, at + 8 + size) });
    at += size + 12;
  }
  return chunks;
}

function writeChunk(type: string, data: Buffer): Buffer {
  const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  size.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([size, body, sum]);
}

/** Reverses the filter of each row (PNG, 9.2). */
function unfilter(bytes: Buffer, width: number, height: number, bytesPerPixel: number): Buffer {
  const stride = width * bytesPerPixel;
  const pixels = Buffer.alloc(stride * height);
  for (let row = 0; row < height; row += 1) {
    const filter = bytes[row * (stride + 1)] ?? 0;
    for (let at = 0; at < stride; at += 1) {
      const to = row * stride + at;
      const left = at < bytesPerPixel ? 0 : (pixels[to - bytesPerPixel] ?? 0);
      const above = row === 0 ? 0 : (pixels[to - stride] ?? 0);
      const corner =
        at < bytesPerPixel || row === 0 ? 0 : (pixels[to - stride - bytesPerPixel] ?? 0);
      const guess =
        [0, left, above, (left + above) >> 1, predict(left, above, corner)][filter] ?? 0;
      pixels[to] = (bytes[row * (stride + 1) + 1 + at] ?? 0) + guess;
    }
  }
  return pixels;
}

function predict(left: number, above: number, corner: number): number {
  const base = left + above - corner;
  const [toLeft, toAbove] = [Math.abs(base - left), Math.abs(base - above)];
  const toCorner = Math.abs(base - corner);
  if (toLeft <= toAbove && toLeft <= toCorner) return left;
  return toAbove <= toCorner ? above : corner;
}

/** Returns the 64 most frequent colours, for large areas, then frequent ones that differ from those chosen. */
function choosePalette(pixels: Buffer, bytesPerPixel: number): number[] {
  const counts = new Map<number, number>();
  for (let at = 0; at < pixels.length; at += bytesPerPixel) {
    const colour = pixels.readUIntBE(at, 3);
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([, one], [, other]) => other - one).map(([colour]) => colour);
  const palette = sorted.slice(0, MAX_COLOURS / 4);
  for (const least of [900, 300, 0]) {
    for (const colour of sorted) {
      if (palette.length === MAX_COLOURS) return palette;
      if (palette.every((known) => distance(known, colour) > least)) palette.push(colour);
    }
  }
  return palette;
}

function findNearest(palette: readonly number[], colour: number): number {
  let best = 0;
  for (const [at, each] of palette.entries()) {
    if (distance(each, colour) < distance(palette[best] ?? 0, colour)) best = at;
  }
  return best;
}

function distance(one: number, other: number): number {
  const [first, second] = [toBytes(one), toBytes(other)];
  return first.reduce((sum, value, at) => sum + (value - (second[at] ?? 0)) ** 2, 0);
}

function toBytes(colour: number): Buffer {
  return Buffer.from([colour >> 16, (colour >> 8) & 255, colour & 255]);
}
