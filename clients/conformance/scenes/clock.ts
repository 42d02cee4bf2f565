import * as faults from '../proxy/faults.ts';
import { ended, LICENSED, LICENSED_KEPT, NOT_ACTIVATED, OK } from '../play/expected.ts';
import { scene, type Scene, type Theme } from '../play/scene.ts';
import { DAY_MS, HOUR_MS } from './steps.ts';

/** A header that no signature protects moves no clock. */
function ignoresDate(what: string, date: string | null): Scene {
  return scene(`a wrong time in the header Date has no effect: ${what}`, async (stage) => {
    const license = await stage.issue();
    const client = await stage.open();
    stage.network.breakWith(faults.withDate(date));
    await client.activate(license.key, { result: OK, state: LICENSED });
    await client.check({ result: OK, state: LICENSED });
    await stage.network.repair();
    const again = await stage.restart(client, LICENSED_KEPT);
    await again.check({ result: OK, state: LICENSED });
  });
}

/** A machine whose clock is wrong from the beginning can be activated and used. */
function activatesAt(what: string, offsetMs: (startMs: number) => number): Scene {
  return scene(`a machine can be activated although its clock is ${what}`, async (stage) => {
    const license = await stage.issue();
    const nowMs = stage.startMs + offsetMs(stage.startMs);
    const client = await stage.open(NOT_ACTIVATED, { nowMs });
    await client.activate(license.key, { result: OK, state: LICENSED });
    const again = await stage.restart(client, LICENSED_KEPT, { nowMs });
    await again.setClock(nowMs + DAY_MS + HOUR_MS, { ...LICENSED_KEPT, days_left: 13 });
    await again.setClock(nowMs + 15 * DAY_MS, ended('entitlement_expired'));
  });
}

export const CLOCK: Theme = {
  name: 'clock',
  scenes: [
    scene('the days left count down to the end', async (stage) => {
      const { client } = await stage.openLicensed();
      const at = (days: number, state: object) =>
        client.setClock(stage.startMs + days * DAY_MS + HOUR_MS, state);
      await at(0, { ...LICENSED, days_left: 14 });
      await at(1, { ...LICENSED, days_left: 13 });
      await at(12, { ...LICENSED, days_left: 2 });
      await at(13, { ...LICENSED, days_left: 1 });
      await at(14, ended('entitlement_expired'));
    }),

    scene('a license with an end ends then, not when the entitlement would', async (stage) => {
      const license = await stage.issue('studio', 3);
      const client = await stage.open();
      await client.activate(license.key, { result: OK, state: { ...LICENSED, days_left: 3 } });
      await client.setClock(stage.startMs + 2 * DAY_MS + HOUR_MS, { ...LICENSED, days_left: 1 });
      await client.setClock(stage.startMs + 3 * DAY_MS + HOUR_MS, ended('license_expired'));
    }),

    scene(
      'a clock that was ahead for a while has no effect after it is corrected',
      async (stage) => {
        const { client } = await stage.openLicensed();
        await client.setClock(stage.startMs + 400 * DAY_MS, ended('entitlement_expired'));
        const nowMs = stage.startMs + 400 * DAY_MS;
        const again = await stage.restart(client, ended('entitlement_expired'), { nowMs });
        await again.setClock(stage.startMs + HOUR_MS, LICENSED_KEPT);
      },
    ),

    scene('a clock that is ahead is corrected by the next answer', async (stage) => {
      const { client } = await stage.openLicensed();
      await client.setClock(stage.startMs + 20 * DAY_MS, ended('entitlement_expired'));
      await client.check({ result: OK, state: LICENSED });
      const nowMs = stage.startMs + 21 * DAY_MS + HOUR_MS;
      await stage.restart(client, { ...LICENSED_KEPT, days_left: 13 }, { nowMs });
    }),

    scene('a clock that went back is reported, and locks nothing', async (stage) => {
      const { client } = await stage.openLicensed();
      const nowMs = stage.startMs - 3 * DAY_MS;
      await client.setClock(nowMs, { ...LICENSED, clock_went_back: true });
      const again = await stage.restart(
        client,
        { ...LICENSED_KEPT, clock_went_back: true },
        { nowMs },
      );
      await again.check({ result: OK, state: LICENSED });
      await again.setClock(nowMs + 15 * DAY_MS, ended('entitlement_expired'));
    }),

    scene('a clock that is back within the hour is not reported', async (stage) => {
      const { client } = await stage.openLicensed();
      await client.setClock(stage.startMs - HOUR_MS / 2, LICENSED);
    }),

    scene('turning the clock back adds no days', async (stage) => {
      const { client } = await stage.openLicensed();
      await client.setClock(stage.startMs - 300 * DAY_MS, { ...LICENSED, clock_went_back: true });
    }),

    activatesAt('two days behind', () => -2 * DAY_MS),
    activatesAt('two days ahead', () => 2 * DAY_MS),
    activatesAt('five years ahead', () => 5 * 365 * DAY_MS),
    activatesAt('that of 1970', (startMs) => HOUR_MS - startMs),

    ignoresDate('ten years ahead', 'Sun, 24 Nov 2086 03:00:00 GMT'),
    ignoresDate('ten years behind', 'Thu, 24 Nov 2016 03:00:00 GMT'),
    ignoresDate('no date', 'yesterday'),
    ignoresDate('absent', null),
  ],
};
