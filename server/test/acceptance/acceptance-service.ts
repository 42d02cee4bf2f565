import { execFile } from 'node:child_process';
import { beforeEach } from 'node:test';
import { promisify } from 'node:util';

import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import { startTestService, type TestService } from '../harness.ts';
import { createHttpClient, type HttpClient } from '../http-client.ts';
import { TEST_START } from '../test-clock.ts';

/** The base URL of a service that runs already; not set: each test file starts one of its own. */
const URL_VARIABLE = 'LATCHKEY_ACCEPTANCE_URL';

/**
 * A command line that makes a license of the product `personal` there and prints it as JSON, such as
 * `npx latchkey license issue --product personal --json`.
 */
const ISSUE_VARIABLE = 'LATCHKEY_ACCEPTANCE_ISSUE';

const externalUrl = process.env[URL_VARIABLE];

/** For tests that move the clock or look into the database: they run where the service is this process's own. */
export const inProcess = {
  skip:
    externalUrl === undefined
      ? false
      : `needs the clock and the database, which are out of reach at ${URL_VARIABLE}`,
};

/** For tests that need a license, which can always be made inside. */
export const withLicense = {
  skip:
    externalUrl === undefined || process.env[ISSUE_VARIABLE] !== undefined
      ? false
      : `needs a license: set ${ISSUE_VARIABLE}`,
};

export interface AcceptanceService extends HttpClient {
  /** The key of a new, perpetual license of the product `personal`, good for two machines. */
  issueKey(): Promise<string>;
  /** The service itself, for tests marked {@link inProcess}. */
  readonly own: TestService;
}

/**
 * The service under test. Tests see the same interface whether it runs here or elsewhere; here the clock stands at the
 * same moment at the beginning of each test.
 */
export async function openAcceptanceService(): Promise<AcceptanceService> {
  if (externalUrl === undefined) {
    const own = await startTestService();
    beforeEach(() => own.clock.set(TEST_START));
    return { ...own, own, issueKey: async () => (await own.issue()).licenseKey };
  }
  return {
    ...createHttpClient(externalUrl.replace(/\/$/, '')),
    issueKey,
    get own(): TestService {
      throw new Error('there is no service in this process');
    },
  };
}

const Issued = Type.Object({ license_key: Type.String() });

async function issueKey(): Promise<string> {
  const [program, ...args] = (process.env[ISSUE_VARIABLE] ?? '').split(' ');
  if (program === undefined) throw new Error(`${ISSUE_VARIABLE} is empty`);
  const { stdout } = await promisify(execFile)(program, args);
  return Parse(Issued, JSON.parse(stdout)).license_key;
}
