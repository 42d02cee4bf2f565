import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader';

const wasm = createRequire(import.meta.url).resolve('zxing-wasm/reader/zxing_reader.wasm');

/** Reads the one QR code of a picture, as the camera of a telephone does. @param png the bytes of the picture */
export async function readBarcode(png: Uint8Array): Promise<string> {
  const binary = readFileSync(wasm);
  // By default, it would be downloaded.
  await prepareZXingModule({
    overrides: { wasmBinary: new Uint8Array(binary).buffer },
    fireImmediately: true,
  });
  const codes = await readBarcodes(new Uint8Array(png), { formats: ['QRCode'] });
  if (codes.length !== 1) throw new Error(`the picture shows ${codes.length} codes`);
  return codes[0]?.text ?? '';
}
