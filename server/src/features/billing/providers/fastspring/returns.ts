import type { AdjustmentFact } from '../../facts.ts';
import type { Interpretation, ProviderEvent } from '../adapter.ts';
import {
  readCurrency,
  readList,
  readObject,
  readTax,
  readWord,
  type JsonObject,
} from '../fields.ts';
import {
  nameSubscriptionOfOrder,
  readAmount,
  readMillis,
  readProduct,
  readReference,
  requireReference,
} from './fields.ts';

type PaidBackLine = AdjustmentFact['lines'][number];

/** A returned item. */
interface Part {
  readonly line: PaidBackLine;
  readonly subscriptionId: string | null;
}

/**
 * Reads a return. It pays back parts of its order by their items, and does not cancel a subscription. Amounts that add up to the
 * order's total are a full refund.
 */
export function readReturn(event: ProviderEvent): Interpretation {
  const { data } = event;
  const adjustmentId = requireReference(data['return'] ?? data['id'], 'return', event);
  const orderId = requireReference(data['original'], 'original', event);
  const parts = readParts(data);
  const common = {
    kind: 'adjustment',
    occurredAt: readMillis(data['changed']) ?? event.occurredAt,
    effect: 'refund',
    status: 'approved',
    full: null,
    ...readWord(data['reason']),
  } as const;
  const total = readAmount(data['totalReturn'], data['currency']);
  const whole: AdjustmentFact = {
    ...common,
    adjustmentId,
    transactionId: orderId,
    total,
    ...readCurrency(data['currency']),
    ...readTax(readAmount(data['tax'], data['currency']), total),
    lines: parts.map(({ line }) => line),
  };
  // Of a further subscription of the order, if it is one: otherwise no payment has this name.
  const further = parts.flatMap(({ line, subscriptionId }): AdjustmentFact[] =>
    subscriptionId === null
      ? []
      : [
          {
            ...common,
            adjustmentId: nameSubscriptionOfOrder(adjustmentId, subscriptionId),
            transactionId: nameSubscriptionOfOrder(orderId, subscriptionId),
            total: null,
            lines: [line],
          },
        ],
  );
  return [whole, ...further];
}

function readParts(data: JsonObject): Part[] {
  return readList(data['items']).flatMap((value) => {
    const item = readObject(value);
    const subscriptionId = readReference(item['subscription'], 'subscription');
    const lineId = subscriptionId ?? readProduct(item['product']);
    const total = readAmount(item['subtotal'], data['currency']);
    return lineId === null ? [] : [{ line: { lineId, full: null, total }, subscriptionId }];
  });
}
