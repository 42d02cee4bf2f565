import { createTestDatabase } from './database.ts';
import {
  createServiceHome,
  type ServiceHome,
  type ServiceProcess,
  type Settings,
} from './service-process.ts';

/** A directory for services on a database of the test server, which starts faster than an embedded one. */
export interface ExternalHome extends AsyncDisposable {
  readonly home: ServiceHome;
  readonly settings: Settings;
  start(more?: Settings, args?: readonly string[]): Promise<ServiceProcess>;
}

/** @param program default: that of `npx latchkey` */
export async function createExternalHome(program?: string): Promise<ExternalHome> {
  await using resources = new AsyncDisposableStack();
  const database = await createTestDatabase();
  resources.defer(() => database.drop());
  const home = resources.use(await createServiceHome(program));
  const settings = {
    DATABASE_URL: database.url,
    LATCHKEY_SECRET: 'the secret of a service under test',
  };
  const kept = resources.move();
  return {
    home,
    settings,
    start: (more = {}, args = []) => home.start({ ...settings, ...more }, args),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
