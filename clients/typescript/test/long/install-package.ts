/** Builds, packs and installs the package, so that a test uses the files that a user gets. */
import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { buildPackage } from '../../build/package.ts';

const run = promisify(execFile);
const source = fileURLToPath(new URL('../../', import.meta.url));

/** The environment without the settings of this repository for npm, and of the test runner. */
export const packageEnvironment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^npm_|^NODE_(?!EXTRA_CA_CERTS)/i.test(name)),
);

/** Installs the packed package in a folder without anything else. @returns the folder of the package in it */
export async function installPackage(directory: string): Promise<string> {
  const env = packageEnvironment;
  await mkdir(directory, { recursive: true });
  // In a copy, so that tests that run at the same time do not replace each other's files.
  const copy = join(directory, 'source');
  await buildPackage(join(copy, 'dist'));
  for (const file of ['package.json', 'README.md', 'LICENSE']) {
    await cp(join(source, file), join(copy, file));
  }
  await run('npm', ['pack', '--pack-destination', directory], { cwd: copy, env });
  const archive = (await readdir(directory)).find((file) => file.endsWith('.tgz')) ?? '';
  await writeFile(join(directory, 'package.json'), '{"type":"module","private":true}');
  await run('npm', ['install', '--offline', '--no-audit', `./${archive}`], { cwd: directory, env });
  return join(directory, 'node_modules/@latchkey/client');
}
