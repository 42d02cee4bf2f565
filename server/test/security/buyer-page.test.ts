/** Attacks on the page for buyers. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { describe, test } from 'node:test';

import { Client } from 'pg';

import { rekeyLicense } from '#server/features/licenses/rekey-license.ts';

import {
  codeOf,
  errorsOf,
  openBrowser,
  signInByEmail,
  startBuyerService,
  titleOf,
} from '../buyer-steps.ts';
import { readBody } from '../acceptance/bodies.ts';
import { activate, listMachines } from '../license-steps.ts';

const service = await startBuyerService();

const MINUTE_MS = 60_000;

let buyers = 0;

async function openBuyer() {
  const email = `buyer${(buyers += 1)}@example.com`;
  const { license, licenseKey } = await service.issue({ customerEmail: email });
  return { email, license, licenseKey, path: `/my/licenses/${license.id}` };
}

describe('a scanner of mail that opens and submits everything', () => {
  test('finds nothing to open in the mail, and signs nobody in', async () => {
    const { email } = await openBuyer();
    const browser = openBrowser(service);
    await browser.submit('/my/email', { email });
    const [mail] = await service.readMails();
    assert.doesNotMatch(`${mail?.text}`, /https?:|www\.|\/my/u);
    assert.doesNotMatch(`${mail?.html}`, /href=|src=|<form|\/my/u);
    const scanner = openBrowser(service);
    const code = codeOf(mail);
    for (const path of ['/my', '/my/code', '/my/keys', '/my/sign-out']) await scanner.get(path);
    for (const path of ['/my/code', '/my/key', '/my/email', '/my/keys', '/my/sign-out']) {
      assert.notEqual((await scanner.submit(path, { code, key: code, email })).status, 500, path);
      assert.equal(scanner.cookies.has('__Secure-latchkey-my'), false, path);
    }
    const answer = await browser.submit('/my/code', { code: codeOf(mail) });
    assert.equal(titleOf(answer), 'Personal');
  });

  test('opening every page of a signed-in buyer changes nothing', async () => {
    const { licenseKey, path } = await openBuyer();
    const { activation_id: id } = await activate(service, licenseKey);
    const browser = openBrowser(service);
    await browser.submit('/my/key', { key: licenseKey });
    for (const page of ['/my', path, `${path}/machines/${id}`, `${path}?freed=${id}`]) {
      assert.equal((await browser.get(page)).status, 200, page);
    }
    assert.equal((await listMachines(service, licenseKey))[0]?.is_active, true);
    assert.deepEqual(await service.readMails(), []);
  });
});

/** Asks for a code and guesses it; returns the answers without what differs for each request. */
async function ask(email: string) {
  const browser = openBrowser(service);
  const answers = [await browser.submit('/my/email', { email })];
  for (let count = 0; count < 5; count += 1) {
    answers.push(await browser.submit('/my/code', { code: '000000' }));
  }
  return answers.map(({ status, text, headers }) => {
    const kept = [...headers].filter(([name]) => !/^(?:date|x-request-id)$/u.test(name));
    return { status, text, headers: kept };
  });
}

describe('finding out who is a customer', () => {
  test('every address gets the same answers', async () => {
    const { email } = await openBuyer();
    assert.deepEqual(await ask('nobody@example.com'), await ask(email));
    assert.equal((await service.readMails()).length, 1);
  });

  test('the same statements run for every address, until the answer is sent', async (t) => {
    const { email } = await openBuyer();
    const query = t.mock.method(Client.prototype, 'query');
    const namesOf = async (address: string): Promise<unknown[]> => {
      query.mock.resetCalls();
      await openBrowser(service).submit('/my/email', { email: address });
      return query.mock.calls.map(({ arguments: [first] }) =>
        typeof first === 'object' ? readBody(first)['name'] : first,
      );
    };
    const known = await namesOf(email);
    assert.ok(known.includes('buyer_code_insert'));
    assert.deepEqual(await namesOf('nobody@example.com'), known);
  });

  test('the code goes to the address of the license, and to none that the database takes for it', async () => {
    const customerEmail = 'robin.ferris@example.com';
    await service.issue({ customerEmail });
    for (const email of ['ROBIN.Ferris@example.com', 'rob\u0130n.ferris@example.com']) {
      assert.equal((await openBrowser(service).submit('/my/email', { email })).status, 200);
    }
    const mails = await service.readMails();
    assert.deepEqual(
      mails.map(({ to }) => to.address),
      [customerEmail],
    );
    assert.ok(mails[0]?.text.includes(`sent to ${customerEmail} because`));
  });

  test('an address shows no license of one that the database takes for it', async () => {
    const [owner, stranger] = ['iris.quill@example.com', '\u0130ris.quill@example.com'];
    await service.issue({ productId: 'sellers', customerEmail: owner });
    await service.issue({ productId: 'personal', customerEmail: stranger });
    const answer = await signInByEmail(service, openBrowser(service), stranger);
    assert.equal(titleOf(answer), 'Personal');
  });

  test('an address that no license has when the mail is sent gets none', async () => {
    const { email } = await openBuyer();
    const browser = openBrowser(service);
    await browser.submit('/my/email', { email });
    await service.pool.query(
      'update licenses set customer_email = null where customer_email = $1',
      [email],
    );
    assert.deepEqual(await service.readMails(), []);
  });
});

