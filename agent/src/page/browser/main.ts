import type { AgentHello, AgentSnapshot } from '@latchkey/contract';

import { findNotices } from '../../notices.ts';
import { Connection, type ConnectionState, toFleetUrl } from './connection.ts';
import { makeCpuPanel, makeLoadPanel, makePressurePanel } from './cpu-panels.ts';
import { fillChildren, find, make, setText } from './dom.ts';
import { toMetricValues, toPastMetricValues } from './metric-values.ts';
import { formatDuration, formatTime } from './format.ts';
import { makeGpuPanel } from './gpu-panel.ts';
import { Layout } from './layout.ts';
import { makeMemoryPanel } from './memory-panel.ts';
import { makeDiskPanel, makeFilesystemPanel, makeNetworkPanel } from './io-panels.ts';
import { describeNotice } from './notices.ts';
import { makeContainerPanel, makeProcessPanel } from './process-panels.ts';
import {
  makeBatteryPanel,
  makeRaspberryPiPanel,
  makeSensorPanel,
  makeUnitPanel,
} from './hardware-panels.ts';
import { makeStatus, makeTokenForm, readToken, showHost } from './status.ts';
import { setUpTheme } from './theme.ts';
import { makeTiles } from './tiles.ts';
import { Timeline } from './timeline.ts';

const timeline = new Timeline();

/** In the order of the page. */
const panels = [
  makeCpuPanel(timeline),
  makeMemoryPanel(timeline),
  makeNetworkPanel(timeline),
  makeDiskPanel(timeline),
  makeGpuPanel(timeline),
  makeProcessPanel(),
  makeSensorPanel(timeline),
  makeFilesystemPanel(),
  makeLoadPanel(timeline),
  makePressurePanel(timeline),
  makeContainerPanel(),
  makeUnitPanel(),
  makeBatteryPanel(),
  makeRaspberryPiPanel(),
];

for (const { element } of panels) element.hidden = true;
const layout = new Layout(
  find('#panels'),
  panels.map(({ element }) => element),
);
const showTiles = makeTiles(find('#tiles'));
const showStatus = makeStatus();
const notices: { element: HTMLElement }[] = [];
/** The snapshot for the next frame. */
let newest: AgentSnapshot | null = null;

function greet(hello: AgentHello): void {
  showHost(hello);
  timeline.setInterval(hello.interval_seconds);
  const known = timeline.newest;
  for (const point of hello.history) {
    const timeMs = Date.parse(point.time);
    if (timeMs > known * 1000) timeline.add(timeMs, toPastMetricValues(point));
  }
  drawCharts();
}

function receiveSnapshot(snapshot: AgentSnapshot): void {
  timeline.add(Date.parse(snapshot.time), toMetricValues(snapshot));
  // Shows only the newest of several snapshots, and none in a hidden tab.
  if (newest === null) requestAnimationFrame(showNewest);
  newest = snapshot;
}

function showNewest(): void {
  if (newest !== null) showSnapshot(newest);
  newest = null;
}

function showSnapshot(snapshot: AgentSnapshot): void {
  showTiles(snapshot);
  showNotices(snapshot);
  for (const panel of panels) panel.element.hidden = !panel.update(snapshot);
  layout.arrange();
  const { uptime_seconds: uptime } = snapshot;
  setText(find('#uptime'), uptime === undefined ? '' : `up ${formatDuration(uptime)}`);
  setText(find('#time'), formatTime(Date.parse(snapshot.time) / 1000, true));
  drawCharts();
}

function showNotices(snapshot: AgentSnapshot): void {
  const texts = findNotices(snapshot).map(describeNotice);
  fillChildren(find('#notices'), notices, texts, makeNotice, ({ element }, text) =>
    setText(element, text),
  );
}

function makeNotice(): { element: HTMLElement } {
  return { element: make('li') };
}

function drawCharts(): void {
  for (const panel of panels) if (!panel.element.hidden) panel.draw?.();
}

function showState(state: ConnectionState): void {
  showStatus(state);
  showTokenForm(state);
  document.body.dataset['state'] = state.name;
}

const connection = new Connection({
  pageUrl: location.href,
  readToken,
  onState: showState,
  onMessage: (message) => {
    if (message.type === 'hello') greet(message);
    else receiveSnapshot(message.snapshot);
  },
});
const showTokenForm = makeTokenForm(() => connection.open());

setUpTheme(find('#theme'));
find('#fleet-page').setAttribute('href', toFleetUrl(location.href));
document.addEventListener('visibilitychange', () => {
  if (document.hidden) return;
  drawCharts();
  if (document.body.dataset['state'] === 'waiting') connection.open();
});
addEventListener('online', () => connection.open());
connection.open();
