/**
 * `npm run release:fixture`: writes the data of this release to `scripts/release/upgrade/releases/VERSION/`. `npm run test:upgrade`
 * upgrades it with later releases. The people are those of the demo; every secret in it is published, and used nowhere else.
 */
import { chmod, cp, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { loadConfiguration } from '#server/config/load.ts';
import { masterSecretPath } from '#server/config/master-secret.ts';
import { connectionTo } from '#server/db/embedded/connection.ts';

import { queryOnce } from '../../../server/test/embedded-postgres.ts';
import { createServiceHome } from '../../../server/test/service-process.ts';
import { openHome } from '../../demo/home.ts';
import { fillPast } from '../../demo/past/fill.ts';
import { repository } from '../../lib/steps.ts';
import { readVersion } from '../version.ts';
import { countRows, readBackupRows } from './backup-rows.ts';
import { createKnown } from './create-known.ts';
import { type FixtureManifest, locateFixture } from './fixture.ts';
import { RARE_ROWS } from './rare-rows.ts';
import { programOf, runPackage, writePresentPackage } from './service-packages.ts';

/** Few, because the file is in the repository. */
const LICENSES = 60;

/** Below the ports of outgoing connections, so that tests can listen on the next one, which receives webhooks. */
const PORT = 29_816;
const RECEIVER_URL = `http://127.0.0.1:${PORT + 1}`;

/** No mail is sent. */
const NO_RELAY_PORT = 25;

await using resources = new AsyncDisposableStack();
const version = await readVersion(repository);
const target = locateFixture(version);
const options = { port: PORT, licenses: LICENSES, seed: 'upgrade', keep: null };
const home = await openHome(options, NO_RELAY_PORT);
resources.defer(() => home.remove());
const configuration = loadConfiguration({}, home.directory);
const { catalogPath, dataDirectory } = configuration.config;
const settings = { LATCHKEY_CATALOG: catalogPath, LATCHKEY_DATA_DIR: dataDirectory };
const tree = join(home.directory, 'package');

await fillPast(configuration, options, RECEIVER_URL, (step, figures) =>
  console.log(`${step}: ${figures}`),
);
await writePresentPackage(tree);
const known = await useRelease();
await rm(target.directory, { recursive: true, force: true });
await mkdir(target.directory, { recursive: true });
await cp(catalogPath, target.catalog);
await runPackage(tree, ['backup', target.backup], settings);
await chmod(target.backup, 0o644);
await writeManifest();
console.log(`${target.directory}: ${(await stat(target.backup)).size} bytes`);

/** Creates what a later release must accept, with the packed service. */
async function useRelease() {
  await using packed = await createServiceHome(programOf(tree));
  const service = await packed.start(settings);
  const runJson = async (...args: readonly string[]): Promise<unknown> =>
    JSON.parse(await runPackage(tree, [...args, '--json'], settings));
  const created = await createKnown(service.url, runJson, RECEIVER_URL);
  await queryOnce(connectionTo(dataDirectory), RARE_ROWS);
  await service.stop();
  return created;
}

async function writeManifest(): Promise<void> {
  const tables = countRows(await readBackupRows(target.backup));
  const empty = Object.keys(tables).filter((name) => tables[name] === 0);
  if (empty.length > 0) {
    throw new Error(
      `An upgrade can be seen to keep only rows: add some to rare-rows.ts for ${empty.join(', ')}.`,
    );
  }
  const secret = await readFile(masterSecretPath(dataDirectory), 'utf8');
  const manifest: FixtureManifest = { version, master_secret: secret.trim(), ...known, tables };
  await writeFile(target.manifest, `${JSON.stringify(manifest, null, 2)}\n`);
}
