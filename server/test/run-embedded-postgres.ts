/**
 * `node run-embedded-postgres.ts <data directory>`: runs an embedded PostgreSQL, prints "ready", and waits to be
 * killed.
 */
import { startEmbeddedPostgres } from '#server/db/embedded/start.ts';

const silent = { info: () => {}, warn: () => {}, error: () => {} };

const [dataDirectory = ''] = process.argv.slice(2);
await startEmbeddedPostgres({ dataDirectory, durable: false, log: silent });
process.stdout.write('ready\n');
setInterval(() => {}, 1_000);
