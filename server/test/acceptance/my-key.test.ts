import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { parseCatalog } from '#server/config/catalog.ts';

import { AIRGAP_PRODUCT, airgapCatalog, createRequest } from '../airgap-steps.ts';
import { errorsOf, openBrowser, startBuyerService, titleOf } from '../buyer-steps.ts';
import { verifyEntitlement } from '../entitlements.ts';
import type { TestOrder } from '../harness.ts';
import { activate, anyMachine, anyUnknownKey, listMachines, validate } from '../license-steps.ts';
import { CATALOG } from '../test-catalog.ts';
import { DAY_MS, TEST_START } from '../test-clock.ts';

const service = await startBuyerService();

const OWNER = { customerEmail: 'ada@example.com', customerName: 'Ada' };

/** Issues a license, and signs a browser in by its key. */
async function open(order: TestOrder = {}, language = 'en') {
  const { license, licenseKey } = await service.issue({ ...OWNER, ...order });
  const browser = openBrowser(service, { language });
  const answer = await browser.submit('/my/key', { key: licenseKey });
  const path = `/my/licenses/${license.id}`;
  const pathOf = (activationId: string) => `${path}/machines/${activationId}`;
  return { browser, answer, license, licenseKey, path, pathOf };
}

function countMachines({ text }: { readonly text: string }): number {
  return text.split('<h3>').length - 1;
}

