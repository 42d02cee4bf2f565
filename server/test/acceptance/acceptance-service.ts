import { execFile } from 'node:child_process';
import { beforeEach } from 'node:test';
import { promisify } from 'node:util';

import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import { startTestService, type TestService } from '../harness.ts';
import { createHttpClient, type HttpClient } from '../http-client.ts';
import { TEST_START } from '../test-clock.ts';

/** The base URL of a running service. Not set: each test file starts one. */
const URL_VARIABLE = 'LATCHKEY_ACCEPTANCE_URL';

/**
 * A command line that issues a license of the product `personal` there and prints it as JSON, such as
 * `npx latchkey license issue --product personal --json`.
 */
const ISSUE_VARIABLE = 'LATCHKEY_ACCEPTANCE_ISSUE';

const externalUrl = process.env[URL_VARIABLE];

/** For tests that set the clock or query the database: they run only if the service runs in this process. */
export const inProcess = {
  skip:
    externalUrl === undefined
      ? false
      : `needs the clock and the database of the service, which ${URL_VARIABLE} does not provide`,
};

/** For tests that need a license, which a service in this process can always issue. */
export const withLicense = {
  skip:
    externalUrl === undefined || process.env[ISSUE_VARIABLE] !== undefined
      ? false
      : `needs a license: set ${ISSUE_VARIABLE}`,
};

export interface AcceptanceService extends HttpClient {
  /** Returns the key of a new, perpetual license of the product `personal` for two machines. */
  issueKey(): Promise<string>;
  /** The service itself, for tests marked {@link inProcess}. */
  readonly own: TestService;
}

/**
 * Opens the service under test, which has the same interface in this process and elsewhere. In this process, each test
 * starts at the same time of the clock.
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
