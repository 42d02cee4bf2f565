/**
 * Writes `openapi.json` and the table of roles from the routes. With `--check` it writes nothing, and fails when a
 * committed file differs or the linter finds a problem.
 */
import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { renderInterface } from '../server/test/render-interface.ts';
import { renderRoles } from './lib/render-roles.ts';

const file = fileURLToPath(new URL('../openapi.json', import.meta.url));
const roles = fileURLToPath(new URL('../docs/operations/roles.md', import.meta.url));
const redocly = fileURLToPath(new URL('../node_modules/@redocly/cli/bin/cli.js', import.meta.url));

process.exitCode = process.argv.includes('--check') ? await check() : await write();

async function write(): Promise<number> {
  await writeFile(file, await renderInterface());
  await writeFile(roles, await renderRoles());
  console.log('openapi.json and docs/operations/roles.md written');
  return lint();
}

async function check(): Promise<number> {
  const committed = await readFile(file, 'utf8').catch(() => '');
  if (committed !== (await renderInterface())) {
    console.error('openapi.json differs from the schemas: run `npm run openapi` and commit it.');
    return 1;
  }
  const table = await readFile(roles, 'utf8').catch(() => '');
  if (table !== (await renderRoles())) {
    console.error('docs/operations/roles.md differs from the routes: run `npm run openapi`.');
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