describe('the door by key', () => {
  test('shows the license of a key, with its machines', async () => {
    const { browser, licenseKey } = await open();
    const { machine_id: id } = anyMachine();
    const machine = { machine_id: id, os_version: '15.1', app_version: '2.4.0' };
    await activate(service, licenseKey, machine);
    const answer = await browser.submit('/my/key', { key: `  ${licenseKey.toLowerCase()} ` });
    assert.deepEqual([answer.status, titleOf(answer)], [200, 'Personal']);
    assert.match(answer.text, /<p class="good">Works, with no end date\.<\/p>/u);
    assert.match(answer.text, /<p>1 of 2 computers in use<\/p>/u);
    assert.ok(answer.text.includes(`<h3><code>${id}</code></h3>`));
    assert.match(
      answer.text,
      /<dt>Version<\/dt><dd>2\.4\.0<\/dd><\/div><div><dt>System<\/dt><dd>15\.1<\/dd>/u,
    );
  });

  test('shows until when a license gets updates, and that it works after that', async () => {
    const end = new Date(TEST_START.getTime() + 10 * DAY_MS);
    const { answer } = await open({ updatesUntil: end });
    assert.match(answer.text, /<p class="hint">Gets updates until 11 March 2027\.<\/p>/u);
    const over = await open({ updatesUntil: TEST_START }, 'de');
    assert.match(
      over.answer.text,
      /Die Updates endeten am 1\. März 2027\. Versionen, die bis dahin/u,
    );
    assert.match(over.answer.text, /<p class="good">/u);
  });

  test('refuses an unknown key', async () => {
    const key = anyUnknownKey();
    const answer = await openBrowser(service).submit('/my/key', { key });
    assert.ok(answer.text.includes(`value="${key}"`));
    assert.deepEqual(
      [answer.status, errorsOf(answer)],
      [404, ['No license has this key. Copy it from the e-mail once more, all of it.']],
    );
    assert.match(answer.text, /<title>Error: Your licenses · Example Shop<\/title>/u);
    assert.match(
      answer.text,
      /<input [^>]*id="key"[^>]* aria-invalid="true" autofocus aria-describedby="key-error key-hint">/u,
    );
  });

  test('limits guesses, and names the time to wait', async () => {
    const browser = openBrowser(service, { address: '203.0.113.9' });
    const statuses: number[] = [];
    for (let count = 0; count < 11; count += 1) {
      statuses.push((await browser.submit('/my/key', { key: anyUnknownKey() })).status);
    }
    assert.deepEqual(
      [statuses.slice(0, 10).every((status) => status === 404), statuses[10]],
      [true, 429],
    );
    const refused = await browser.submit('/my/key', { key: anyUnknownKey() });
    assert.deepEqual(errorsOf(refused), ['There were too many tries. Try again in a minute.']);
    assert.match(refused.headers.get('retry-after') ?? '', /^\d+$/u);
  });

  for (const [language, title, sentence] of [
    ['de', 'Ihre Lizenzen', 'Unbegrenzt gültig.'],
    ['fr', 'Vos licences', 'Valable sans limite de durée.'],
    ['pl', 'Your licenses', 'Works, with no end date.'],
  ] as const) {
    test(`answers a browser of the language ${language} in it`, async () => {
      assert.equal(titleOf(await openBrowser(service, { language }).get('/my')), title);
      const { answer } = await open({}, language);
      assert.ok(answer.text.includes(sentence));
    });
  }

  for (const [facts, sentence] of [
    [{ expires_at: new Date('2027-11-20Z') }, 'Works until 20 November 2027.'],
    [
      { refunded_at: TEST_START },
      'The payment was refunded, so this license does not work any more.',
    ],
    [
      { suspended_at: TEST_START },
      'This license is suspended, so the software does not work. Write to the seller.',
    ],
  ] as const) {
    test(`shows the status: ${sentence}`, async () => {
      const { answer } = await open({ facts });
      assert.ok(answer.text.includes(`>${sentence}</p>`), answer.text);
    });
  }

  test('shows 50 machines on a page', async () => {
    const { browser, licenseKey, path } = await open({ productId: 'sellers', maxActivations: 60 });
    for (let count = 0; count < 51; count += 1) await activate(service, licenseKey);
    const [first, second] = [await browser.get(path), await browser.get(`${path}?page=2`)];
    assert.deepEqual([countMachines(first), countMachines(second)], [50, 1]);
    assert.match(first.text, /Page 1 of 2/u);
    for (const page of ['0', '99', '-1', 'x', '1e9']) {
      assert.equal((await browser.get(`${path}?page=${page}`)).status, 200, page);
    }
  });

  test('leads to the doors from an address that is no page of it', async () => {
    const browser = openBrowser(service);
    for (const path of ['/my/', '/my/key', '/my/licenses', '/my/x/y?z']) {
      const answer = await browser.get(path);
      assert.deepEqual([answer.status, titleOf(answer)], [200, 'Your licenses'], path);
    }
  });

  test('explains to a browser without cookies why it is not signed in', async () => {
    const { licenseKey } = await service.issue(OWNER);
    const browser = openBrowser(service, { headers: { cookie: '' } });
    const needed = 'You are not signed in. A sign-in lasts 30 minutes and needs cookies.';
    for (const answer of [
      await browser.submit('/my/key', { key: licenseKey }),
      await browser.submit('/my/email', { email: OWNER.customerEmail }),
    ]) {
      assert.deepEqual([answer.status, errorsOf(answer)], [401, [needed]]);
    }
  });

  test('signs out', async () => {
    const { browser, path } = await open();
    await browser.submit('/my/sign-out', {});
    assert.equal(browser.cookies.size, 0);
    assert.equal((await browser.get(path)).status, 401);
  });

  test('links to the page of the payment provider only when a license was bought there', async () => {
    const portal = 'buyers: { portals: { paddle: "https://pay.example.com/portal?a=1&b=2" } }';
    service.useCatalog(parseCatalog(`${CATALOG}${portal}\n`, 'catalog.yaml'));
    const { browser, license, path, answer } = await open();
    assert.doesNotMatch(answer.text, /pay\.example\.com/u);
    await service.pool.query(
      `insert into billing_licenses (provider, transaction_id, line_key, license_id)
       values ('paddle', 'txn_1', 'line', $1)`,
      [license.id],
    );
    const { text } = await browser.get(path);
    assert.match(text, /href="https:\/\/pay\.example\.com\/portal\?a=1&amp;b=2" rel="noopener/u);
    service.useCatalog(airgapCatalog());
  });
});

describe('freeing a machine', () => {
  test('asks first, then frees the machine and e-mails the owner', async () => {
    const { browser, license, licenseKey, pathOf } = await open();
    const machine = anyMachine();
    const { activation_id: id } = await activate(service, licenseKey, machine);
    assert.equal(titleOf(await browser.get(pathOf(id))), 'Free this computer?');
    const before = await validate(service, licenseKey, id, machine.machine_id);
    assert.equal(before.valid, true);
    const freed = await browser.submit(pathOf(id), {});
    const notice = `Computer ${machine.machine_id} is removed. Its place is free. The owner of the license gets an e-mail`;
    assert.ok(freed.text.includes(notice));
    assert.match(freed.text, /<p>0 of 2 computers in use<\/p>/u);
    const after = await validate(service, licenseKey, id, machine.machine_id);
    assert.equal(after.reason, 'activation_inactive');
    const mails = await service.readMails();
    assert.deepEqual(
      mails.map(({ to, subject }) => [to.address, subject]),
      [['ada@example.com', 'A computer was removed from your license for Personal']],
    );
    assert.ok(mails[0]?.text.includes(machine.machine_id));
    const { rows } = await service.pool.query(
      `select actor, action, reason from audit_log where subject_id = $1 and action like '%free%'`,
      [license.id],
    );
    assert.deepEqual(rows, [{ actor: 'buyer', action: 'license.free_machine', reason: null }]);
  });

  test('a repetition changes nothing and sends no second e-mail', async () => {
    const { browser, licenseKey, pathOf } = await open();
    const { activation_id: id } = await activate(service, licenseKey);
    await browser.submit(pathOf(id), {});
    await service.readMails();
    const again = await browser.submit(pathOf(id), {});
    assert.equal(again.status, 200);
    assert.equal((await service.readMails()).length, 1);
  });

  test('allows max_activations + 3 in 30 days, then names the next date', async () => {
    const { browser, licenseKey, pathOf } = await open();
    // The same machine may always return, so that activations do not reach their limit.
    const machine = anyMachine();
    for (let count = 0; count < 5; count += 1) {
      const { activation_id: id } = await activate(service, licenseKey, machine);
      assert.equal((await browser.submit(pathOf(id), {})).status, 200);
    }
    const { activation_id: id } = await activate(service, licenseKey, machine);
    const refused = await browser.submit(pathOf(id), {});
    assert.deepEqual(
      [refused.status, errorsOf(refused)],
      [
        409,
        [
          '5 computers were freed in the last 30 days, which is the limit. The next one can be freed from 31 March 2027. If you need it sooner, write to the seller.',
        ],
      ],
    );
    assert.equal((await listMachines(service, licenseKey))[0]?.is_active, true);
    service.clock.advance(30 * DAY_MS);
    const later = openBrowser(service);
    await later.submit('/my/key', { key: licenseKey });
    assert.equal((await later.submit(pathOf(id), {})).status, 200);
  });

  test('warns when no other computer could take the place', async () => {
    const { browser, licenseKey, pathOf } = await open();
    for (let count = 0; count < 4; count += 1) {
      const { activation_id: id } = await activate(service, licenseKey);
      await browser.submit(pathOf(id), {});
    }
    const { activation_id: id } = await activate(service, licenseKey);
    const page = await browser.get(pathOf(id));
    assert.match(page.text, /for now, only one of those can take the place/u);
  });

  test('refuses a machine that runs without a connection', async () => {
    const { browser, licenseKey, pathOf } = await open({ productId: AIRGAP_PRODUCT });
    const body = { license_key: licenseKey, request: createRequest() };
    await service.post('/api/v1/licenses/activate-airgapped', body);
    const [machine] = await listMachines(service, licenseKey);
    const refused = await browser.submit(pathOf(machine?.activation_id ?? ''), {});
    assert.equal(refused.status, 409);
    assert.match(errorsOf(refused)[0] ?? '', /runs without a connection until 30 May 2027/u);
  });
});

describe('keys', () => {
  test('are mailed to the owner, at most three times an hour', async () => {
    const { browser, licenseKey } = await open();
    for (let count = 0; count < 3; count += 1) {
      const sent = await browser.submit('/my/keys', {});
      assert.ok(sent.text.includes('Your keys are on their way'));
    }
    const refused = await browser.submit('/my/keys', {});
    const error = 'There were too many tries. Try again in 20 minutes.';
    assert.deepEqual([refused.status, errorsOf(refused)], [429, [error]]);
    assert.match(refused.text, /action="\/my\/sign-out"/u);
    assert.doesNotMatch(refused.text, /action="\/my\/key"/u);
    const mails = await service.readMails();
    assert.equal(mails[0]?.to.address, 'ada@example.com');
    assert.ok(mails[0]?.text.includes(licenseKey));
  });

  test('are not mailed for a license that does not work', async () => {
    const { browser } = await open({ facts: { refunded_at: TEST_START } });
    const answer = await browser.submit('/my/keys', {});
    assert.match(errorsOf(answer)[0] ?? '', /^No e-mail was sent/u);
    assert.deepEqual(await service.readMails(), []);
  });
});

describe('a machine without a connection', () => {
  test('its request becomes an entitlement, as a text, a file and a code', async () => {
    const { browser, path, license } = await open({ productId: AIRGAP_PRODUCT });
    assert.ok((await browser.get(path)).text.includes(`href="${path}/offline"`));
    const answer = await browser.submit(`${path}/offline`, { request: createRequest() });
    assert.deepEqual([answer.status, titleOf(answer)], [200, 'Your answer is ready']);
    const token = /readonly[^>]*>(?<token>[\w.-]+)<\/textarea>/u.exec(answer.text)?.groups?.[
      'token'
    ];
    const { claims } = await verifyEntitlement(service, token, TEST_START);
    assert.equal(claims['sub'], license.id);
    assert.ok(
      answer.text.includes(
        `download="latchkey-answer.txt" href="data:text/plain;charset=utf-8,${token}"`,
      ),
    );
    assert.match(
      answer.text,
      /valid until 30 May 2027\. Until then, this computer keeps its place/u,
    );
    assert.match(answer.text, /on the computer “Lab PC 3” alone/u);
    assert.match(answer.text, /<svg class="qr"/u);
  });

  test('accepts the request as a file', async () => {
    const { browser, path } = await open({ productId: AIRGAP_PRODUCT });
    const form = new FormData();
    form.set('request', '');
    form.set('file', new File([createRequest()], 'request.txt'));
    assert.equal((await browser.upload(`${path}/offline`, form)).status, 200);
  });

  for (const [name, request, status, error] of [
    ['an empty form', '', 422, 'There is no request in this text. It begins with LKR1.'],
    [
      'a cut request',
      createRequest().slice(0, -4),
      422,
      'Part of the request is missing or changed. Copy all of it again.',
    ],
    [
      'a request of another product',
      createRequest({ product: 'personal' }),
      409,
      'This request is from another product than this license. Choose the license of that product.',
    ],
    [
      'a fingerprint beyond the limits',
      createRequest({ machine: { a: { b: { c: { d: 1 } } } } }),
      422,
      'The software created a request that this page does not understand. Please tell the seller.',
    ],
  ] as const) {
    test(`explains ${name}`, async () => {
      const { browser, path } = await open({ productId: AIRGAP_PRODUCT });
      const answer = await browser.submit(`${path}/offline`, { request });
      assert.deepEqual([answer.status, errorsOf(answer)], [status, [error]]);
    });
  }

  test('explains a license that is full, and one that was refunded', async () => {
    const { browser, path, license, licenseKey } = await open({ productId: AIRGAP_PRODUCT });
    for (let count = 0; count < 3; count += 1) await activate(service, licenseKey);
    const full = await browser.submit(`${path}/offline`, { request: createRequest() });
    assert.deepEqual(
      [full.status, errorsOf(full)],
      [
        409,
        [
          'All 3 computers of this license are in use. Free one of them, then bring the request again.',
        ],
      ],
    );
    await service.setFacts(license.id, { refunded_at: TEST_START });
    const refunded = await browser.submit(`${path}/offline`, { request: createRequest() });
    assert.deepEqual(
      [refunded.status, errorsOf(refunded)],
      [403, ['The payment was refunded, so this license does not work any more.']],
    );
  });

  test('is not offered for a product without airgap_days', async () => {
    const { browser, path, answer } = await open();
    assert.doesNotMatch(answer.text, /\/offline/u);
    assert.equal((await browser.get(`${path}/offline`)).status, 403);
  });
});
