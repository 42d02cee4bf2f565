/** Attacks on the page for buyers. */
import assert from 'node:assert/strict';
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
import { anyAddress } from '../http-client.ts';
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

const OVER = 'This code does not work any more. Ask for another one.';

describe('a scanner of mail that opens and submits everything', () => {
  test('finds nothing to open in the mail, and signs nobody in', async () => {
    const { email } = await openBuyer();
    const browser = openBrowser(service);
    await browser.submit('/my/email', { email });
    const [mail] = await service.readMails();
    assert.doesNotMatch(`${mail?.text}`, /https?:|www\.|\/my/u);
    assert.doesNotMatch(`${mail?.html}`, /href=|src=|<form|\/my/u);
    const scanner = openBrowser(service);
    for (const path of ['/my', '/my/code', '/my/keys', '/my/sign-out']) await scanner.get(path);
    for (const path of ['/my/code', '/my/key', '/my/email', '/my/keys', '/my/sign-out']) {
      assert.notEqual((await scanner.submit(path, {})).status, 500, path);
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

describe('guessing codes', () => {
  test('from many addresses is limited for the code', async () => {
    const { email } = await openBuyer();
    const first = openBrowser(service);
    await first.submit('/my/email', { email });
    const cookie = Array.from(first.cookies, ([name, value]) => `${name}=${value}`).join('; ');
    const [mail] = await service.readMails();
    for (let count = 0; count < 5; count += 1) {
      const guesser = openBrowser(service, { address: anyAddress(), headers: { cookie } });
      assert.equal((await guesser.submit('/my/code', { code: `00000${count}` })).status, 403);
    }
    const right = await first.submit('/my/code', { code: codeOf(mail) });
    assert.deepEqual([right.status, errorsOf(right)], [403, [OVER]]);
  });

  test('from one address is limited for the network', async () => {
    const guesser = openBrowser(service);
    const statuses = new Set<number>();
    for (let count = 0; count < 21; count += 1) {
      statuses.add((await guesser.submit('/my/code', { code: '000000' })).status);
    }
    assert.deepEqual(statuses, new Set([403, 429]));
  });

  test('an address gets 20 codes in an hour, whoever asks', async () => {
    const { email } = await openBuyer();
    const askFor = (spelling: string) =>
      openBrowser(service).submit('/my/email', { email: spelling });
    for (let count = 0; count < 20; count += 1) assert.equal((await askFor(email)).status, 200);
    const refused = await askFor(email.toUpperCase());
    assert.equal(refused.status, 429);
    assert.equal(refused.headers.get('retry-after'), '3600');
    assert.equal((await service.readMails()).length, 20);
    service.clock.advance(60 * MINUTE_MS);
    assert.equal((await askFor(email)).status, 200);
  });

  test('concurrent requests get no more', async () => {
    const { email } = await openBuyer();
    const asked = Array.from({ length: 24 }, () =>
      openBrowser(service).submit('/my/email', { email }),
    );
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 200).length, 20);
    assert.equal(statuses.filter((status) => status === 429).length, 4);
  });
});

describe('asking for codes of somebody else', () => {
  const TOO_MANY =
    'Too many codes were requested for this address. Use the newest e-mail, sign in with your license key, or try again in 12 minutes.';

  const askFor = (email: string, browser = openBrowser(service)) =>
    browser.submit('/my/email', { email });

  test('ends after five for a network, and the owner still gets one', async () => {
    const { email } = await openBuyer();
    const stranger = { address: '203.0.113.50' };
    for (let count = 0; count < 5; count += 1) {
      assert.equal((await askFor(email, openBrowser(service, stranger))).status, 200);
    }
    const refused = await askFor(email, openBrowser(service, stranger));
    assert.deepEqual([refused.status, errorsOf(refused)], [429, [TOO_MANY]]);
    assert.equal(refused.headers.get('retry-after'), '720');
    assert.equal((await service.readMails()).length, 5);
    assert.equal(titleOf(await signInByEmail(service, openBrowser(service), email)), 'Personal');
  });

  test('from many networks does not keep a browser out that signed in before', async () => {
    const [{ email }, other] = [await openBuyer(), await openBuyer()];
    const [owner, neighbour] = [openBrowser(service), openBrowser(service)];
    await signInByEmail(service, owner, email);
    await signInByEmail(service, neighbour, other.email);
    for (let count = 0; count < 19; count += 1) await askFor(email);
    assert.equal((await askFor(email)).status, 429);
    assert.equal((await askFor(email, neighbour)).status, 429);
    await owner.submit('/my/sign-out', {});
    for (let count = 0; count < 5; count += 1) {
      assert.equal((await askFor(email, owner)).status, 200);
    }
    assert.equal((await askFor(email, owner)).status, 429);
  });

  test('what the browser keeps for that signs nobody in', async () => {
    const { email, path } = await openBuyer();
    const owner = openBrowser(service);
    await signInByEmail(service, owner, email);
    const known = owner.cookies.get('__Secure-latchkey-my-known') ?? '';
    assert.match(known, /^[\w-]{100,}$/u);
    const cookie = `__Secure-latchkey-my=${known}; __Secure-latchkey-my-known=${known}`;
    assert.equal((await openBrowser(service, { headers: { cookie } }).get(path)).status, 401);
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

describe('a code', () => {
  test('works once', async () => {
    const { email } = await openBuyer();
    const browser = openBrowser(service);
    await browser.submit('/my/email', { email });
    const cookie = Array.from(browser.cookies, ([name, value]) => `${name}=${value}`).join('; ');
    const code = codeOf((await service.readMails())[0]);
    assert.equal((await browser.submit('/my/code', { code })).status, 200);
    const again = await openBrowser(service, { headers: { cookie } }).submit('/my/code', { code });
    assert.deepEqual([again.status, errorsOf(again)], [403, [OVER]]);
  });

  test('works once, also for two requests at the same time', async () => {
    const { email } = await openBuyer();
    const browser = openBrowser(service);
    await browser.submit('/my/email', { email });
    const cookie = Array.from(browser.cookies, ([name, value]) => `${name}=${value}`).join('; ');
    const code = codeOf((await service.readMails())[0]);
    const entered = [1, 2].map(() => openBrowser(service, { headers: { cookie } }));
    const answers = await Promise.all(
      entered.map((each) => each.submit('/my/code', { code }).then(() => each.cookies.size)),
    );
    assert.deepEqual(
      answers.toSorted((a, b) => a - b),
      // The session, and what makes the browser known.
      [0, 2],
    );
  });

  test('that was forwarded does not work in another browser', async () => {
    const { email } = await openBuyer();
    const browser = openBrowser(service);
    await browser.submit('/my/email', { email });
    const code = codeOf((await service.readMails())[0]);
    const other = openBrowser(service);
    assert.deepEqual(errorsOf(await other.submit('/my/code', { code })), [OVER]);
    await other.submit('/my/email', { email });
    assert.equal((await other.submit('/my/code', { code })).status, 403);
    assert.equal((await browser.submit('/my/code', { code })).status, 200);
  });

  test('works for 15 minutes', async () => {
    const { email } = await openBuyer();
    const browser = openBrowser(service);
    await browser.submit('/my/email', { email });
    const code = codeOf((await service.readMails())[0]);
    service.clock.advance(15 * MINUTE_MS);
    assert.deepEqual(errorsOf(await browser.submit('/my/code', { code })), [OVER]);
  });

  test('is neither stored nor logged, and neither are the address and the key', async () => {
    const { email, licenseKey } = await openBuyer();
    const browser = openBrowser(service);
    await browser.submit('/my/email', { email });
    const { rows } = await service.pool.query<{ line: string }>(
      'select t::text as line from buyer_codes t union all select t::text from jobs t',
    );
    const stored = rows.map(({ line }) => line).join('\n');
    const code = codeOf((await service.readMails())[0]);
    await browser.submit('/my/code', { code });
    await openBrowser(service).submit('/my/key', { key: licenseKey });
    const seen = `${stored}\n${service.log.join('\n')}`;
    assert.ok(stored.includes('send_buyer_code'));
    for (const secret of [code, code.replace(' ', ''), email, licenseKey]) {
      assert.ok(!seen.includes(secret), secret);
    }
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
      [401, ['You are not signed in. A sign-in lasts 30 minutes.']],
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
