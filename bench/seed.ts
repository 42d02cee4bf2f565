/** Fills a data directory with activated licenses, each with a signed entitlement: `bench/seed.ts <number>`. */
import type { Pool } from 'pg';

import { systemClock } from '#server/clock.ts';
import { loadCatalog } from '#server/config/catalog.ts';
import type { Product } from '#server/config/catalog-model.ts';
import { loadConfiguration } from '#server/config/load.ts';
import { migrate } from '#server/db/migrate.ts';
import { openDatabase } from '#server/db/open-database.ts';
import { issueEntitlement } from '#server/features/entitlements/issue-entitlement.ts';
import { sealLicenseKey } from '#server/features/licenses/license-key.ts';
import { findCatalogTerms } from '#server/features/licenses/terms.ts';
import { createLog } from '#server/log.ts';
import { createContext, loadSigningKeys, type Context } from '#server/context.ts';
import { createMetrics } from '#server/metrics.ts';

import { credentialsOf } from './lib/credentials.ts';

const CHUNK = 5_000;

const INSERT_LICENSES = `
  insert into licenses (id, product_id, tier, features, max_activations, key_sealed, key_hint, created_at)
  select id, $4, $5, $6::text[], 2, key_sealed, key_hint, now()
  from unnest($1::uuid[], $2::bytea[], $3::text[]) as seed (id, key_sealed, key_hint)
  on conflict do nothing`;

const INSERT_KEYS = `
  insert into license_keys (key_hash, license_id)
  select * from unnest($1::bytea[], $2::uuid[]) on conflict do nothing`;

const INSERT_ACTIVATIONS = `
  insert into activations (license_id, id, machine_id, components, machine_digest, entitlement_proof,
                           activated_at, last_validated_at, versions_reported_at)
  select license_id, id, machine_id,
         jsonb_build_object('strong', jsonb_build_array('machineid:' || md5(machine_id)), 'medium', '[]'::jsonb, 'weak', '[]'::jsonb),
         md5(machine_id), proof, now(), now(), now()
  from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) as seed (license_id, id, machine_id, proof)
  on conflict do nothing`;

async function seed(context: Context, pool: Pool, product: Product, total: number) {
  for (let start = 0; start < total; start += CHUNK) {
    const length = Math.min(CHUNK, total - start);
    const rows = Array.from({ length }, (_, offset) => makeRow(context, product, start + offset));
    await pool.query(INSERT_LICENSES, [
      rows.map((row) => row.licenseId),
      rows.map((row) => row.keySealed),
      rows.map((row) => row.keyHint),
      product.id,
      product.tier,
      product.features,
    ]);
    await pool.query(INSERT_KEYS, [
      rows.map((row) => Buffer.from(row.keyHash, 'hex')),
      rows.map((row) => row.licenseId),
    ]);
    await pool.query(INSERT_ACTIVATIONS, [
      rows.map((row) => row.licenseId),
      rows.map((row) => row.activationId),
      rows.map((row) => row.machineId),
      rows.map((row) => row.proof),
    ]);
    process.stderr.write(`\r  seeded ${start + length} of ${total} activations`);
  }
  process.stderr.write('\n');
  await pool.query('vacuum analyze');
  await pool.query('checkpoint');
}

function makeRow(context: Context, product: Product, index: number) {
  const { licenseId, licenseKey, activationId, machineId } = credentialsOf(index);
  const license = {
    id: licenseId,
    productId: product.id,
    trial: false,
    subscription: false,
    expiresAt: null,
    updatesUntil: null,
    cancelScheduledFor: null,
    canceledAt: null,
    pausedAt: null,
    suspendedAt: null,
    disputedAt: null,
    refundedAt: null,
    revokedAt: null,
  };
  const terms = findCatalogTerms(context.catalog(), license);
  if (terms === null) throw new Error('the product is not in the catalogue');
  const activation = { id: activationId, machineId, entitlementProof: null };
  const { newProof } = issueEntitlement(
    context,
    license,
    terms,
    'active',
    activation,
    context.clock.now(),
  );
  const stored = sealLicenseKey(context, licenseId, licenseKey);
  return { licenseId, activationId, machineId, ...stored, proof: newProof };
}

const total = Number(process.argv[2]);
const { config, secrets } = loadConfiguration();
const log = createLog({ level: 'warn' });
const database = await openDatabase(config, secrets, log);
await migrate(database.pool);
const catalog = loadCatalog(config.catalogPath);
const [product] = [...catalog.products.values()];
if (product === undefined) throw new Error('the catalogue has no product');
const context = createContext({
  config,
  secrets,
  catalog: () => catalog,
  clock: systemClock,
  log,
  metrics: createMetrics({ version: 'bench' }),
  pool: database.pool,
});
await loadSigningKeys(context);
await seed(context, database.pool, product, total);
await database.close();
