/**
 * Writes `openapi.json` from the routes' schemas. With `--check` it writes nothing, and fails when the committed file
 * differs from the schemas or the linter finds a problem.
 */
import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { renderInterface } from '../server/test/render-interface.ts';

const file = fileURLToPath(new URL('../openapi.json', import.meta.url));
const redocly = fileURLToPath(new URL('../node_modules/@redocly/cli/bin/cli.js', import.meta.url));

process.exitCode = process.argv.includes('--check') ? await check() : await write();

async function write(): Promise<number> {
  await writeFile(file, await renderInterface());
  console.log('openapi.json written');
  return lint();
}

async function check(): Promise<number> {
  const committed = await readFile(file, 'utf8').catch(() => '');
  if (committed !== (await renderInterface())) {
    console.error('openapi.json differs from the schemas: run `npm run openapi` and commit it.');
    return 1;
  }
  return lint();
}

/** Runs the linter with the rules of redocly.yaml, without network access. */
function lint(): number {
  const { status } = spawnSync(process.execPath, [redocly, 'lint', file], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    stdio: 'inherit',
    env: {
      ...process.env,
      REDOCLY_TELEMETRY: 'off',
      REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
    },
  });
  return status ?? 1;
}
