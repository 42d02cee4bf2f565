import assert from 'node:assert/strict';

import {
  AdminLicense,
  AdminLicenseDetails,
  LicenseDiagnosis,
  LicenseMachine,
  LicenseRefusalCount,
  LicenseTimelineItem,
  nullableString,
} from '@latchkey/contract';
import { type Static, type TSchema, Type } from 'typebox';
import { Parse } from 'typebox/value';

import { problem } from './acceptance/bodies.ts';
import type { TestService } from './harness.ts';
import type { Answer } from './http-client.ts';
import type { Browser } from './operator-steps.ts';

export const LICENSES = '/api/v1/admin/licenses';

/** The schema of a license without references, which `Parse` cannot follow. */
const ShownLicense = Type.Object({
  ...AdminLicenseDetails.properties,
  diagnosis: LicenseDiagnosis,
  refusals: Type.Array(LicenseRefusalCount),
  machines: Type.Array(LicenseMachine),
});
type ShownLicense = Static<typeof ShownLicense>;

const pageOf = <Item extends TSchema>(item: Item) =>
  Type.Object({ items: Type.Array(item), next_cursor: nullableString() });

export const LicensePage = pageOf(AdminLicense);
export const TimelinePage = pageOf(LicenseTimelineItem);

/** Reads a license as operators see it. */
export async function showLicense(browser: Browser, id: string): Promise<ShownLicense> {
  return readLicense(await browser.get(`${LICENSES}/${id}`));
}

/** Returns the license of an answer, which must be 200. */
export function readLicense(answer: Answer): ShownLicense {
  assert.equal(answer.status, 200, answer.text);
  return Parse(ShownLicense, answer.body);
}

/** Lists the ids of licenses by a filter, in the order of the list. */
export async function listLicenseIds(browser: Browser, query: string): Promise<string[]> {
  const answer = await browser.get(`${LICENSES}?${query}`);
  assert.equal(answer.status, 200, answer.text);
  return Parse(LicensePage, answer.body).items.map(({ id }) => id);
}

/** The audit entries about a subject, oldest first. */
export async function listAudited({ pool }: TestService, subjectId: string): Promise<unknown[]> {
  const { rows } = await pool.query(
    `select action, actor, reason, details from audit_log
     where subject_id = $1 and action <> 'license.issue' order by sequence`,
    [subjectId],
  );
  return rows;
}

/** Checks that an answer is a problem, with these members beside those of its code. */
export function expectProblem(answer: Answer, ...[code, more]: Parameters<typeof problem>): void {
  const expected = problem(code, more);
  assert.deepEqual([answer.status, answer.body], [expected['status'], expected]);
}
