import { gumroadSale } from '../payment-providers/gumroad-sales.ts';
import { toDate, type AnyHappening, type Paid, type Plan } from '../../../soak/year/happenings.ts';
import { numberCustomer } from '../../../soak/year/writers/delivery.ts';

/** Returns the id of a plan's product, which the catalogue has as a price. */
export const nameProduct = ({ name }: Plan): string => `gum-${name}`;

/** Writes what Gumroad's API returns about a sale, as a look-up after a ping does: its refunds and disputes are fields of the sale. */
export function writeGumroad(happening: AnyHappening) {
  switch (happening.kind) {
    case 'paid':
      return [toEvent(happening, happening, {})];
    case 'refunded': {
      const { payment, amount } = happening;
      const isFull = amount === payment.amount;
      return [toEvent(happening, payment, { refunded: isFull, partially_refunded: !isFull })];
    }
    case 'disputed':
      return [toEvent(happening, happening.payment, { disputed: true, chargedback: true })];
    case 'won':
      return [toEvent(happening, happening.payment, { disputed: true, dispute_won: true })];
    case 'state':
      return [];
  }
}

function toEvent({ kind, day }: AnyHappening, paid: Paid, state: object) {
  const { buyer, plan, number, amount, quantity = 1 } = paid;
  const eventId = `gumroad_${buyer.number}_${number}_${kind}_${day.toFixed(4)}`;
  const sale = gumroadSale({
    id: `sale_${buyer.number}_${number}`,
    created_at: toDate(paid.day).toISOString(),
    product_id: nameProduct(plan),
    price: amount,
    purchase_email: buyer.email,
    purchaser_id: `gum_${numberCustomer(buyer)}`,
    quantity,
    ...state,
  });
  const time = toDate(day).toISOString();
  const body = { event_id: eventId, resource_name: 'sale.looked_up', received_at: time, sale };
  return { eventId, day, body: JSON.stringify(body), payment: kind === 'paid' ? paid : null };
}
