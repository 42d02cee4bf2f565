import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { compareCheckouts } from './compare-checkouts.ts';

const draft = { checkoutId: 'cs_1', transactionId: 'pi_1', position: 0 };
const line = { transactionId: 'pi_1' };

describe('comparing the checkout of a license with those that are stored', () => {
  it('changes nothing if exactly the checkout is stored', () => {
    const checkouts = [{ transactionId: 'cs_1', position: 0 }];
    assert.deepEqual(compareCheckouts(draft, { ...line, checkouts }), {
      missing: [],
      outdated: [],
    });
  });

  it('stores the checkout of a new license', () => {
    assert.deepEqual(compareCheckouts(draft, { ...line, checkouts: [] }), {
      missing: [{ transactionId: 'cs_1', position: 0 }],
      outdated: [],
    });
  });

  it('stores a checkout again whose position has changed', () => {
    const checkouts = [{ transactionId: 'cs_1', position: 1 }];
    const { missing } = compareCheckouts(draft, { ...line, checkouts });
    assert.deepEqual(missing, [{ transactionId: 'cs_1', position: 0 }]);
  });

  it('deletes other ids of the purchase that are stored', () => {
    const checkouts = [
      { transactionId: 'pi_1', position: 0 },
      { transactionId: 'cs_1', position: 0 },
    ];
    const { outdated } = compareCheckouts(draft, { ...line, checkouts });
    assert.deepEqual(
      outdated.map(({ transactionId }) => transactionId),
      ['pi_1'],
    );
  });

  it('stores and deletes everything if it is not known what is stored', () => {
    const { missing, outdated } = compareCheckouts(draft, line);
    assert.equal(missing.length, 1);
    assert.equal(outdated.length, 1);
  });

  it('stores no checkout of a purchase whose id could be guessed', () => {
    const guessable = { ...draft, checkoutId: null };
    const checkouts = [{ transactionId: 'pi_1', position: 0 }];
    const { missing, outdated } = compareCheckouts(guessable, { ...line, checkouts });
    assert.deepEqual(missing, []);
    assert.equal(outdated.length, 1);
  });
});
