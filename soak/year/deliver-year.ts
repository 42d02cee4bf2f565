import type { TestService } from '../../server/test/harness.ts';
import { toDate, type AnyHappening, type ProviderName } from './happenings.ts';
import { RATES } from './rates.ts';
import { sign, type WrittenEvent, type Writer } from './writers/delivery.ts';
import { writeCreem } from './writers/creem.ts';
import { writeDodo } from './writers/dodo.ts';
import { writeFastSpring } from './writers/fastspring.ts';
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

/** The answers of the service by their status. */
export type AnswerCounts = ReadonlyMap<string, number>;

/** Sends the events of the year over HTTP while the clock of the service follows; all arrive in the end. */
export async function deliverYear(
  service: TestService,
  events: readonly WrittenEvent[],
  random: () => number,
): Promise<AnswerCounts> {
  const ticks = Map.groupBy(planArrivals(events, random), toTick);
  const counts = new Map<string, number>();
  for (const tick of [...ticks.keys()].sort((a, b) => a - b)) {
    service.clock.set(toDate((tick + 1) / TICKS_PER_DAY));
    const queue = (ticks.get(tick) ?? []).sort((a, b) => a.place - b.place).values();
    const work = Array.from({ length: CONCURRENCY }, async () => {
      for (const { event } of queue) {
        const status = await send(service, event);
        counts.set(status, (counts.get(status) ?? 0) + 1);
      }
    });
    await Promise.all(work);
  }
  return counts;
}

/** Sends an event until it is accepted, as providers do. */
async function send(service: TestService, event: WrittenEvent): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    const { path, headers } = sign(event, service.clock.now());
    const response = await fetch(service.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: event.body,
    });
    const text = await response.text();
    if (response.status === 200) return readStatus(text);
    if (response.status !== 503 || attempt === 10) {
      throw new Error(`${event.eventId} was answered ${response.status}: ${text}`);
    }
  }
}

/** FastSpring gets no outcome. */
function readStatus(text: string): string {
  if (text === '') return 'unknown';
  const answer: unknown = JSON.parse(text);
  const isRead = typeof answer === 'object' && answer !== null && 'status' in answer;
  return isRead ? String(answer.status) : 'unknown';
}
