import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import {
  AUDIENCE,
  bodyOf,
  CAMPAIGNS,
  CONTENT,
  EN,
  openCampaigns,
  OUTREACH,
} from '../campaign-steps.ts';
import { readHeader } from '../mail-relay.ts';
import { SECOND_MS } from '../test-clock.ts';
import { readBody } from './bodies.ts';

const { admin, auditOf, createDraft, mails, relay, service, suppress } = await openCampaigns();
const { clock, pool } = service;

describe('drafts', () => {
  test('are created, changed, copied, listed and deleted, each with an audit entry', async () => {
    const { id, version } = await createDraft();
    const update = { ...CONTENT, name: 'Second', expected_version: version };
    const updated = bodyOf(await admin.post(`${CAMPAIGNS}/${id}/update`, update));
    assert.deepEqual([updated['name'], updated['version']], ['Second', version + 1]);
    const stale = await admin.post(`${CAMPAIGNS}/${id}/update`, update);
    assert.equal(stale.status, 409);
    assert.equal(readBody(readBody(stale.body)['current'])['name'], 'Second');
    const copy = bodyOf(await admin.post(`${CAMPAIGNS}/${id}/duplicate`));
    assert.notEqual(copy['id'], id);
    assert.deepEqual([copy['texts'], copy['audience']], [CONTENT.texts, AUDIENCE]);
    const { items } = bodyOf(await admin.get(`${CAMPAIGNS}?state=draft&search=sec`));
    assert.equal(Array.isArray(items) && items.length, 2);
    bodyOf(await admin.post(`${CAMPAIGNS}/${id}/delete`));
    assert.equal((await admin.get(`${CAMPAIGNS}/${id}`)).status, 404);
    assert.deepEqual(await auditOf(id), [
      'outreach.create_draft',
      'outreach.update_draft',
      'outreach.delete_draft',
    ]);
  });

  test('are exported with the other campaigns of the filter, with an audit entry', async () => {
    const { id } = await createDraft();
    const update = { ...CONTENT, name: '=Export me', expected_version: 1 };
    bodyOf(await admin.post(`${CAMPAIGNS}/${id}/update`, update));
    const { text } = await admin.get(`${CAMPAIGNS}/export?state=draft&search=%3Dexport`);
    const [head, ...lines] = text.trim().split('\r\n');
    assert.equal(
      head,
      'id,name,state,languages,source,counts_total,counts_waiting,counts_canceled,counts_sent,counts_failed,counts_suppressed,counts_unknown,created_at,updated_at,updated_by,started_at,started_by,ended_at',
    );
    const now = clock.now().toISOString();
    const languages = Object.keys(CONTENT.texts).join(' ');
    assert.deepEqual(lines, [
      `${id},'=Export me,draft,${languages},${AUDIENCE.source},0,0,0,0,0,0,0,${now},${now},operator:${admin.email},,,`,
    ]);
    assert.deepEqual(await auditOf('campaigns'), ['outreach.export']);
  });

  test('start from the templates', async () => {
    const { templates, placeholders, products } = bodyOf(await admin.get(`${OUTREACH}/start`));
    assert.ok(Array.isArray(templates) && Array.isArray(placeholders) && Array.isArray(products));
    assert.equal(templates.length, 5);
    assert.ok(products.length > 0);
  });
});

const preview = (text: object, more: object = {}) =>
  admin.post(`${OUTREACH}/preview`, { text, language: 'en', source: 'list', name: null, ...more });

describe('a preview', () => {
  test('is the mail, with its faults', async () => {
    const body = bodyOf(await preview({ ...EN, text: '{{nmae}}' }, { name: 'Ada' }));
    assert.match(String(body['html']), /Hello Ada,/);
    assert.match(String(body['text']), /Stop e-mails like this/);
    assert.deepEqual(body['problems'], [
      { language: 'en', field: 'text', line: 1, message: 'Unknown placeholder {{nmae}}.' },
    ]);
  });

  test('escapes hostile names', async () => {
    for (const name of ['<script>alert(1)</script>', '\u202Eevil\u2066', 'x'.repeat(200), '👩‍🚀']) {
      const body = bodyOf(await preview(EN, { name }));
      assert.doesNotMatch(String(body['html']), /<script|\u202E|\u2066/u);
    }
  });

  test('is shown by a frame that runs only its own script', async () => {
    const { status, headers, text } = await admin.get(`${OUTREACH}/preview-frame`);
    assert.deepEqual([status, headers.get('content-type')], [200, 'text/html; charset=utf-8']);
    const policy = headers.get('content-security-policy') ?? '';
    assert.match(
      policy,
      /default-src 'none'; script-src 'sha256-[\w+/=]+';.*sandbox allow-scripts/,
    );
    assert.match(text, /postMessage/);
  });
});

