import type { TestService } from '../../server/test/harness.ts';
import { toDate, type AnyHappening, type ProviderName } from './happenings.ts';
import { RATES } from './rates.ts';
import {
  findNamedLicense,
  nameLicense,
  sign,
  type WrittenEvent,
  type Writer,
} from './writers/delivery.ts';
import { writeCreem } from './writers/creem.ts';
import { writeDodo } from './writers/dodo.ts';
import { writeFastSpring } from './writers/fastspring.ts';
import { writeGumroad } from './writers/gumroad.ts';
import { writeLemonSqueezy } from './writers/lemon-squeezy.ts';
import { writeOwnShop } from './writers/own-shop.ts';
import { writePaddle } from './writers/paddle.ts';
import { writePolar } from './writers/polar.ts';
import { writeStripe } from './writers/stripe.ts';

const WRITERS: Readonly<Record<ProviderName, Writer>> = {
  paddle: writePaddle,
  stripe: writeStripe,
  lemonsqueezy: writeLemonSqueezy,
  polar: writePolar,
  dodo: writeDodo,
  creem: writeCreem,
  fastspring: writeFastSpring,
  gumroad: writeGumroad,
  standard: writeOwnShop,
};

/** Writes what happened as the events of each provider. */
export function writeEvents(happenings: readonly AnyHappening[]): WrittenEvent[] {
  return happenings.flatMap((happening) => {
    const { provider } = happening.buyer;
    return WRITERS[provider](happening).map((event) => ({ ...event, provider }));
  });
}

/** A delivery of an event, and when it arrives. */
interface Arrival {
  readonly event: WrittenEvent;
  readonly day: number;
  readonly place: number;
}

const TICKS_PER_DAY = 2;
const CONCURRENCY = 32;

/** Plans when events arrive: most at once, some late, some twice, and those of one half-day in any order. */
function planArrivals(events: readonly WrittenEvent[], random: () => number): Arrival[] {
  const draw = (event: WrittenEvent): Arrival => {
    const luck = random();
    const isVeryLate = luck < RATES.veryLate;
    const delay = isVeryLate ? random() * 3 : luck < RATES.late ? random() / 24 : 0;
    return { event, day: event.day + delay, place: random() };
  };
  return events.flatMap((event) =>
    random() < RATES.repeated ? [draw(event), draw(event)] : [draw(event)],
  );
}

function toTick({ day }: Arrival): number {
  return Math.floor(day * TICKS_PER_DAY);
}

/** What was sent. */
interface Sent {
  /** The events, as they were sent. */
  readonly events: readonly WrittenEvent[];
  readonly deliveries: number;
}

interface DeliveryOptions {
  readonly random: () => number;
  /** Called with the day before each half-day of deliveries. */
  readonly onDay: (day: number) => void;
  /** Called after each half-day. */
  readonly settle: () => Promise<void>;
}

/** Sends the events of the year over HTTP while the clock of the service follows; all arrive in the end. */
export async function deliverYear(
  service: TestService,
  events: readonly WrittenEvent[],
  { random, onDay, settle }: DeliveryOptions,
): Promise<Sent> {
  const ticks = Map.groupBy(planArrivals(events, random), toTick);
  const sent = new Map<WrittenEvent, Promise<WrittenEvent>>();
  let deliveries = 0;
  for (const tick of [...ticks.keys()].sort((a, b) => a - b)) {
    const day = (tick + 1) / TICKS_PER_DAY;
    service.clock.set(toDate(day));
    onDay(day);
    const queue = (ticks.get(tick) ?? []).sort((a, b) => a.place - b.place).values();
    const work = Array.from({ length: CONCURRENCY }, async () => {
      for (const { event } of queue) {
        const completed = sent.get(event) ?? complete(service, event);
        sent.set(event, completed);
        await send(service, await completed);
        deliveries += 1;
      }
    });
    await Promise.all(work);
    await settle();
  }
  return { events: await Promise.all(sent.values()), deliveries };
}

/** Writes the id of the license that a buyer renews, who has its key by now. */
async function complete(service: TestService, event: WrittenEvent): Promise<WrittenEvent> {
  const email = findNamedLicense(event.body);
  if (email === null) return event;
  const { rows } = await service.pool.query<{ id: string }>(
    'select id from licenses where customer_email = $1',
    [email],
  );
  const [license] = rows;
  if (license === undefined) throw new Error(`${email} has no license to renew`);
  return nameLicense(event, license.id);
}

/** Sends an event until it is accepted, as providers do. */
async function send(service: TestService, event: WrittenEvent): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const { path, headers } = sign(event, service.clock.now());
    const response = await fetch(service.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: event.body,
    });
    const text = await response.text();
    if (response.status === 200) return;
    if (response.status !== 503 || attempt === 10) {
      throw new Error(`${event.eventId} was answered ${response.status}: ${text}`);
    }
  }
}
