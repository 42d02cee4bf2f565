import assert from 'node:assert/strict';
import { beforeEach } from 'node:test';

import type { Context } from '#server/context.ts';
import { createCampaignQueue } from '#server/features/outreach/campaigns/send-campaigns.ts';
import { hashAddress } from '#server/features/suppressions/address-hash.ts';
import { insertSuppression } from '#server/features/suppressions/queries/suppressions.ts';

import { readBody } from './acceptance/bodies.ts';
import type { Answer } from './http-client.ts';
import { openBrowser } from './operator-steps.ts';
import { startOutreachService } from './outreach-steps.ts';
import { TEST_START } from './test-clock.ts';

export const OUTREACH = '/api/v1/admin/outreach';
export const CAMPAIGNS = `${OUTREACH}/campaigns`;

export const AUDIENCE = { source: 'list', languages: [], products: [], statuses: [] };

export const EN = {
  subject: 'News of {{product}}',
  preview: 'Short',
  text: 'Hello {{name|friend}}.\n\n[[Get it]]({{download_url}})',
};

/** A valid draft. */
export const CONTENT = {
  name: 'Version 2',
  texts: { en: EN, de: { subject: 'Neues', preview: '', text: 'Neu.' } },
  default_language: 'en',
  audience: AUDIENCE,
};

/** Returns the body of an answer that must be a success. */
export function bodyOf({ status, body, text }: Answer) {
  assert.equal(status, 200, text);
  return readBody(body);
}

/** Returns a list of different addresses. */
export const listOf = (count: number): string =>
  Array.from({ length: count }, (_, index) => `person-${index}@example.org`).join('\n');

/** Sends campaigns like the background of a service, until none is due; returns how often one was claimed. */
export async function sendDueCampaigns(context: Context): Promise<number> {
  const queue = createCampaignQueue(context);
  for (let claims = 0; ; claims += 1) {
    const [claimed] = await queue.claim(new Set());
    if (claimed === undefined) return claims;
    await queue.process(claimed, new AbortController().signal);
  }
}

/** Starts a service with a relay and an administrator; each test begins without campaigns. */
export async function openCampaigns() {
  const { relay, service } = await startOutreachService();
  const { clock, context, pool } = service;
  const admin = await openBrowser(service, 'admin');
  let before = 0;
  beforeEach(async () => {
    clock.set(TEST_START);
    relay.script = {};
    before = relay.mails.length;
    await pool.query(
      `truncate subscribers, suppressions, licenses, outreach_campaigns, outreach_recipients, outreach_messages`,
    );
  });
  const createDraft = async (more: object = {}) => {
    const { id, version } = bodyOf(await admin.post(CAMPAIGNS, { ...CONTENT, ...more }));
    return { id: String(id), version: Number(version) };
  };
  const show = async (id: string) => bodyOf(await admin.get(`${CAMPAIGNS}/${id}`));
  return {
    relay,
    service,
    admin,
    createDraft,
    show,
    /** The mails of the test. */
    mails: () => relay.mails.slice(before),
    /** Creates a draft, and orders to send it. */
    send: async (more: object = {}, content: object = {}): Promise<string> => {
      const { id, version } = await createDraft(content);
      const order = { expected_version: version, max_recipients: 1000, ...more };
      const answer = await admin.post(`${CAMPAIGNS}/${id}/send`, order);
      assert.equal(bodyOf(answer)['state'], 'sending');
      return id;
    },
    countsOf: async (id: string) => {
      const { total, waiting, sent, failed, suppressed, unknown } = readBody(
        (await show(id))['counts'],
      );
      return { total, waiting, sent, failed, suppressed, unknown };
    },
    change: (id: string, verb: string, body: object = {}) =>
      admin.post(`${CAMPAIGNS}/${id}/${verb}`, body),
    suppress: (email: string) =>
      insertSuppression(pool, {
        addressHash: hashAddress(context.vault, email),
        reason: 'unsubscribed',
        suppressedAt: clock.now(),
      }),
    auditOf: async (id: string): Promise<unknown[]> => {
      const { rows } = await pool.query(
        'select action from audit_log where subject_id = $1 order by sequence',
        [id],
      );
      return rows.map(({ action }) => action);
    },
  };
}