describe('a session', () => {
  test('by key shows no other license, not even its machines', async () => {
    const [own, other] = [await openBuyer(), await openBuyer()];
    const { activation_id: id } = await activate(service, other.licenseKey);
    const browser = openBrowser(service);
    await browser.submit('/my/key', { key: own.licenseKey });
    for (const path of [
      other.path,
      `${other.path}/machines/${id}`,
      `${own.path}/machines/${id}`,
      `${other.path}/offline`,
      '/my/licenses/x',
      `${own.path}/machines/x`,
    ]) {
      assert.equal((await browser.get(path)).status, 404, path);
    }
    for (const path of [other.path, own.path]) {
      assert.equal((await browser.submit(`${path}/machines/${id}`, {})).status, 404);
    }
    assert.equal((await listMachines(service, other.licenseKey))[0]?.is_active, true);
  });

  test('ends after 30 minutes', async () => {
    const { licenseKey, path } = await openBuyer();
    const browser = openBrowser(service);
    await browser.submit('/my/key', { key: licenseKey });
    service.clock.advance(30 * MINUTE_MS - 1);
    assert.equal((await browser.get(path)).status, 200);
    service.clock.advance(1);
    const ended = await browser.get(path);
    assert.deepEqual(
      [ended.status, errorsOf(ended)],
      [401, ['You are not signed in. A sign-in lasts 30 minutes and needs cookies.']],
    );
  });

  test('ends for everybody who has it when the buyer signs out', async () => {
    const { email, path } = await openBuyer();
    const browser = openBrowser(service);
    await signInByEmail(service, browser, email);
    const cookie = `__Secure-latchkey-my=${browser.cookies.get('__Secure-latchkey-my') ?? ''}`;
    const thief = openBrowser(service, { headers: { cookie } });
    const other = openBrowser(service);
    await signInByEmail(service, other, email);
    assert.equal((await thief.get(path)).status, 200);
    assert.equal(titleOf(await browser.submit('/my/sign-out', {})), 'Your licenses');
    assert.equal((await thief.get(path)).status, 401);
    assert.equal((await other.get(path)).status, 200);
  });

  test('by key ends when the key is replaced, by e-mail when the owner changes', async () => {
    const { email, license, licenseKey, path } = await openBuyer();
    const [byKey, byEmail] = [openBrowser(service), openBrowser(service)];
    await byKey.submit('/my/key', { key: licenseKey });
    await signInByEmail(service, byEmail, email);
    assert.deepEqual(
      [(await byKey.get(path)).status, (await byEmail.get(path)).status],
      [200, 200],
    );
    const by = { keyOrId: license.id, actor: 'test', reason: 'leaked' };
    await rekeyLicense(service.context, { ...by, keepMachines: true }, async () => {});
    await service.pool.query(
      `update licenses set customer_email = 'new@example.com' where id = $1`,
      [license.id],
    );
    assert.deepEqual(
      [(await byKey.get(path)).status, (await byEmail.get(path)).status],
      [404, 404],
    );
    assert.deepEqual(errorsOf(await byKey.get('/my')), [
      'No license has this key. Copy it from the e-mail once more, all of it.',
    ]);
  });

  test('cannot be forged, and a code is no session', async () => {
    const { email, path } = await openBuyer();
    const browser = openBrowser(service);
    await browser.submit('/my/email', { email });
    const [token = ''] = browser.cookies.values();
    const forged = service.context.vault.seal('{"door":"email"}', 'another').toString('base64url');
    for (const value of ['', 'x', token, forged, 'A'.repeat(4_000)]) {
      const cookie = `__Secure-latchkey-my=${value}`;
      const answer = await openBrowser(service, { headers: { cookie } }).get(path);
      assert.equal(answer.status, 401, value.slice(0, 20));
    }
  });
});

