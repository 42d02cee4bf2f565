/** Attacks on the codes with which buyers sign in. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import {
  codeOf,
  errorsOf,
  openBrowser,
  signInByEmail,
  startBuyerService,
  titleOf,
} from '../buyer-steps.ts';
import { anyAddress } from '../http-client.ts';

const service = await startBuyerService();

const MINUTE_MS = 60_000;

let buyers = 0;

async function openBuyer() {
  const email = `buyer${(buyers += 1)}@example.com`;
  const { license, licenseKey } = await service.issue({ customerEmail: email });
  return { email, licenseKey, path: `/my/licenses/${license.id}` };
}

const OVER = 'This code does not work any more. Ask for another one.';

function askFor(email: string, browser = openBrowser(service)) {
  return browser.submit('/my/email', { email });
}

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
    for (let count = 0; count < 20; count += 1) {
      assert.equal((await guesser.submit('/my/code', { code: '000000' })).status, 403);
    }
    const refused = await guesser.submit('/my/code', { code: '000000' });
    assert.deepEqual([refused.status, titleOf(refused)], [429, 'Enter your code']);
    assert.match(errorsOf(refused)[0] ?? '', /^There were too many tries\. Try again in /u);
  });

  test('an address gets 20 codes in an hour, from all networks together', async () => {
    const { email } = await openBuyer();
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