describe('a test mail', () => {
  test('goes to the operator, with an audit entry', async () => {
    const body = { texts: { en: EN }, language: 'en', audience: AUDIENCE };
    const { sent_to: sentTo } = bodyOf(await admin.post(`${OUTREACH}/test-mail`, body));
    assert.equal(sentTo, admin.email);
    const [mail] = mails();
    assert.deepEqual(mail?.to, [admin.email]);
    assert.match((mail && readHeader(mail, 'Subject')) ?? '', /^\[Test\] News of /);
    const details = { language: 'en', source: AUDIENCE.source };
    const { rows } = await pool.query(
      `select actor, details from audit_log where action = 'outreach.send_test'`,
    );
    assert.deepEqual(rows, [{ actor: `operator:${admin.email}`, details }]);
  });

  test('reports the answer of the relay', async () => {
    relay.script = { recipient: { code: 550, words: 'no such user' } };
    const body = { texts: { en: EN }, language: 'en', audience: AUDIENCE };
    const answer = await admin.post(`${OUTREACH}/test-mail`, body);
    assert.equal(answer.status, 409);
    assert.match(answer.text, /did not accept the mail: smtp_550/);
  });
});

async function subscribe(email: string, language: string): Promise<void> {
  clock.advance(SECOND_MS);
  await service.post('/api/v1/subscribers', { email }, { 'accept-language': language });
  await pool.query(`update subscribers set confirmed_at = $1, opt_in = 'double'`, [clock.now()]);
}

const dryRun = async (more: object) => {
  const { texts, default_language } = CONTENT;
  const body = { texts, default_language, audience: AUDIENCE, ...more };
  return bodyOf(await admin.post(`${OUTREACH}/dry-run`, body));
};

const dryRunOf = (source: string, more: object) =>
  dryRun({ audience: { ...AUDIENCE, source, ...more } });

describe('a dry run', () => {
  test('names who gets the mail and who does not', async () => {
    await suppress('carl@example.com');
    const list =
      'ada@example.com, Ada, de\nADA@example.com\ncarl@example.com\nnonsense\nbob@example.com';
    const { examples, excluded, ...counts } = await dryRun({ list });
    assert.deepEqual(counts, {
      recipients: 2,
      suppressed: 1,
      duplicates: 1,
      invalid: 1,
      by_language: { en: 1, fr: 0, de: 1 },
    });
    assert.deepEqual(examples, [
      { email: 'ada@example.com', name: 'Ada', language: 'de', excluded: null },
      { email: 'bob@example.com', name: null, language: 'en', excluded: null },
    ]);
    assert.deepEqual(
      Array.isArray(excluded) && excluded.map((each) => readBody(each)['excluded']),
      ['duplicate', 'suppressed', 'invalid'],
    );
  });

  test('chooses subscribers by language and product', async () => {
    await subscribe('ada@example.com', 'de');
    await subscribe('bob@example.com', 'fr');
    await service.post('/api/v1/subscribers', { email: 'pending@example.com' });
    await pool.query(
      `update subscribers set confirmed_at = null, opt_in = null where email like 'pending%'`,
    );
    await service.issue({ customerEmail: 'ADA@example.com' });
    assert.equal((await dryRunOf('subscribers', {}))['recipients'], 2);
    assert.equal((await dryRunOf('subscribers', { languages: ['fr'] }))['recipients'], 1);
    assert.equal((await dryRunOf('subscribers', { products: ['personal'] }))['recipients'], 1);
    assert.equal(
      (await dryRunOf('subscribers', { products: ['personal'], languages: ['fr'] }))['recipients'],
      0,
    );
  });

  test('chooses customers by product and status, each address once', async () => {
    await subscribe('ada@example.com', 'de');
    await service.issue({ customerEmail: 'ada@example.com', customerName: 'Ada' });
    await service.issue({ customerEmail: 'Ada@example.com' });
    await service.issue({ customerEmail: 'bob@example.com', facts: { revoked_at: clock.now() } });
    const all = await dryRunOf('customers', {});
    assert.deepEqual(all['examples'], [
      { email: 'ada@example.com', name: 'Ada', language: 'de', excluded: null },
      { email: 'bob@example.com', name: null, language: 'en', excluded: null },
    ]);
    assert.equal((await dryRunOf('customers', { statuses: ['active'] }))['recipients'], 1);
    assert.equal(
      (await dryRunOf('customers', { statuses: ['revoked', 'expired'] }))['recipients'],
      1,
    );
    assert.equal((await dryRunOf('customers', { products: ['other'] }))['recipients'], 0);
  });

  test('is exported as CSV', async () => {
    const { texts, default_language } = CONTENT;
    const body = { texts, default_language, audience: AUDIENCE, list: '=x@example.com\n@bad' };
    const { text } = await admin.post(`${OUTREACH}/dry-run/export`, body);
    assert.equal(
      text,
      "email,name,language,excluded\r\n'=x@example.com,,en,\r\n'@bad,,en,invalid\r\n",
    );
  });
});