describe('a page of another origin', () => {
  for (const [name, headers] of [
    ['its origin', { origin: 'https://evil.example' }],
    ['no origin', { origin: 'null' }],
    ['its site', { 'sec-fetch-site': 'cross-site' }],
  ] as const) {
    test(`cannot post, as ${name} shows`, async () => {
      const { licenseKey, path } = await openBuyer();
      const { activation_id: id } = await activate(service, licenseKey);
      const browser = openBrowser(service);
      await browser.submit('/my/key', { key: licenseKey });
      const cookie = Array.from(browser.cookies, ([key, value]) => `${key}=${value}`).join('; ');
      const evil = openBrowser(service, { headers: { cookie, ...headers } });
      for (const target of [`${path}/machines/${id}`, '/my/keys', '/my/key', '/my/email']) {
        assert.equal((await evil.submit(target, { key: licenseKey })).status, 403, target);
      }
      assert.equal((await listMachines(service, licenseKey))[0]?.is_active, true);
    });
  }
});

describe('every page', () => {
  test('runs no script, loads nothing, and stays in no cache, frame or Referer', async () => {
    const { licenseKey, path } = await openBuyer();
    const { activation_id: id } = await activate(service, licenseKey);
    const browser = openBrowser(service);
    const pages = [
      await browser.get('/my'),
      await browser.submit('/my/key', { key: 'wrong' }),
      await browser.submit('/my/email', { email: 'ada@example.com' }),
      await browser.submit('/my/key', { key: licenseKey }),
      await browser.get(`${path}/machines/${id}`),
      await openBrowser(service).get(path),
    ];
    for (const { headers, text } of pages) {
      const style = /<style>(?<style>[^<]*)<\/style>/u.exec(text)?.groups?.['style'] ?? '';
      assert.deepEqual(
        [
          headers.get('content-security-policy'),
          headers.get('cache-control'),
          headers.get('referrer-policy'),
          headers.get('x-content-type-options'),
        ],
        [
          `default-src 'none'; style-src 'sha256-${hash('sha256', style, 'base64')}'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
          'no-store',
          'same-origin',
          'nosniff',
        ],
      );
      assert.doesNotMatch(text, /<script|<link|<img|<iframe|\son\w+=|\sstyle=/u);
    }
  });
});

describe('hostile input', () => {
  const hostile = '"><script>alert(1)</script>\u0000\ud800';

  test('is shown as text', async () => {
    const { licenseKey, path } = await openBuyer();
    await activate(service, licenseKey, {
      machine_id: '<img src=x onerror=alert(1)>',
      os_version: '"><b>',
    });
    const browser = openBrowser(service);
    const pages = [
      await browser.submit('/my/key', { key: licenseKey }),
      await browser.get(path),
      await browser.submit('/my/email', { email: hostile }),
      await browser.submit('/my/code', { code: hostile }),
      await browser.submit('/my/key', { key: hostile }),
    ];
    for (const { status, text } of pages) {
      assert.ok(status < 500);
      assert.doesNotMatch(text, /<script|<img|<b>/u);
    }
    assert.match(pages[1]?.text ?? '', /<code>&lt;img src=x onerror=alert\(1\)&gt;<\/code>/u);
  });

  test('that is no form is refused', async () => {
    for (const [type, body] of [
      ['application/json', '{"key":"x"}'],
      ['multipart/form-data; boundary=b', '--b\r\n'],
      ['text/plain', 'key=x'],
    ] as const) {
      const answer = await service.send('POST', '/my/key', {
        headers: { 'content-type': type },
        body,
      });
      assert.equal(answer.status, 400, type);
    }
  });
});
