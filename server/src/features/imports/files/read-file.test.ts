import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { factsOf, fixture, readAllRows } from './read-fixture.fixture.ts';

describe('files of other systems', () => {
  test('Keygen: licenses with users and machines; a hashed key is reported', async () => {
    const rows = await readAllRows('keygen', fixture('keygen-licenses.json'), {
      related: [fixture('keygen-machines.json')],
    });
    assert.deepEqual(rows.map(factsOf), [
      {
        sourceId: 'b5b04e2e-5b4b-4a2e-8b0e-1d8f2b7c9a01',
        licenseKey: 'C1B6DE-39A6E3-DE1529-8559A0-4AF593-V3',
        customerEmail: 'ada@example.com',
        customerName: 'Ada Lovelace',
        products: [
          { id: 'pol-1', name: null },
          { id: 'prod-1', name: null },
        ],
        maxActivations: 5,
        expiresAt: new Date('2028-09-05T22:53:37Z'),
        transactionId: 'ord_77',
        devices: [
          {
            id: '4d:Eq:UV:D3:XZ:tL',
            label: "Ada's laptop",
            lastSeenAt: new Date('2026-09-30T08:00:00Z'),
          },
          {
            id: '198e9fe586114844f6a4eaca5069b41a',
            label: 'ada-desk',
            lastSeenAt: new Date('2024-02-02T00:00:00Z'),
          },
        ],
        note: 'Floating, 5 seats',
        createdAt: new Date('2023-09-05T22:53:37Z'),
      },
      {
        sourceId: 'b5b04e2e-5b4b-4a2e-8b0e-1d8f2b7c9a02',
        licenseKey: 'key/eyJhY2NvdW50Ijp7ImlkIjoiYTAifX0=.kN0dGl7hJ2',
        customerEmail: 'grace@example.com',
        products: [
          { id: 'pol-2', name: null },
          { id: 'prod-1', name: null },
        ],
        maxActivations: 1,
        expiresAt: null,
        status: 'suspended',
        createdAt: new Date('2024-01-01T00:00:00Z'),
      },
      'The export does not contain the key: Keygen stores only a hash of it. Issue a new license.',
    ]);
  });

  test('Cryptlex: JSON with users and activations', async () => {
    const rows = await readAllRows('cryptlex', fixture('cryptlex-licenses.json'), {
      related: [fixture('cryptlex-related.json')],
    });
    assert.deepEqual(rows.map(factsOf), [
      {
        sourceId: '0a8f2d6c-1111-4222-8333-0123456789ab',
        licenseKey: '92A4DB-17FD8B-F399CC-FF0652-152310',
        customerEmail: 'jane@example.com',
        customerName: 'Jane Doe',
        products: [{ id: 'p-1', name: null }],
        maxActivations: 3,
        expiresAt: new Date('2027-05-01T00:00:00Z'),
        isSubscription: true,
        transactionId: '5501',
        devices: [{ id: 'act-9', label: 'JANE-PC', lastSeenAt: new Date('2026-10-10T10:10:10Z') }],
        usedSeats: 2,
        note: 'bought at the fair',
        createdAt: new Date('2026-05-01T00:00:00Z'),
        details: { productId: 'p-1' },
      },
      {
        sourceId: '0a8f2d6c-1111-4222-8333-0123456789ac',
        licenseKey: '321C4E-EF8727-2270C9-5902AA-9E1100',
        products: [{ id: 'p-1', name: null }],
        maxActivations: 1,
        expiresAt: null,
        status: 'revoked',
        createdAt: new Date('2025-01-01T00:00:00Z'),
        details: { productId: 'p-1' },
      },
    ]);
  });

  test('Cryptlex: the table of its importer, with seconds from the creation', async () => {
    const rows = await readAllRows('cryptlex', fixture('cryptlex.csv'));
    assert.deepEqual(rows.map(factsOf), [
      {
        licenseKey: '92A4DB-17FD8-F399C-FF065-21523',
        customerEmail: 'john.doe@example.com',
        customerName: 'John Doe',
        maxActivations: 5,
        expiresAt: new Date('2027-01-01T00:00:00Z'),
        transactionId: '12345',
        createdAt: new Date('2026-01-01T00:00:00Z'),
        details: { order_id: '12345' },
      },
      {
        licenseKey: '321C4E-EF872-72270-C9590-2AA9E',
        customerEmail: 'john.smith@example.com',
        customerName: 'John Smith',
        maxActivations: 4,
        expiresAt: null,
        transactionId: '12346',
        createdAt: new Date('2026-01-01T00:00:00Z'),
        details: { order_id: '12346' },
      },
    ]);
  });

  test('Lemon Squeezy: keys with instances, a refunded order, a subscription and a test key', async () => {
    const rows = await readAllRows('lemonsqueezy', fixture('lemonsqueezy-license-keys.json'), {
      related: [fixture('lemonsqueezy-related.jsonl')],
    });
    assert.deepEqual(rows.map(factsOf), [
      {
        sourceId: '101',
        licenseKey: '80E15DB5-C796-436B-850C-8F9C98A48ABE',
        customerEmail: 'luke@example.com',
        customerName: 'Luke Skywalker',
        products: [
          { id: '31', name: 'Widget Pro' },
          { id: '21', name: 'Widget' },
          { id: '21', name: null },
        ],
        prices: [
          { provider: 'lemonsqueezy', priceId: 'once:31' },
          { provider: 'lemonsqueezy', priceId: '31' },
        ],
        maxActivations: 5,
        expiresAt: null,
        provider: 'lemonsqueezy',
        transactionId: 'order:5001',
        status: 'refunded',
        statusSince: new Date('2024-06-02T00:00:00Z'),
        devices: [
          {
            id: 'f90ec370-fd83-46a5-8bbd-44a241e78665',
            label: 'MacBook Pro',
            lastSeenAt: new Date('2026-10-01T00:00:00Z'),
          },
        ],
        usedSeats: 1,
        createdAt: new Date('2024-05-24T14:15:07Z'),
        details: {
          store_id: '1',
          customer_id: '11',
          order_id: '5001',
          order_item_id: '5101',
          product_id: '21',
          variant_id: '31',
          product_name: 'Widget',
          variant_name: 'Pro',
        },
      },
      {
        sourceId: '102',
        licenseKey: '38B1460A-5104-4067-A91D-77B872934D51',
        customerEmail: 'leia@example.com',
        customerName: 'Leia Organa',
        products: [
          { id: '32', name: 'Widget Yearly Default' },
          { id: '22', name: 'Widget Yearly' },
          { id: '22', name: null },
        ],
        prices: [{ provider: 'lemonsqueezy', priceId: '32' }],
        maxActivations: 'unlimited',
        expiresAt: new Date('2027-01-01T00:00:00Z'),
        isSubscription: true,
        provider: 'lemonsqueezy',
        transactionId: 'order:5002',
        subscriptionId: '9002',
        createdAt: new Date('2025-01-01T00:00:00Z'),
        details: {
          store_id: '1',
          customer_id: '12',
          order_id: '5002',
          order_item_id: '5102',
          product_id: '22',
          variant_id: '32',
          product_name: 'Widget Yearly',
          variant_name: 'Default',
        },
      },
      {
        sourceId: '103',
        licenseKey: 'D5B2C3A4-0000-4AAA-8BBB-1234567890AB',
        customerEmail: 'han@example.com',
        customerName: 'Han Solo',
        products: [{ id: '21', name: null }],
        maxActivations: 5,
        expiresAt: new Date('2026-05-24T14:15:07Z'),
        provider: 'lemonsqueezy',
        transactionId: 'order:5003',
        status: 'suspended',
        isTest: true,
        createdAt: new Date('2025-01-01T00:00:00Z'),
        details: {
          store_id: '1',
          customer_id: '13',
          order_id: '5003',
          order_item_id: '5103',
          product_id: '21',
        },
      },
    ]);
  });

  test('Gumroad: charges of a subscription are one license; refunds, disputes, gifts and the totals', async () => {
    const rows = await readAllRows('gumroad', fixture('gumroad-sales.csv'));
    const shown = rows.map((row) => {
      const facts = factsOf(row);
      if (typeof facts === 'string') return [row.line, facts];
      const { sourceId, customerEmail, expiresAt, status = 'active', quantity = 1 } = facts;
      const end = expiresAt instanceof Date ? expiresAt.toISOString() : expiresAt;
      return [row.line, sourceId, customerEmail, end, status, quantity];
    });
    assert.deepEqual(shown, [
      [12, 'The sale has no license key.'],
      [2, 'a100', 'eve@example.com', null, 'active', 1],
      [4, 'a200', 'mo@example.com', '2026-03-28T10:00:00.000Z', 'active', 1],
      [7, 'a300', 'eve@example.com', null, 'refunded', 1],
      [8, 'a400', 'eve@example.com', null, 'disputed', 1],
      [9, 'a500', 'eve@example.com', null, 'active', 1],
      [10, 'a600', 'gift@example.com', null, 'active', 3],
      [11, 'a700', 'eve@example.com', '2026-07-01T00:00:00.000Z', 'active', 1],
      [13, 'a900', 'eve@example.com', null, 'suspended', 1],
    ]);
    assert.deepEqual(factsOf(rows[1]), {
      sourceId: 'a100',
      licenseKey: 'AB214ABB-CA5EA634-E99C01AD-08D95D26',
      customerEmail: 'eve@example.com',
      customerName: 'Eve, "E"',
      products: [
        { id: 'pxled (Pro)', name: 'Pixel Editor (Pro)' },
        { id: 'pxled', name: 'Pixel Editor' },
      ],
      expiresAt: null,
      provider: 'gumroad',
      transactionId: 'a100',
      createdAt: new Date('2023-03-04T05:06:07Z'),
      details: {
        permalink: 'pxled',
        product_name: 'Pixel Editor',
        order_number: '100',
        variants: '(Pro)',
        uses: '7',
      },
    });
  });

  test('Paddle Classic: UTF-16 with semicolons; the end is unknown', async () => {
    const rows = await readAllRows('paddle-classic', fixture('paddle-classic.csv'));
    assert.deepEqual(rows.map(factsOf), [
      {
        sourceId: '77001',
        licenseKey: '2DEDF6A4-86420251-9D2C3B77-10A0FE31-77AA10B2',
        customerEmail: 'kim@example.com',
        products: [{ id: '521001', name: 'Editor; Pro' }],
        transactionId: '9921871-8421',
        createdAt: new Date('2021-04-05T10:11:12Z'),
        details: {
          'Order ID': '9921871-8421',
          'Product ID': '521001',
          'Paddle Issued License': 'Yes',
        },
      },
      {
        sourceId: '77002',
        licenseKey: 'MYAPP-93QX-72KD-T00Z-LQ5M',
        customerEmail: 'lee@example.com',
        products: [{ id: '521002', name: 'Editor' }],
        transactionId: '9921872-8422',
        createdAt: new Date('2021-04-06T00:00:00Z'),
        details: {
          'Order ID': '9921872-8422',
          'Product ID': '521002',
          'Paddle Issued License': 'No',
        },
      },
    ]);
  });

  test('EDD: the table of its database with sites and customers, in tabs', async () => {
    const rows = await readAllRows('edd', fixture('edd-licenses.csv'), {
      related: [fixture('edd-related.json')],
    });
    assert.deepEqual(rows.map(factsOf), [
      {
        sourceId: '1',
        licenseKey: '0f3b9e0f6a1d4c57b2e89a4d10c7f5e3',
        customerEmail: 'zoe@example.com',
        customerName: 'Zoe',
        products: [
          { id: '55:2', name: null },
          { id: '55', name: null },
        ],
        expiresAt: new Date('2026-02-01T00:00:00Z'),
        transactionId: '901',
        devices: [
          { id: 'https://zoe.example.com', label: 'https://zoe.example.com', lastSeenAt: null },
        ],
        createdAt: new Date('2024-02-03T04:05:06Z'),
        details: { payment_id: '901', download_id: '55', price_id: '2' },
      },
      {
        sourceId: '2',
        licenseKey: 'b7e1d6a29c3f45708d12e6f4a05b9c8d',
        products: [
          { id: '55:1', name: null },
          { id: '55', name: null },
        ],
        expiresAt: null,
        transactionId: '902',
        status: 'suspended',
        createdAt: new Date('2024-02-04T04:05:06Z'),
        details: { payment_id: '902', download_id: '55', price_id: '1' },
      },
    ]);
  });

  test('EDD: the answers of its interface', async () => {
    const [row] = await readAllRows('edd', fixture('edd-answers.json'));
    assert.deepEqual(factsOf(row), {
      licenseKey: '0f3b9e0f6a1d4c57b2e89a4d10c7f5e3',
      customerEmail: 'zoe@example.com',
      customerName: 'Zoe',
      products: [{ id: '55', name: 'Gallery' }],
      maxActivations: 'unlimited',
      expiresAt: null,
      transactionId: '901',
      usedSeats: 2,
      details: { payment_id: '901', item_id: '55' },
    });
  });

  test('WooCommerce: keys with activations and orders; unsold keys are left out', async () => {
    const rows = await readAllRows('woocommerce', fixture('woocommerce-licenses.json'), {
      related: [fixture('woocommerce-orders.json')],
    });
    assert.deepEqual(rows.map(factsOf), [
      {
        sourceId: '48',
        licenseKey: 'BAZL9-09W3B-PHUZQ-0JZ8Z-7AFZJ',
        customerEmail: 'uma@example.com',
        customerName: 'Uma Wu',
        products: [{ id: '277', name: null }],
        maxActivations: 3,
        expiresAt: new Date('2027-04-15T03:47:18Z'),
        transactionId: '279',
        devices: [
          { id: 'a54db7f0c1', label: 'Office', lastSeenAt: new Date('2026-04-01T00:00:00Z') },
        ],
        usedSeats: 2,
        createdAt: new Date('2026-03-16T03:47:18Z'),
        details: { orderId: '279', productId: '277', userId: '1' },
      },
      {
        sourceId: '49',
        licenseKey: 'CAZL9-19W3B-PHUZQ-1JZ8Z-8AFZJ',
        customerEmail: 'vic@example.com',
        customerName: 'Vic',
        products: [{ id: '277', name: null }],
        expiresAt: new Date('2027-01-01T00:00:00Z'),
        transactionId: '280',
        status: 'refunded',
        createdAt: new Date('2026-01-01T00:00:00Z'),
        details: { orderId: '280', productId: '277', userId: '2' },
      },
      'The key was not sold: it has no order.',
      {
        sourceId: '51',
        licenseKey: 'EAZL9-39W3B-PHUZQ-3JZ8Z-0AFZJ',
        products: [{ id: '278', name: null }],
        maxActivations: 1,
        expiresAt: null,
        transactionId: '281',
        status: 'suspended',
        createdAt: new Date('2026-01-01T00:00:00Z'),
        details: { orderId: '281', productId: '278', userId: '3' },
      },
    ]);
  });
});
