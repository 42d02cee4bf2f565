/** The entry of a page with invented machines, for tests in a browser and for pictures. */
import { createFakeFleet, type FakeFleet } from '../core/fake-fleet.fixture.ts';
import type { ListedMachine } from '../core/types.ts';
import { mountFleet } from '../mount.ts';

/** What a test reaches in the page. */
export interface FakePage {
  readonly fleet: FakeFleet;
  readonly saved: (readonly ListedMachine[])[];
  readonly savedTokens: (readonly [string, string | null])[];
  readonly unmount: () => void;
}

const parameters = new URLSearchParams(location.search);
const fleet = createFakeFleet(Number(parameters.get('machines') ?? 100), Date.now());
const saved: (readonly ListedMachine[])[] = [];
const savedTokens: (readonly [string, string | null])[] = [];

const root = document.createElement('main');
document.body.append(root);
const unmount = mountFleet(root, {
  fleet,
  list: parameters.has('console')
    ? { editUrl: '/machines' }
    : { save: (list) => saved.push(list), share: (list) => `https://fleet.test/#${list.length}` },
  saveToken: ({ address }, token) => savedTokens.push([address, token]),
});
if (!parameters.has('still')) setInterval(() => fleet.tick(), 1000);
const fakePage: FakePage = { fleet, saved, savedTokens, unmount };
Object.assign(globalThis, { fakePage });
