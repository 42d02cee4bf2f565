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
import { startTestService } from '../harness.ts';

const service = await startBuyerService();

let buyers = 0;

/** Issues licenses to an address of their own. */
async function issueTo(products: readonly string[], email = `buyer${(buyers += 1)}@example.com`) {
  for (const productId of products) await service.issue({ productId, customerEmail: email });
  return email;
}

describe('the door by e-mail', () => {
  test('shows all licenses of the address after the code of its mail', async () => {
    const email = await issueTo(['personal', 'sellers'], 'Grace.Hopper@example.com');
    const browser = openBrowser(service);
    const asked = await browser.submit('/my/email', { email: ' grace.hopper@EXAMPLE.com ' });
    assert.deepEqual([asked.status, titleOf(asked)], [200, 'Enter your code']);
    assert.match(asked.text, /<title>Enter your code · Example Shop<\/title>/u);
    assert.match(asked.text, /<input [^>]*id="code"[^>]* autofocus/u);
    const [mail] = await service.readMails();
    assert.deepEqual(
      [mail?.to.address.toLowerCase(), mail?.subject],
      [email.toLowerCase(), 'Your code for your licenses'],
    );
    const answer = await browser.submit('/my/code', { code: codeOf(mail).toLowerCase() });
    assert.deepEqual([answer.status, titleOf(answer)], [200, 'Your licenses']);
    assert.match(answer.text, /<h2>Sellers<\/h2>[\s\S]*<h2>Personal<\/h2>/u);
  });

  test('shows a single license at once', async () => {
    const email = await issueTo(['personal']);
    const answer = await signInByEmail(service, openBrowser(service), email);
    assert.equal(titleOf(answer), 'Personal');
  });

  test('mails the code in the language of the page', async () => {
    const email = await issueTo(['personal']);
    await openBrowser(service, { language: 'fr' }).submit('/my/email', { email });
    const [mail] = await service.readMails();
    assert.equal(mail?.subject, 'Votre code pour accéder à vos licences');
  });

  test('refuses what is not an address', async () => {
    const answer = await openBrowser(service).submit('/my/email', { email: 'ada<at>example' });
    assert.deepEqual(
      [answer.status, errorsOf(answer)],
      [422, ['This is not an e-mail address. Enter it like name@example.com.']],
    );
    assert.ok(answer.text.includes('value="ada&lt;at&gt;example"'));
  });

  test('counts down the tries of a wrong code', async () => {
    const browser = openBrowser(service);
    await browser.submit('/my/email', { email: await issueTo(['personal']) });
    const errors: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      errors.push(...errorsOf(await browser.submit('/my/code', { code: 'wrong' })));
    }
    assert.deepEqual(
      errors.map((error) => error.replace('This is not the code. Use the newest e-mail; ', '')),
      [
        'you can try 4 more times.',
        'you can try 3 more times.',
        'you can try 2 more times.',
        'you can try once more.',
        'This code does not work any more. Ask for another one.',
      ],
    );
  });

  test('mails a second code, which replaces the first in this browser', async () => {
    const email = await issueTo(['personal']);
    const browser = openBrowser(service);
    await browser.submit('/my/email', { email });
    await browser.submit('/my/email', { email });
    const [first, second] = (await service.readMails()).map(codeOf);
    assert.equal((await browser.submit('/my/code', { code: first ?? '' })).status, 403);
    assert.equal((await browser.submit('/my/code', { code: second ?? '' })).status, 200);
  });

  test('without a mail relay there is no such door', async () => {
    const without = await startTestService();
    const { text } = await openBrowser(without).get('/my');
    assert.match(text, /action="\/my\/key"/u);
    assert.doesNotMatch(text, /\/my\/email/u);
    const answer = await openBrowser(without).submit('/my/email', { email: 'ada@example.com' });
    assert.deepEqual(
      [answer.status, errorsOf(answer)],
      [503, ['No e-mail can be sent at present. Sign in with your license key.']],
    );
  });
});
